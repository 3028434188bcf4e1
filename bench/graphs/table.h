// What bench_graphs has measured, as Markdown.
#pragma once

#include "bench/peers/report.h"

namespace morello::bench {

std::string graphs_markdown(const std::vector<Column>& columns);

}  // namespace morello::bench
