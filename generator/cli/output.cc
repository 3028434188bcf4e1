#include "cli/output.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "search/count.h"

namespace morello {

static std::string_view isa_name(const Found& f) { return f.best.problem.family.isa->name; }

std::string family_text(const KernelSpec& spec, const Found& f) {
  if (spec.stages.size() > 1) return fmt::format("{} stages", spec.stages.size());
  return f.best.problem.family.str(spec.computation());
}

std::string summary(const KernelSpec& spec, const Found& f) {
  return fmt::format("{} {}: {:.2f} s CPU, {} specs, {:.4g} cycles, {}", spec.name, isa_name(f),
                     f.seconds, f.best.stats.specs, f.best.cost.as_cycles(), family_text(spec, f));
}

std::string impl_text(const std::vector<KernelFound>& kernels) {
  std::string out;
  for (const KernelFound& k : kernels)
    for (const Found& f : k.variants) {
      if (!out.empty()) out += "\n";
      out += fmt::format("# {}\n# isa {}, threads {}, {} cycles\n# {}\n", k.spec->str(),
                         isa_name(f), f.best.problem.threads,
                         std::llround(f.best.cost.as_cycles()),  // as lock files round it
                         family_text(*k.spec, f));
      out += f.best.rows        ? print(*f.best.rows)
             : f.best.fusion    ? print(*f.best.fusion)
             : f.best.patchwork ? print(*f.best.patchwork, k.spec->computation())
                                : print(f.best.problem, *f.best.impl);
    }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

static i64 peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<i64>(usage.ru_maxrss) * 1024;
}

static std::string variant_json(const KernelSpec& spec, const Found& f) {
  const SearchStats& s = f.best.stats;
  const auto skipped = std::count_if(f.best.families.begin(), f.best.families.end(),
                                     [](const FamilyResult& r) { return r.skipped; });
  const auto tried = static_cast<std::ptrdiff_t>(f.best.families.size()) - skipped;
  const auto points = static_cast<double>(s.specs + s.memo_hits);
  const double compression = s.memo.boxes > 0 ? points / static_cast<double>(s.memo.boxes) : 0;
  std::string out = "    {\n";
  const auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format("      \"{}\": {},\n", key, value);
  };
  add("name", json_string(spec.name));
  add("isa", json_string(isa_name(f)));
  add("spec", json_string(spec.str()));
  add("threads", fmt::format("{}", f.best.problem.threads));
  add("seconds", fmt::format("{:.3f}", f.seconds));
  add("specs", fmt::format("{}", s.specs));
  add("candidates", fmt::format("{}", s.candidates));
  add("memo_hits", fmt::format("{}", s.memo_hits));
  add("boxes", fmt::format("{}", s.memo.boxes));
  add("memo_bytes", fmt::format("{}", s.memo.bytes));
  add("compression", fmt::format("{:.3f}", compression));
  add("log10_programs", fmt::format("{:.2f}", log10_programs(Space(f.best.problem))));
  if (f.best.patchwork) add("programs", fmt::format("{}", f.best.patchwork->programs.size()));
  if (f.best.rows) add("programs", fmt::format("{}", fusions(*f.best.rows).size()));
  add("cost", fmt::format("{:.0f}", f.best.cost.as_cycles()));
  add("family", json_string(family_text(spec, f)));
  add("families_tried", fmt::format("{}", tried));
  add("families_skipped", fmt::format("{}", skipped));
  out += fmt::format("      \"peak_rss_bytes\": {}\n    }}", peak_rss_bytes());
  return out;
}

std::string stats_json(const std::vector<KernelFound>& kernels, const Machine& machine) {
  std::vector<std::string> rows;
  for (const KernelFound& k : kernels)
    for (const Found& f : k.variants) rows.push_back(variant_json(*k.spec, f));
  return fmt::format("{{\n  \"machine\": {},\n  \"kernels\": [\n{}\n  ]\n}}\n",
                     json_string(machine.name), fmt::join(rows, ",\n"));
}

std::string digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace morello
