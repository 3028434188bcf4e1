// What explain says, as one page for a browser: no script, nothing from elsewhere.
#pragma once

#include <string>
#include <vector>

namespace morello {

struct Section {
  std::string title;  // "ffw, avx2"
  std::string text;   // of `explain`
};

std::string report_html(const std::vector<Section>& sections);

}  // namespace morello
