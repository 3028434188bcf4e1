#include "support/diag.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace morello {
namespace {

// A line of generated text (HLO, say) can be of any length: what is around the place.
constexpr size_t kColumnsShown = 300, kColumnsBefore = 200;

struct Excerpt {
  std::string text;
  size_t column, length;  // from 0
};

Excerpt around(const std::string& line, size_t column, size_t length) {
  if (line.size() <= kColumnsShown) return {line, column, length};
  const auto inside = [&](size_t at) {  // of a character in UTF-8
    return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80;
  };
  size_t begin = column > kColumnsBefore ? column - kColumnsBefore : 0;
  while (begin < column && inside(begin)) ++begin;
  size_t end = std::min(begin + kColumnsShown, line.size());
  while (inside(end)) ++end;
  const std::string_view before = begin > 0 ? "..." : "", behind = end < line.size() ? "..." : "";
  return {fmt::format("{}{}{}", before, line.substr(begin, end - begin), behind),
          column - begin + before.size(), std::min(length, end - std::min(column, end))};
}

// The line and, below it, what is wrong there.
std::string marked(const std::string& line, int column, int length) {
  const Excerpt e = around(line, static_cast<size_t>(std::max(1, column) - 1),
                           static_cast<size_t>(std::max(1, length)));
  std::string out = "  " + e.text + "\n  ";
  // Tabs stay tabs so that the caret stands under its column.
  for (size_t i = 0; i < std::min(e.column, e.text.size()); ++i)
    out += e.text[i] == '\t' ? '\t' : ' ';
  return out + "^" + std::string(std::max<size_t>(1, e.length) - 1, '~') + "\n";
}

}  // namespace

std::string Diagnostic::str() const {
  std::string out;
  if (!file.empty()) out += file + ":";
  if (line > 0) out += fmt::format("{}:{}:", line, column);
  if (!out.empty()) out += " ";
  out += "error: " + text + "\n";
  if (line > 0 && !source_line.empty()) out += marked(source_line, column, length);
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
