#include "codegen/functions.h"

namespace morello {
namespace {

// `text` with its lines two spaces further out.
std::string outdented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const size_t begin = text.starts_with("  ") ? 2 : 0;
    out += text.substr(begin, end - begin);
    text.remove_prefix(end);
  }
  return out;
}

// The names of parameters, as arguments.
std::string arguments(std::string_view params) {
  std::string out;
  while (!params.empty()) {
    const size_t end = std::min(params.find(','), params.size());
    const std::string_view param = params.substr(0, end);
    out += fmt::format("{}{}", out.empty() ? "" : ", ", param.substr(param.rfind(' ') + 1));
    params.remove_prefix(std::min(end + 1, params.size()));
  }
  return out;
}

std::string constant(const BodyPart& part, i64 value) {
  return part.counts() ? std::to_string(value) : outdented(part.either[value != 0]);
}

std::string branches(const BodyPart& part) {
  const auto& [no, yes] = part.either;
  const std::string& name = part.variable;
  if (yes.empty()) return fmt::format("  if (!{}) {{\n{}  }}\n", name, no);
  if (no.empty()) return fmt::format("  if ({}) {{\n{}  }}\n", name, yes);
  return fmt::format("  if ({}) {{\n{}  }} else {{\n{}  }}\n", name, yes, no);
}

std::string head(bool apart, std::string_view name, std::string_view params) {
  return fmt::format("MORELLO_UNUSED MORELLO_TARGET {} void {}({}) noexcept {{",
                     apart ? "__attribute__((noinline)) static" : "static inline", name, params);
}

}  // namespace

std::string Functions::add(std::string_view stem, std::string_view params, std::string_view text,
                           bool apart) {
  return add(stem, params, Body{.parts = {{std::string(text)}}}, apart);
}

std::string Functions::add(std::string_view stem, std::string_view params, Body body, bool apart) {
  Shape shape{std::string(stem), std::string(params), std::move(body.parts), apart || apart_};
  for (const auto& [name, value] : body.named) shape.named.insert(name);
  body.values.merge(body.named);
  if (!apart_) shape.fixed = body.values;
  const auto [found, added] = indices_.try_emplace(shape, entries_.size());
  if (added) entries_.push_back({std::move(shape)});
  std::vector<Named>& functions = entries_[found->second].functions;
  for (const Named& f : functions)
    if (f.values == body.values) return f.name;
  functions.push_back({fmt::format("{}_{}", stem, count_++), std::move(body.values)});
  return functions.back().name;
}

// Variables that are not the same in all functions, with their types.
std::map<std::string, std::string_view> Functions::free_variables(const Entry& e) {
  std::map<std::string, std::string_view> out;
  const auto look_at = [&](const std::string& variable, std::string_view type) {
    for (const Named& f : e.functions)
      if (f.values.at(variable) != e.functions.front().values.at(variable)) out[variable] = type;
  };
  for (const BodyPart& part : e.shape.parts)
    if (!part.variable.empty()) look_at(part.variable, part.counts() ? "std::ptrdiff_t" : "bool");
  for (const std::string& name : e.shape.named) look_at(name, "std::ptrdiff_t");
  return out;
}

std::string Functions::text(const Entry& e) {
  const Shape& s = e.shape;
  const Named& first = e.functions.front();
  auto free = free_variables(e);
  std::string body, constants, params = s.params;
  for (const BodyPart& part : s.parts) {
    body += part.text;
    if (part.variable.empty()) continue;
    if (!free.contains(part.variable))
      body += constant(part, first.values.at(part.variable));
    else
      body += part.counts() ? part.variable : branches(part);
  }
  for (const std::string& name : s.named) {
    if (!mentions(body, name))
      free.erase(name);  // what is done with it was left out
    else if (!free.contains(name))
      constants += fmt::format("  const std::ptrdiff_t {} = {};\n", name, first.values.at(name));
  }
  for (const auto& [variable, type] : free) params += fmt::format(", {} {}", type, variable);
  const bool alone = e.functions.size() == 1;
  const std::string name = first.name + (alone ? "" : "_any");
  std::string out = fmt::format("{}\n{}{}}}\n", head(s.apart, name, params), constants, body);
  if (alone) return out;
  for (const Named& f : e.functions) {
    std::string values;
    for (const auto& [variable, type] : free)
      values += type == "bool" ? (f.values.at(variable) ? ", true" : ", false")
                               : fmt::format(", {}", f.values.at(variable));
    out += fmt::format("{} {}({}{}); }}\n", head(false, f.name, s.params), name,
                       arguments(s.params), values);
  }
  return out;
}

std::string Functions::text() const {
  std::string out = helpers_;
  for (const Entry& e : entries_) out += text(e);
  return out;
}

}  // namespace morello
