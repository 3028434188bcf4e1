// Where machine files come from: those shipped (compiled in), a path, or this computer.
#include "target/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "target/machine.h"

namespace morello {

std::vector<std::string> shipped_machines() {
  std::vector<std::string> names;
  for (const MachineFile& f : machine_files()) names.emplace_back(f.name);
  std::sort(names.begin(), names.end());
  return names;
}

static Result<Machine> read_machine(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    return error(fmt::format("cannot read the machine file `{}`: {}", path,
                             errno != 0 ? std::strerror(errno) : "it is empty"));
  return parse_machine(text.str(), path);
}

Result<Machine> load_machine(const std::string& name_or_path) {
  if (name_or_path == "native") return detect_machine().machine;
  if (name_or_path.ends_with(".toml")) return read_machine(name_or_path);
  for (const MachineFile& f : machine_files())
    if (f.name == name_or_path) return parse_machine(f.text, std::string(f.name) + ".toml");
  const std::vector<std::string> names = shipped_machines();
  const std::string near = nearest(name_or_path, names);
  Diagnostic d = error(fmt::format("unknown machine `{}`", name_or_path));
  if (!near.empty()) d.text += fmt::format("; did you mean `{}`?", near);
  d.notes.push_back(fmt::format("shipped machines: {}", fmt::join(names, ", ")));
  d.notes.push_back("or the path of a .toml file, or `native`");
  return d;
}

}  // namespace morello
