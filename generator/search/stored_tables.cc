#include "search/stored_tables.h"

#include <algorithm>

#include "search/sources.h"

namespace morello {
namespace {

constexpr std::string_view kSources = "sources ";

// A Space's signature says nothing of the rules and costs themselves.
std::string signed_text(const std::string& signature) {
  return fmt::format("{}{}\n{}", kSources, search_sources(), signature);
}

// The rest of the line after the first `key`, or empty.
std::string value_of(const std::string& text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

void add_counts(MemoStore& store, const std::string& signature, StoredTable& t) {
  SpatialMemo memo;
  if (!memo.use(store.load(signature, &t.problem))) {
    if (t.problem.empty()) t.problem = "it is not a map";
    return;
  }
  const MemoSize size = memo.saved_size();
  t.specs = size.specs;
  t.boxes = size.boxes;
}

}  // namespace

std::unique_ptr<SpatialMemo> StoredTables::open(const std::string& signature, int threads) {
  const std::string text = signed_text(signature);
  auto memo = std::make_unique<SpatialMemo>(threads);
  std::string note;
  std::string saved = store_.load(text, &note);
  if (!saved.empty() && !memo->use(std::move(saved)))
    note = fmt::format("memo table {}: it is not a map; it is not used", store_.path(text));
  if (!note.empty()) note_(note);
  return memo;
}

void StoredTables::close(const std::string& signature, std::unique_ptr<SpatialMemo> memo) {
  if (memo->size().boxes == 0) return;
  std::string note;
  store_.update(
      signed_text(signature), [&](std::string_view old) { return memo->frozen(old); }, &note);
  if (!note.empty()) note_(note);
}

std::vector<StoredTable> stored_tables(MemoStore& store) {
  std::vector<StoredTable> out;
  for (MemoStore::Table& t : store.list()) {
    StoredTable& row = out.emplace_back();
    row.path = t.path;
    row.bytes = t.bytes;
    row.problem = t.problem;
    row.machine = without_quotes(value_of(t.signature, "\nname = "));
    row.family = value_of(t.signature, "\nkernel ");
    row.usable = t.problem.empty() && value_of(t.signature, kSources) == search_sources() &&
                 store.path(t.signature) == t.path;
    if (row.usable) add_counts(store, t.signature, row);
    row.usable = row.problem.empty() && row.usable;
  }
  return out;
}

}  // namespace morello
