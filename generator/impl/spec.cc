#include "impl/spec.h"

#include "impl/clip.h"

namespace morello {

static bool is_packable(const Family& f, int operand) { return !f.packed[operand].digits.empty(); }

static Extents full_extents(const Computation& c) {
  Extents e;
  e.fill(1);
  for (size_t d = 0; d < c.dims.size(); ++d) e[d] = c.dims[d].extent;
  return e;
}

// Where the operands lie when the kernel is called: in the nearest place that holds them all at
// once, as in a loop that calls it again and again. Small kernels are called with warm caches;
// weights that fit no cache come from memory. Measured: 1.7 MB of an L2 of 2 MiB are read at its
// full rate, and 24 to 32 MB of an L3 of 32 MiB; where others use a cache as well, its machine file
// says how much (`kept_percent`).
Level home_level(const Computation& c, const Machine& machine, int threads) {
  i64 total = 0;
  for (int t = 0; t < c.tensors(); ++t)
    total += count_elements(c.tensor(t).shape) * bytes(c.tensor(t).dtype);
  for (Level l = threads > 1 ? kL2 : kL1; l <= kL3; ++l) {
    const LevelDesc& cache = machine.levels[l];
    const i64 percent = cache.kept_percent;
    if (total <= (percent > 0 ? cache.bytes * percent / 100 : cache.bytes / 8 * 7)) return l;
  }
  return kMemory;
}

Level Problem::home(int operand) const {
  if (part.home[operand] != kRegisters) return part.home[operand];
  return machine ? home_level(*computation, *machine, threads) : kMemory;
}

bool leaves_caches(const Machine& machine, i64 bytes) {
  return machine.streamed_bytes > 0 && bytes >= machine.streamed_bytes;
}

bool Problem::output_leaves() const {
  const int out = computation->inputs();
  if (computation->reduces()) return false;
  if (part.home[out] != kRegisters) return part.leaves;
  const Operand& o = computation->output();
  return machine && leaves_caches(*machine, count_elements(o.shape) * bytes(o.dtype));
}

// (Steps of one row of several are at another row each. Zen 5, rows of 8196 bytes, of which every
// fourth can be stored past the caches: rms_norm of 3001x2049 by AVX2 1.30 of the time without.)
std::string Problem::streaming_problem() const {
  const Access& store = *family.store;
  const Operand& o = computation->output();
  if (computation->reduces()) return "a leaf cannot know whether its sum is complete";
  if (store.streamed.empty()) return fmt::format("{} cannot store past the caches", store.name);
  const AddressMap map = root_address(computation->inputs());
  if (map.unit_stride(family.lane) != 1)
    return fmt::format("{} is not adjacent along {}", o.name, computation->dims[family.lane].name);
  for (const AddressTerm& t : map.terms)
    if (t.dim != family.lane && t.symbol < 0 &&
        (computation->dims[t.dim].extent > 1 || part.is_tile()) &&
        t.stride * bytes(o.dtype) % store.streamed_alignment != 0)
      return fmt::format("neighbours along {} are {} elements of {} apart and vectors of {} bytes",
                         computation->dims[t.dim].name, t.stride, o.name, store.streamed_alignment);
  return "";
}

Spec Problem::root() const {
  const Computation& c = *computation;
  Spec s;
  s.extent = full_extents(c);
  s.threads = part.beside ? 1 : threads;
  s.accumulate = part.adds;
  for (const Clipped& x : clipped(c)) s.uncut |= static_cast<std::uint8_t>(1 << x.dim);
  // The ahead-of-time packer reorders but does not convert, so an operand is in kernel form at the
  // root only where the kernel takes its dtype.
  for (size_t o = 0; o < c.operands.size(); ++o) {
    const int i = static_cast<int>(o);
    s.place[o].level = home(i);
    s.place[o].packed = c.operands[o].packed && is_packable(family, i) &&
                        packed_dtype(family, c, i) == c.operands[o].dtype;
  }
  return s;
}

AddressMap Problem::given(int operand) const {
  const Computation& c = *computation;
  if (c.tensor(operand).packed && is_packable(family, operand))
    return family.packed[operand].address(full_extents(c));
  return given_address(c, operand);
}

AddressMap Problem::root_address(int operand) const {
  const int d = family.apart;
  if (d < 0) return given(operand);
  return in_parts(given(operand), d, computation->dims[d].extent, family.quantum[d]);
}

Dtype Problem::place_dtype(int operand, bool packed) const {
  return packed ? packed_dtype(family, *computation, operand)
                : computation->operands[operand].dtype;
}

i64 Problem::packed_bytes(int operand, const Extents& extent) const {
  MORELLO_CHECK(is_packable(family, operand), "operand {} is never packed", operand);
  return family.packed[operand].elements(extent) * bytes(place_dtype(operand, true));
}

std::string str(const Spec& s, const Computation& c) {
  std::string out;
  for (size_t d = 0; d < c.dims.size(); ++d)
    out += fmt::format("{}={} ", c.dims[d].name, s.extent[d]);
  for (size_t o = 0; o < c.operands.size(); ++o)
    out += fmt::format("{}@{}{} ", c.operands[o].name, level_name(s.place[o].level),
                       s.place[o].packed ? " packed" : "");
  if (s.accumulate) out += "acc ";
  if (s.threads != 1) out += fmt::format("threads={} ", s.threads);
  for (size_t d = 0; d < c.dims.size(); ++d)
    if (s.uncut >> d & 1) out += fmt::format("uncut {} ", c.dims[d].name);
  out.pop_back();
  return out;
}

}  // namespace morello
