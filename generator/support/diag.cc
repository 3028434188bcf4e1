#include "support/diag.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace morello {

std::string Diagnostic::str() const {
  std::string out;
  if (!file.empty()) out += file + ":";
  if (line > 0) out += fmt::format("{}:{}:", line, column);
  if (!out.empty()) out += " ";
  out += "error: " + text + "\n";
  if (line > 0 && !source_line.empty()) {
    out += "  " + source_line + "\n  ";
    // Tabs stay tabs so that the caret stands under its column.
    for (int i = 0; i + 1 < column && i < static_cast<int>(source_line.size()); ++i)
      out += source_line[i] == '\t' ? '\t' : ' ';
    out += "^" + std::string(std::max(0, length - 1), '~') + "\n";
  }
  for (const std::string& note : notes) out += "note: " + note + "\n";
  return out;
}

static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view given, const std::vector<std::string>& allowed) {
  std::string best;
  size_t least = std::max<size_t>(1, (given.size() + 2) / 3) + 1;
  for (const std::string& word : allowed) {
    const size_t d = edit_distance(given, word);
    if (d < least) {
      least = d;
      best = word;
    }
  }
  return best;
}

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: internal error: %s\n%s%s", file, line, condition, message.c_str(),
               message.empty() ? "" : "\n");
  std::abort();
}

}  // namespace morello
