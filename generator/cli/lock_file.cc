#include "cli/lock_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace morello {
namespace {

constexpr i64 kVersion = 1;

auto key(const LockedKernel& k) { return std::tie(k.target, k.name, k.isa); }

// Thrown inside this file only and caught in parse_lock.
struct Wrong {
  Diagnostic diagnostic;
};

[[noreturn]] void wrong(const toml::source_region& where, std::string text) {
  Diagnostic d = error(std::move(text));
  d.line = static_cast<int>(where.begin.line);
  d.column = static_cast<int>(where.begin.column);
  throw Wrong{std::move(d)};
}

// Reads the keys of one table; what was not asked for is a mistake.
class Table {
 public:
  Table(const toml::node& node, const char* what) : what_(what) {
    if (!node.is_table()) wrong(node.source(), fmt::format("{} is a table", what));
    table_ = node.as_table();
  }
  template <class T>
  T get(const char* name) {
    known_.emplace_back(name);
    const toml::node* node = table_->get(name);
    if (node == nullptr) wrong(table_->source(), fmt::format("{} lacks `{}`", what_, name));
    const std::optional<T> value = node->value_exact<T>();
    if (!value) wrong(node->source(), fmt::format("`{}` of {} has the wrong type", name, what_));
    return *value;
  }
  std::string text(const char* name) { return get<std::string>(name); }
  std::string text_or_none(const char* name) { return maybe(name) ? text(name) : std::string(); }
  i64 number(const char* name, i64 least, i64 most = std::numeric_limits<i64>::max()) {
    const i64 value = get<i64>(name);
    if (value < least || value > most)
      wrong(table_->get(name)->source(), fmt::format("`{}` of {} is {}", name, what_, value));
    return value;
  }
  int count(const char* name) { return static_cast<int>(number(name, 1, 1024)); }
  // Calls each(node) for the elements of an array; none where the key is not there.
  void elements(const char* name, auto each) {
    known_.emplace_back(name);
    const toml::node* node = table_->get(name);
    if (node == nullptr) return;
    if (!node->is_array()) wrong(node->source(), fmt::format("`{}` is an array", name));
    for (const toml::node& e : *node->as_array()) each(e);
  }
  const toml::node* maybe(const char* name) {
    known_.emplace_back(name);
    return table_->get(name);
  }
  void end() const {
    for (const auto& [name, node] : *table_)
      if (std::find(known_.begin(), known_.end(), std::string(name.str())) == known_.end())
        wrong(node.source(), fmt::format("unknown key `{}` in {}", name.str(), what_));
  }

 private:
  const char* what_;
  const toml::table* table_ = nullptr;
  std::vector<std::string> known_;
};

LockedProgram read_program(const toml::node& node) {
  Table t(node, "a program");
  LockedProgram p{t.count("threads"), t.number("cycles", 0), t.text("family"), t.text("nest")};
  t.elements("elastic", [&](const toml::node& e) {
    const std::optional<std::string> dim = e.value_exact<std::string>();
    if (!dim) wrong(e.source(), "`elastic` of a program is a list of dims");
    p.elastic.push_back(*dim);
  });
  t.end();
  return p;
}

LockedPieces read_pieces(const toml::node& node) {
  Table t(node, "an element of `pieces`");
  LockedPieces p{t.text("dim"), {}};
  t.elements("sizes", [&](const toml::node& e) {
    const std::optional<i64> size = e.value_exact<i64>();
    if (!size || *size < 1) wrong(e.source(), "the size of a piece is a number of at least 1");
    p.sizes.push_back(*size);
  });
  if (t.maybe("elastic")) p.elastic = static_cast<int>(t.number("elastic", 1, 64));
  t.end();
  return p;
}

LockedKernel read_kernel(const toml::node& node) {
  Table t(node, "a kernel");
  LockedKernel k{.target = t.text("target"),
                 .name = t.text("name"),
                 .isa = t.text("isa"),
                 .spec = t.text("spec"),
                 .machine = t.text("machine"),
                 .machine_sha256 = t.text("machine_sha256"),
                 .threads = t.count("threads"),
                 .cycles = t.number("cycles", 0)};
  t.elements("pieces", [&](const toml::node& e) { k.pieces.push_back(read_pieces(e)); });
  if (const toml::node* divided = t.maybe("divided")) {
    Table d(*divided, "`divided`");
    k.divided = d.count("threads");
    k.divided_from = d.number("from", 0);
    d.end();
  }
  k.nest = t.text_or_none("nest");
  t.elements("program", [&](const toml::node& e) { k.programs.push_back(read_program(e)); });
  t.end();
  return k;
}

LockedOutput read_output(const toml::node& node) {
  Table t(node, "an output");
  LockedOutput o{t.text("target"), t.text("inputs_sha256"), t.text("output_sha256")};
  t.end();
  return o;
}

// Texts of ours: no control characters but line ends.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string nest_text(const std::string& nest) { return fmt::format("\"\"\"\n{}\"\"\"", nest); }

std::string kernel_text(const LockedKernel& k) {
  std::string out = "\n[[kernel]]\n";
  const auto add = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{} = {}\n", name, value);
  };
  add("target", quoted(k.target));
  add("name", quoted(k.name));
  add("isa", quoted(k.isa));
  add("spec", quoted(k.spec));
  add("machine", quoted(k.machine));
  add("machine_sha256", quoted(k.machine_sha256));
  add("threads", std::to_string(k.threads));
  add("cycles", std::to_string(k.cycles));
  std::vector<std::string> pieces;
  for (const LockedPieces& p : k.pieces)
    pieces.push_back(fmt::format("{{dim = {}, sizes = [{}]{}}}", quoted(p.dim),
                                 fmt::join(p.sizes, ", "),
                                 p.elastic > 0 ? fmt::format(", elastic = {}", p.elastic) : ""));
  if (!pieces.empty()) add("pieces", fmt::format("[{}]", fmt::join(pieces, ", ")));
  if (k.divided > 1)
    add("divided", fmt::format("{{threads = {}, from = {}}}", k.divided, k.divided_from));
  if (!k.nest.empty()) add("nest", nest_text(k.nest));
  for (const LockedProgram& p : k.programs) {
    out += fmt::format("\n[[kernel.program]]\nthreads = {}\ncycles = {}\n", p.threads, p.cycles);
    std::vector<std::string> elastic;
    for (const std::string& dim : p.elastic) elastic.push_back(quoted(dim));
    if (!elastic.empty()) out += fmt::format("elastic = [{}]\n", fmt::join(elastic, ", "));
    out += fmt::format("family = {}\nnest = {}\n", quoted(p.family), nest_text(p.nest));
  }
  return out;
}

}  // namespace

const LockedKernel* LockFile::find(const std::string& target, const std::string& name,
                                   const std::string& isa) const {
  for (const LockedKernel& k : kernels)
    if (k.target == target && k.name == name && k.isa == isa) return &k;
  return nullptr;
}

const LockedOutput* LockFile::find_output(const std::string& target) const {
  for (const LockedOutput& o : outputs)
    if (o.target == target) return &o;
  return nullptr;
}

void LockFile::replace(const std::string& target, std::vector<LockedKernel> new_kernels,
                       std::vector<LockedOutput> new_outputs) {
  const auto old = [&](const auto& e) { return e.target == target; };
  std::erase_if(kernels, old);
  std::erase_if(outputs, old);
  std::move(new_kernels.begin(), new_kernels.end(), std::back_inserter(kernels));
  std::move(new_outputs.begin(), new_outputs.end(), std::back_inserter(outputs));
  std::sort(kernels.begin(), kernels.end(),
            [](const auto& a, const auto& b) { return key(a) < key(b); });
  std::sort(outputs.begin(), outputs.end(),
            [](const auto& a, const auto& b) { return a.target < b.target; });
}

std::string LockFile::toml() const {
  std::string out =
      "# Written by Morello; check it in. The update target of each kernel writes its part anew.\n";
  out += fmt::format("version = {}\n", kVersion);
  for (const LockedKernel& k : kernels) out += kernel_text(k);
  for (const LockedOutput& o : outputs)
    out += fmt::format("\n[[output]]\ntarget = {}\ninputs_sha256 = {}\noutput_sha256 = {}\n",
                       quoted(o.target), quoted(o.inputs_sha256), quoted(o.output_sha256));
  return out;
}

Result<LockFile> parse_lock(std::string_view toml, const std::string& file) {
  try {
    const toml::table root = toml::parse(toml);
    Table t(root, "the lock file");
    if (const i64 version = t.get<i64>("version"); version != kVersion)
      wrong({}, fmt::format("version {} of lock files is not known; this generator writes {}",
                            version, kVersion));
    LockFile lock;
    t.elements("kernel", [&](const toml::node& n) { lock.kernels.push_back(read_kernel(n)); });
    t.elements("output", [&](const toml::node& n) { lock.outputs.push_back(read_output(n)); });
    t.end();
    return lock;
  } catch (const toml::parse_error& e) {
    Diagnostic d = error(std::string(e.description()));
    d.line = static_cast<int>(e.source().begin.line);
    d.column = static_cast<int>(e.source().begin.column);
    d.file = file;
    return d;
  } catch (Wrong& w) {
    w.diagnostic.file = file;
    return std::move(w.diagnostic);
  }
}

}  // namespace morello
