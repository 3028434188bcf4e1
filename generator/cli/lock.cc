#include "cli/lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/exit.h"
#include "cli/files.h"
#include "codegen/sources.h"
#include "search/sources.h"
#include "support/descriptor.h"
#include "support/sha256.h"

namespace morello {
namespace {

LockFile read_lock(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  Result<LockFile> lock = parse_lock(read_file(path), path);
  if (!lock) fail(kLockOutOfDate, lock.error());
  return std::move(*lock);
}

// Targets that share a lock file may be updated at the same time. The directory is locked, so that
// nothing is left in a source tree.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory)
      : fd_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_.get() < 0 || ::flock(fd_.get(), LOCK_EX) != 0)
      fail(kInternal, fmt::format("cannot lock {}: {}", directory, std::strerror(errno)));
  }

 private:
  Descriptor fd_;
};

}  // namespace

void LockArgs::declare(CLI::App& app) {
  app.add_option("--lock", file, "Lock file: what is in it is not searched for")
      ->option_text("FILE");
  app.add_option("--lock-target", target, "Whose entries of the lock file these kernels are")
      ->option_text("NAME");
  app.add_flag("--locked", locked, "What is not in the lock file is an error (exit code 4)");
  app.add_flag("--update-lock", update, "Write to the lock file what was found");
  app.add_option("--update-command", command, "For messages: what updates the lock file")
      ->option_text("TEXT");
}

OpenLock::OpenLock(const LockArgs& args, const Machine& machine, int threads)
    : args_(args), machine_(machine), threads_(threads) {
  if (!args.file && (args.locked || args.update || !args.target.empty()))
    usage_error("--locked, --update-lock and --lock-target need --lock");
  if (args.locked && args.update) usage_error("--locked and --update-lock exclude each other");
  if (args.file) lock_ = read_lock(*args.file);
}

std::optional<Found> OpenLock::find(const KernelSpec& spec, const Isa& isa) {
  if (!args_.file) return std::nullopt;
  const std::string name(isa.name);
  const LockedKernel* entry = lock_.find(args_.target, spec.name, name);
  std::string why = entry ? out_of_date(*entry, spec, machine_, threads_) : "it has no entry";
  if (why.empty()) {
    Result<Found> found = replay(*entry, spec, machine_, isa);
    if (found) return std::move(*found);
    why = "this generator cannot use its entry: " + found.error().text;
  }
  missing_.push_back({spec.name, name, why});
  return std::nullopt;
}

std::string OpenLock::advice() const {
  return args_.command.empty() ? "" : fmt::format("\nTo update it:\n  {}", args_.command);
}

void OpenLock::may_search() const {
  if (!args_.locked || missing_.empty()) return;
  std::string list;
  for (const Missing& m : missing_) list += fmt::format("\n  {} {}: {}", m.name, m.isa, m.why);
  fail(kLockOutOfDate, fmt::format("{} is out of date, and a search is not allowed:{}{}",
                                   *args_.file, list, advice()));
}

std::string OpenLock::origin(const KernelSpec& spec, const Isa& isa) const {
  if (!args_.file) return "";
  for (const Missing& m : missing_)
    if (m.name == spec.name && m.isa == isa.name)
      return fmt::format(" (not from the lock file: {})", m.why);
  return " (from the lock file)";
}

void OpenLock::finish(const std::vector<KernelFound>& kernels, const std::string& settings,
                      const std::string& files) {
  if (!args_.file) return;
  std::vector<LockedKernel> entries;
  for (const KernelFound& k : kernels)
    for (const Found& f : k.variants) {
      entries.push_back(locked(*k.spec, machine_, threads_, f));
      entries.back().target = args_.target;
    }
  LockFile ours;
  ours.replace(args_.target, entries, {});
  const LockedOutput now{args_.target,
                         sha256(fmt::format("{}\n{}\n{}\n{}", search_sources(), codegen_sources(),
                                            settings, ours.toml())),
                         sha256(files)};
  const LockedOutput* before = lock_.find_output(args_.target);
  if (before && before->inputs_sha256 == now.inputs_sha256 &&
      before->output_sha256 != now.output_sha256)
    fail(kInternal,
         fmt::format("the files of {} differ from those that the same generator made from the same "
                     "entries of {}: a bug of Morello, please report it\n  sha256 then {}\n"
                     "  sha256 now  {}",
                     args_.target, *args_.file, before->output_sha256, now.output_sha256));
  if (args_.update) write(std::move(entries), now);
}

void OpenLock::write(std::vector<LockedKernel> entries, LockedOutput output) const {
  const std::filesystem::path path = std::filesystem::absolute(*args_.file);
  std::filesystem::create_directories(path.parent_path());
  const DirectoryLock alone(path.parent_path().string());
  LockFile lock = read_lock(*args_.file);
  lock.replace(args_.target, std::move(entries), {std::move(output)});
  OutputFiles files;
  files.add("--lock", *args_.file, lock.toml());
  files.write();
}

}  // namespace morello
