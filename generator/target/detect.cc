// This computer as a Machine. What can be read is read (hwloc: cores, cache sizes, lines, sharing);
// what would have to be timed (transfer costs, pipes) comes from the shipped file of the same
// micro-architecture, so that detection is quick, needs no quiet machine and repeats exactly.
#include <hwloc.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "target/isa.h"
#include "target/machine.h"

namespace morello {
namespace {

// Which shipped file describes a CPU best. Families and models as CPUID numbers them; where a core
// has no file of its own, the one before it in its maker's line stands in.
struct Model {
  std::string_view vendor;
  int family, first, last;  // models
  std::string_view machine;
  i64 least_l2 = 0;  // bytes; tells apart what carries the same number
};
constexpr std::string_view kAmd = "AuthenticAMD";
constexpr std::string_view kIntel = "GenuineIntel";
constexpr std::string_view kGeneric = "x86-64-v3";
constexpr Model kModels[] = {
    {kAmd, 23, 0x00, 0x2f, "zen1"},
    {kAmd, 23, 0x30, 0xff, "zen2"},
    {kAmd, 25, 0x00, 0x0f, "zen3"},
    {kAmd, 25, 0x10, 0x1f, "zen4"},
    {kAmd, 25, 0x20, 0x5f, "zen3"},
    {kAmd, 25, 0x60, 0xff, "zen4"},
    {kAmd, 26, 0x00, 0xff, "zen5"},
    {"HygonGenuine", 24, 0x00, 0xff, "zen1"},
    // Haswell and Broadwell.
    {kIntel, 6, 0x3c, 0x3d, "haswell"},
    {kIntel, 6, 0x3f, 0x3f, "haswell"},
    {kIntel, 6, 0x45, 0x47, "haswell"},
    {kIntel, 6, 0x4f, 0x4f, "haswell"},
    {kIntel, 6, 0x56, 0x56, "haswell"},
    // Skylake to Comet Lake, and Ice, Tiger and Rocket Lake; servers beside them.
    {kIntel, 6, 0x4e, 0x4e, "skylake"},
    {kIntel, 6, 0x55, 0x55, "skylake-server"},
    {kIntel, 6, 0x5e, 0x5e, "skylake"},
    {kIntel, 6, 0x6a, 0x6c, "skylake-server"},
    {kIntel, 6, 0x7d, 0x7e, "skylake"},
    {kIntel, 6, 0x8c, 0x8e, "skylake"},
    {kIntel, 6, 0x9e, 0x9e, "skylake"},
    {kIntel, 6, 0xa5, 0xa7, "skylake"},
    // Golden Cove and later: Alder, Raptor, Meteor, Arrow and Lunar Lake.
    {kIntel, 6, 0x97, 0x97, "alderlake"},
    {kIntel, 6, 0x9a, 0x9a, "alderlake"},
    {kIntel, 6, 0xaa, 0xac, "alderlake"},
    {kIntel, 6, 0xb5, 0xbf, "alderlake"},
    {kIntel, 6, 0xc5, 0xc6, "alderlake"},
    // Their servers: Sapphire, Emerald and Granite Rapids. Some hypervisors call them Rocket Lake,
    // whose L2 has a quarter of the size.
    {kIntel, 6, 0x8f, 0x8f, "graniterapids"},
    {kIntel, 6, 0xad, 0xae, "graniterapids"},
    {kIntel, 6, 0xcf, 0xcf, "graniterapids"},
    {kIntel, 6, 0xa7, 0xa7, "graniterapids", 2 << 20},
};

std::optional<int> number(const char* text) {
  int value = 0;
  const std::string_view digits = text == nullptr ? "" : text;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

class Detector {
 public:
  Detector() {
    // What it could not find, our notes say: without /sys it would print to stderr by itself.
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    hwloc_topology_init(&topology_);
    hwloc_topology_set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_NONE);
    loaded_ = hwloc_topology_load(topology_) == 0;
  }
  ~Detector() { hwloc_topology_destroy(topology_); }
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  Detection run() {
    find_base();
    Machine& m = found_.machine;
    if (!loaded_) {
      note("hwloc could not read this computer: everything is that of {}", base_.name);
      return std::move(found_);
    }
    find_isa_here();
    find_cores();
    for (Level l = kL1; l <= kL3; ++l) find_cache(l);
    m.levels[kMemory].shared_by = m.cores;
    settle();
    return std::move(found_);
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    found_.notes.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // hwloc's description of the package, or of the machine where it keeps it there.
  const char* info(const char* key) const {
    if (!loaded_) return nullptr;
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0);
    const char* text = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, key);
    return text != nullptr ? text : hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology_), key);
  }

  i64 l2_bytes() const {
    const hwloc_obj_t l2 = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_L2CACHE, 0);
    return l2 == nullptr ? 0 : static_cast<i64>(l2->attr->cache.size);
  }

  void find_base() {
    std::string_view name = kGeneric;
    const char* vendor = info("CPUVendor");
    const std::optional<int> family = number(info("CPUFamilyNumber"));
    const std::optional<int> model = number(info("CPUModelNumber"));
    if (vendor != nullptr && family && model)
      for (const Model& row : kModels)
        if (row.vendor == vendor && row.family == *family && row.first <= *model &&
            *model <= row.last && l2_bytes() >= row.least_l2)
          name = row.machine;
    Result<Machine> shipped = load_machine(std::string(name));
    MORELLO_CHECK(shipped.ok(), "{}", shipped.error().str());
    base_ = *shipped;
    found_.machine = base_;
    found_.machine.name = fmt::format("native-{}", name);
    if (name != kGeneric) return;
    if (vendor != nullptr && family && model)
      note(
          "no shipped machine file for {} family {} model {}: transfer costs and pipes are those "
          "of {}",
          vendor, *family, *model, kGeneric);
    else
      note("the CPU's model is unknown: transfer costs and pipes are those of {}", kGeneric);
  }

  void find_isa_here() {
    if (hwloc_topology_is_thissystem(topology_) == 0) return;  // nobody to ask
    for (const Isa* isa : isa_table()) {
      if (!isa->runs_here()) continue;
      found_.machine.isa = isa->name;
      return;
    }
  }

  // A CPU with cores of several kinds counts as its fastest kind: that is where the kernel's author
  // wants it, and a parallel loop waits for its slowest chunk.
  hwloc_const_cpuset_t cpus() {
    const int kinds = hwloc_cpukinds_get_nr(topology_, 0);
    const hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology_);
    if (kinds < 2) return all;
    hwloc_bitmap_zero(fast_.set);
    int efficiency = -1;
    if (hwloc_cpukinds_get_info(topology_, static_cast<unsigned>(kinds - 1), fast_.set, &efficiency,
                                nullptr, nullptr, 0) != 0 ||
        efficiency < 0 || hwloc_bitmap_iszero(fast_.set))
      return all;
    return fast_.set;
  }

  void find_cores() {
    const hwloc_const_cpuset_t set = cpus();
    const hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology_);
    int count = hwloc_get_nbobjs_inside_cpuset_by_type(topology_, set, HWLOC_OBJ_CORE);
    if (count < 1) {
      count = std::max(1, hwloc_get_nbobjs_inside_cpuset_by_type(topology_, set, HWLOC_OBJ_PU));
      note("hwloc knows no cores: took its {} hardware threads", count);
    }
    found_.machine.cores = count;
    if (!hwloc_bitmap_isequal(set, all))
      note("cores of several kinds: took the fastest, {}", count);
    first_ = hwloc_get_obj_inside_cpuset_by_type(topology_, set, HWLOC_OBJ_PU, 0);
  }

  void find_cache(Level l) {
    constexpr hwloc_obj_type_t kTypes[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    LevelDesc& d = found_.machine.levels[static_cast<size_t>(l)];
    const int cores = found_.machine.cores;
    const hwloc_obj_t cache =
        first_ == nullptr
            ? nullptr
            : hwloc_get_ancestor_obj_by_type(topology_, kTypes[static_cast<size_t>(l - 1)], first_);
    if (cache == nullptr || cache->attr->cache.size == 0) {
      d.shared_by = std::min(d.shared_by, cores);
      if (l > kL1)
        d.bytes = std::max(d.bytes, found_.machine.levels[static_cast<size_t>(l - 1)].bytes);
      note("hwloc knows no {}: took {} bytes shared by {} from {}", level_name(l), d.bytes,
           d.shared_by, base_.name);
      return;
    }
    d.bytes = static_cast<i64>(cache->attr->cache.size);
    if (cache->attr->cache.linesize != 0)
      d.line = static_cast<int>(cache->attr->cache.linesize);
    else
      note("hwloc knows no line size of {}: took {} bytes from {}", level_name(l), d.line,
           base_.name);
    const int sharing =
        hwloc_get_nbobjs_inside_cpuset_by_type(topology_, cache->cpuset, HWLOC_OBJ_CORE);
    d.shared_by = std::clamp(sharing, 1, cores);
  }

  // What was read must be a machine that parse_machine() accepts. A topology that is not (an
  // emulator's caches may shrink outwards) gives way to the shipped file as a whole.
  void settle() {
    Machine& m = found_.machine;
    for (Level l = kL2; l <= kMemory; ++l)
      m.levels[static_cast<size_t>(l)].shared_by =
          std::max(m.levels[static_cast<size_t>(l)].shared_by,
                   m.levels[static_cast<size_t>(l - 1)].shared_by);
    const Result<Machine> checked = parse_machine(m.toml(), "<detected>");
    if (checked.ok()) return;
    for (Level l = kL1; l <= kL3; ++l) {
      LevelDesc& d = m.levels[static_cast<size_t>(l)];
      d = base_.levels[static_cast<size_t>(l)];
      d.shared_by = std::min(d.shared_by, m.cores);
    }
    m.cores = std::min(m.cores, 4096);
    m.levels[kMemory].shared_by = m.cores;
    note("hwloc's caches make no sense ({}): took those of {}", checked.error().text, base_.name);
  }

  struct Bitmap {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    Bitmap() = default;
    Bitmap(const Bitmap&) = delete;
    Bitmap& operator=(const Bitmap&) = delete;
    ~Bitmap() { hwloc_bitmap_free(set); }
  };

  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
  Bitmap fast_;
  hwloc_obj_t first_ = nullptr;  // a hardware thread; its caches are taken for everybody's
  Machine base_;
  Detection found_;
};

}  // namespace

Detection detect_machine() { return Detector().run(); }

}  // namespace morello
