#include "codegen/pieces.h"

#include <fmt/format.h>

namespace morello {

static size_t last_of(const PiecedDim& d) { return d.sizes.size() - 1; }

void piece_tables(Writer& w, size_t i, const PiecedDim& d, bool reduction) {
  const auto table = [&](const char* name, const std::vector<i64>& values) {
    w.line("static constexpr std::ptrdiff_t {}{}[] = {{{}}};", name, i, fmt::join(values, ", "));
  };
  table("sizes", d.sizes);
  if (!reduction) table("rests", d.rests);
}

void largest_piece(Writer& w, size_t i, const PiecedDim& d, const std::string& which,
                   const std::string& much, const std::string& parts) {
  w.line("while ({1} < {2} && sizes{0}[{1}]{3} > {4}) ++{1};", i, which, last_of(d),
         parts.empty() ? "" : " * " + parts, much);
}

void next_piece(Writer& w, size_t i, const PiecedDim& d, const std::string& whole,
                const std::string& to) {
  w.line("int which{} = {};", i, whole);
  w.open("if ({1} - at{0} < sizes{0}[which{0}])", i, to);
  w.line("while (which{0} < {1} && rests{0}[which{0}] > {2} - at{0}) ++which{0};", i, last_of(d),
         to);
  w.line("if ({1} - at{0} < sizes{0}[which{0}]) at{0} = {1} - sizes{0}[which{0}];", i, to);
  w.close();
}

}  // namespace morello
