// Reading machine files. Everything that could mislead the cost model is an error with its place: a
// misspelt key would silently leave a default, and a cache smaller than the one before it would
// make the search prefer nonsense.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "target/isa.h"
#include "target/machine.h"
#include "target/machine_fields.h"

namespace morello {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<Machine> read() {
    try {
      root_ = toml::parse(text_);
    } catch (const toml::parse_error& e) {
      return at(e.source(), std::string(e.description()));
    }
    Machine m;
    if (!read_top(m) || !read_core(m) || !read_levels(m) || !check_all(m)) return *error_;
    return m;
  }

 private:
  Diagnostic at(const toml::source_region& where, std::string text) const {
    Diagnostic d = error(std::move(text));
    d.file = file_;
    d.line = static_cast<int>(where.begin.line);
    d.column = static_cast<int>(where.begin.column);
    if (where.end.line == where.begin.line && where.end.column > where.begin.column)
      d.length = static_cast<int>(where.end.column - where.begin.column);
    size_t begin = 0;
    for (int line = 1; line < d.line && begin != std::string_view::npos; ++line) {
      begin = text_.find('\n', begin);
      if (begin != std::string_view::npos) ++begin;
    }
    if (begin != std::string_view::npos)
      d.source_line = text_.substr(begin, text_.find_first_of("\r\n", begin) - begin);
    return d;
  }
  bool fail(const toml::source_region& where, std::string text) {
    error_ = at(where, std::move(text));
    return false;
  }
  // In a table whose place is that of its [header]; the top of the file has none.
  bool fail_missing(const toml::table& table, std::string_view key, const std::string& in) {
    toml::source_region where = table.source();
    if (&table == &root_) where = {};
    return fail(where, fmt::format("missing key `{}`{}", key, in));
  }

  bool check_keys(const toml::table& table, const std::vector<std::string>& allowed,
                  const std::string& in) {
    for (const auto& [key, node] : table) {
      const std::string given(key.str());
      if (std::find(allowed.begin(), allowed.end(), given) != allowed.end()) continue;
      const std::string near = nearest(given, allowed);
      return fail(key.source(),
                  fmt::format("unknown key `{}`{}; {}", given, in,
                              near.empty() ? fmt::format("allowed: {}", fmt::join(allowed, ", "))
                                           : fmt::format("did you mean `{}`?", near)));
    }
    return true;
  }

  template <class T>
  bool read_field(const toml::table& table, const MachineField<T>& field, const std::string& in,
                  T& object) {
    const toml::node* node = table.get(field.key);
    if (node == nullptr) return field.optional || fail_missing(table, field.key, in);
    const std::optional<i64> value = field.decimals ? millicycles(*node) : integer(*node);
    if (value && *value >= field.least && *value <= field.most) {
      field.set(object, *value);
      return true;
    }
    const auto number = [&](i64 v) { return field.decimals ? decimal(v) : std::to_string(v); };
    return fail(node->source(),
                fmt::format("`{}`{} must be {} from {} to {}", field.key, in,
                            field.decimals ? "a number with at most three decimals" : "an integer",
                            number(field.least), number(field.most)));
  }
  static std::optional<i64> integer(const toml::node& node) {
    if (!node.is_integer()) return std::nullopt;
    return node.as_integer()->get();
  }
  static std::optional<i64> millicycles(const toml::node& node) {
    if (!node.is_integer() && !node.is_floating_point()) return std::nullopt;
    const double scaled = *node.value<double>() * 1000;
    if (!(std::abs(scaled) < 1e15) || std::abs(scaled - std::round(scaled)) > 1e-4)
      return std::nullopt;
    return static_cast<i64>(std::round(scaled));
  }

  bool read_word(std::string_view key, std::string& value) {
    const toml::node* node = root_.get(key);
    if (node == nullptr) return fail_missing(root_, key, "");
    if (!node->is_string()) return fail(node->source(), fmt::format("`{}` must be a string", key));
    value = node->as_string()->get();
    return true;
  }

  bool read_top(Machine& m) {
    std::vector<std::string> allowed = {"name", "isa"};
    for (const auto& f : machine_fields()) allowed.emplace_back(f.key);
    allowed.insert(allowed.end(), {"core", "core512"});
    for (Level l = kL1; l <= kMemory; ++l) allowed.emplace_back(level_table(l));
    if (!check_keys(root_, allowed, "")) return false;
    if (!read_word("name", m.name) || !read_word("isa", m.isa)) return false;
    for (const auto& f : machine_fields())
      if (!read_field(root_, f, "", m)) return false;
    return true;
  }

  const toml::table* read_table(std::string_view name) {
    const toml::node* node = root_.get(name);
    if (node == nullptr) {
      error_ = at({}, fmt::format("missing table [{}]", name));
      return nullptr;
    }
    if (!node->is_table()) fail(node->source(), fmt::format("`{}` must be a table", name));
    return node->as_table();
  }

  template <class T>
  bool read_fields(const toml::table& table, std::string_view name,
                   std::span<const MachineField<T>> fields, T& object) {
    for (const auto& f : fields)
      if (!read_field(table, f, fmt::format(" in [{}]", name), object)) return false;
    return true;
  }
  // `name`, where it has these keys and no others.
  const toml::table* read_table_of(std::string_view name, auto... fields) {
    const toml::table* table = read_table(name);
    if (table == nullptr) return nullptr;
    std::vector<std::string> allowed;
    const auto add = [&](auto some) {
      for (const auto& f : some) allowed.emplace_back(f.key);
    };
    (add(fields), ...);
    return check_keys(*table, allowed, fmt::format(" in [{}]", name)) ? table : nullptr;
  }
  bool read_core(Machine& m) {
    const toml::table* core = read_table_of("core", pipe_fields(), core_fields());
    if (core == nullptr || !read_fields(*core, "core", pipe_fields(), m.core) ||
        !read_fields(*core, "core", core_fields(), m))
      return false;
    if (!root_.contains("core512")) return true;
    const toml::table* wide = read_table_of("core512", pipe_fields());
    return wide != nullptr && read_fields(*wide, "core512", pipe_fields(), m.core512.emplace());
  }
  bool read_levels(Machine& m) {
    for (Level l = kL1; l <= kMemory; ++l) {
      const toml::table* table = read_table_of(level_table(l), level_fields(l));
      if (table == nullptr ||
          !read_fields(*table, level_table(l), level_fields(l), m.levels[static_cast<size_t>(l)]))
        return false;
    }
    return true;
  }

  // Values that are possible each by itself but make no sense together.
  bool check_all(const Machine& m) {
    if (!check_words(m)) return false;
    for (Level l = kL1; l <= kMemory; ++l)
      if (!check_level(m, l)) return false;
    if (m.prefetch_bytes % m.levels[kL1].line != 0)
      return fail(root_.get("prefetch_bytes")->source(),
                  fmt::format("`prefetch_bytes` must be a multiple of the line of [L1], {}",
                              m.levels[kL1].line));
    if (m.far_row_bytes > 0 && m.four_streams_percent == 0)
      return fail(root_.get("far_row_bytes")->source(),
                  "`far_row_bytes` needs `four_streams_percent`");
    for (Level l = kL1; l <= kMemory; ++l)
      if (m.levels[l].far_part_bytes > 0 && m.four_streams_percent == 0)
        return fail_at(l, "far_part_bytes", "needs `four_streams_percent`");
    return check_streamed(m);
  }
  bool check_streamed(const Machine& m) {
    for (const auto& [key, value] :
         {std::pair("written_line_cycles", m.written_line_millicycles),
          std::pair("written_behind_bytes", m.written_behind_bytes),
          std::pair("streamed_shared_line_cycles", m.streamed_shared_millicycles)})
      if (value > 0 && m.streamed_bytes == 0)
        return fail(root_.get(key)->source(), fmt::format("`{}` needs `streamed_bytes`", key));
    if ((m.streamed_bytes > 0) == (m.streamed_line_millicycles > 0)) return true;
    const auto [given, missing] = m.streamed_bytes > 0
                                      ? std::pair("streamed_bytes", "streamed_line_cycles")
                                      : std::pair("streamed_line_cycles", "streamed_bytes");
    return fail(root_.get(given)->source(), fmt::format("`{}` needs `{}`", given, missing));
  }
  bool check_words(const Machine& m) {
    const auto good = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.';
    };
    if (m.name.empty() || m.name.size() > 64 || !std::all_of(m.name.begin(), m.name.end(), good))
      return fail(root_.get("name")->source(),
                  "`name` must be 1 to 64 letters, digits, `-`, `_` or `.`");
    if (find_isa(m.isa) != nullptr) return true;
    std::vector<std::string> allowed;
    for (const Isa* isa : isa_table()) allowed.emplace_back(isa->name);
    return fail(root_.get("isa")->source(), fmt::format("unknown instruction set `{}`; allowed: {}",
                                                        m.isa, fmt::join(allowed, ", ")));
  }
  bool fail_at(Level l, std::string_view key, std::string_view text) {
    const std::string_view name = level_table(l);
    return fail(root_.get(name)->as_table()->get(key)->source(),
                fmt::format("`{}` in [{}] {}", key, name, text));
  }
  bool check_level(const Machine& m, Level l) {
    const LevelDesc& d = m.levels[static_cast<size_t>(l)];
    const auto bad = [&](std::string_view key, std::string text) { return fail_at(l, key, text); };
    if (!std::has_single_bit(static_cast<unsigned>(d.line)))
      return bad("line", "must be a power of two");
    if (d.shared_by > m.cores)
      return bad("shared_by", fmt::format("must be at most `cores`, {}", m.cores));
    if (d.prefetched_millicycles > d.line_millicycles)
      return bad("prefetched_line_cycles",
                 fmt::format("must be at most `line_cycles`, {}", decimal(d.line_millicycles)));
    if (d.shared_line_millicycles > d.prefetched_millicycles)
      return bad("shared_line_cycles", fmt::format("must be at most `prefetched_line_cycles`, {}",
                                                   decimal(d.prefetched_millicycles)));
    if (d.lone_millicycles > 0 && d.lone_millicycles < d.line_millicycles)
      return bad("lone_line_cycles",
                 fmt::format("must be at least `line_cycles`, {}", decimal(d.line_millicycles)));
    if (d.stored_millicycles > 0 && d.stored_millicycles < d.line_millicycles)
      return bad("stored_line_cycles",
                 fmt::format("must be at least `line_cycles`, {}", decimal(d.line_millicycles)));
    if (!check_optional(d, l)) return false;
    if (l == kL1) return true;
    const LevelDesc& nearer = m.levels[static_cast<size_t>(l - 1)];
    const std::string_view nearer_name = level_table(l - 1);
    if (l != kMemory && d.bytes < nearer.bytes)
      return bad("bytes",
                 fmt::format("must be at least that of [{}], {}", nearer_name, nearer.bytes));
    if (d.shared_by < nearer.shared_by)
      return bad("shared_by",
                 fmt::format("must be at least that of [{}], {}", nearer_name, nearer.shared_by));
    if (d.latency_millicycles < nearer.latency_millicycles)
      return bad("latency_cycles", fmt::format("must be at least that of [{}], {}", nearer_name,
                                               decimal(nearer.latency_millicycles)));
    return true;
  }
  // Keys that a file may leave out.
  bool check_optional(const LevelDesc& d, Level l) {
    const auto bad = [&](std::string_view key, std::string text) { return fail_at(l, key, text); };
    const std::pair by_copy("asked_copy_line_cycles", d.asked_copy_millicycles);
    const std::pair by_leaves("asked_by_leaves_line_cycles", d.asked_by_leaves_millicycles);
    const std::pair view("asked_view_line_cycles", d.asked_view_millicycles);
    const std::pair panel("asked_panel_line_cycles", d.asked_panel_millicycles);
    const std::pair next_rows("next_rows_line_cycles", d.next_rows_millicycles);
    const std::pair pieces("next_pieces_line_cycles", d.next_pieces_millicycles);
    const std::pair rows("rows_line_cycles", d.rows_millicycles);
    const std::pair windows("window_line_cycles", d.window_millicycles);
    for (const auto& [key, value] : {std::pair("prefetch_to", i64{d.prefetch_to}), by_copy,
                                     by_leaves, view, panel, next_rows, pieces})
      if (value > 0 && l < kL3)
        return bad(key, "has no effect: only what lies in [L3] or [memory] is prefetched");
    if (d.stored_millicycles > 0 && l != kL2)
      return bad("stored_line_cycles",
                 "has no effect: only in [L2] do stores of vectors wait for more than "
                 "`line_cycles` and `prefetched_line_cycles` say");
    if (d.beside_memory_millicycles > 0 && l != kL2)
      return bad("beside_memory_line_cycles",
                 "has no effect: it is of all that leaves read again and again, and in [L2]");
    if (d.beside_memory_millicycles > 0 && d.beside_memory_millicycles < d.line_millicycles)
      return bad("beside_memory_line_cycles",
                 fmt::format("must be at least `line_cycles`, {}", decimal(d.line_millicycles)));
    if (d.streams_percent > 0 && l != kL3)
      return bad("streams_percent",
                 "has no effect: only [L3] gains less by streams than [memory], of which "
                 "`two_streams_percent` and `four_streams_percent` are");
    for (const auto& [key, value] : {std::pair("row_cycles", d.row_millicycles),
                                     std::pair("piece_cycles", d.piece_millicycles)})
      if (value > 0 && l < kL3)
        return bad(key, "has no effect: only in [L3] and [memory] are rows streams");
    if (d.far_part_bytes > 0 && l < kL3)
      return bad("far_part_bytes", "has no effect: only from [L3] and [memory] are rows streams");
    if (d.leaf_start_millicycles > 0 && l < kL3)
      return bad("leaf_start_cycles", "has no effect: only for [L3] and [memory] do leaves wait");
    if (d.next_piece_start_millicycles > 0 && d.next_pieces_millicycles == 0)
      return bad("next_piece_cycles", "has no effect without `next_pieces_line_cycles`");
    if (d.piece_millicycles > 0 && d.stream_millicycles == 0)
      return bad("piece_cycles", "has no effect without `stream_line_cycles`");
    if (d.asked_row_millicycles > 0 && !d.asks_ahead())
      return bad("asked_row_cycles", fmt::format("has no effect: without `{}` or `{}` there copies "
                                                 "ask for nothing",
                                                 by_copy.first, by_leaves.first));
    if (d.rows_millicycles > 0 && (l < kL3 || d.stream_millicycles == 0))
      return bad(
          rows.first,
          "has no effect: only in [L3] and [memory], with `stream_line_cycles`, do rows come "
          "as streams");
    for (const auto& [key, line] : {std::pair("stream_line_cycles", d.stream_millicycles), by_copy,
                                    by_leaves, view, panel, next_rows, pieces, rows, windows})
      if (line > d.line_millicycles)
        return bad(key,
                   fmt::format("must be at most `line_cycles`, {}", decimal(d.line_millicycles)));
    // What is asked for comes beside arithmetic: what is waited for may be less.
    if (d.stream_millicycles > 0 && d.stream_millicycles < d.shared_line_millicycles)
      return bad("stream_line_cycles", fmt::format("must be at least `shared_line_cycles`, {}",
                                                   decimal(d.shared_line_millicycles)));
    return true;
  }

  std::string_view text_;
  std::string file_;
  toml::table root_;
  std::optional<Diagnostic> error_;
};

}  // namespace

Result<Machine> parse_machine(std::string_view toml, const std::string& file) {
  return Reader(toml, file).read();
}

}  // namespace morello
