// The commands, one file each. Each call adds the command with its options to the application and
// returns what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace morello {

using Run = std::function<void()>;  // throws Failure

Run add_generate(CLI::App& app);
Run add_check(CLI::App& app);
Run add_explain(CLI::App& app);
Run add_machine_list(CLI::App& app);
Run add_machine_show(CLI::App& app);
Run add_machine_detect(CLI::App& app);
Run add_bench(CLI::App& app);
Run add_testbench(CLI::App& app);
Run add_memo_stats(CLI::App& app);
Run add_memo_clear(CLI::App& app);

}  // namespace morello
