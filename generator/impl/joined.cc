#include "impl/joined.h"

#include <algorithm>
#include <numeric>

#include "impl/finishing.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Longer rows than these have vectors enough of their own, a call for each number. (Zen 5, `x *
// broadcast(s, axis=1)` of 20,000 f32, by AVX2 and AVX-512: rows of 2 3.1 and 3.0 us, of 7 3.1 and
// 2.5, of 8 1.0 and 1.1, of 12 1.3 and 1.3; with a row that all have 1.1 and 1.0.)
constexpr i64 kLongestSpread = 7;
// Longer rows have vectors enough of their own.
constexpr i64 kLongestRow = 64;
// Most elements that are repeated.
constexpr i64 kLongestPeriod = 1024;
// Elements that a leaf takes, about: what it repeats is little beside them.
constexpr i64 kRun = 4096;

std::optional<AlongRows> along(const Computation& c, int lane, int rows, int tensor) {
  if (c.tensor(tensor).packed || !c.tensor(tensor).zeros.empty()) return {};
  const AddressMap map = given_address(c, tensor);
  if (map.run_time() || !map.is_plain()) return {};
  const i64 element = map.unit_stride(lane), row = map.unit_stride(rows);
  if (element == 1 && row == c.dims[lane].extent) return AlongRows::kRun;
  if (element == 1 && row == 0) return AlongRows::kRow;
  if (element == 0 && row == 0) return AlongRows::kNumber;
  if (element == 0 && row == 1) return AlongRows::kEach;
  return {};
}

// Whether the ISA spreads what it loads of a tensor, and loads what is spread.
bool spreads(const Isa& isa, const Operand& o, int lanes, Dtype compute) {
  if (bytes(o.dtype) * 8 != kLaneBits || isa.spread(o.dtype, lanes).empty()) return false;
  const Access* load = load_row(isa, lanes, o.dtype, o.dtype);
  return load && !load->partial.empty() && store_row(isa, lanes, o.dtype, o.dtype) &&
         load_row(isa, lanes, o.dtype, compute);
}

// Whether rows along `rows` can be joined.
bool joins(const Family& f, const Computation& c, int rows) {
  const int lane = f.lane;
  bool repeats = false;
  for (int t = 0; t < c.tensors(); ++t) {
    const std::optional<AlongRows> lies = along(c, lane, rows, t);
    if (!lies || (t <= c.inputs() && lies != AlongRows::kRun)) return false;
    repeats |= lies == AlongRows::kRow || lies == AlongRows::kEach;
    if (lies == AlongRows::kEach && (c.dims[lane].extent > kLongestSpread ||
                                     !spreads(*f.isa, c.tensor(t), f.kernel->lanes, c.compute)))
      return false;
  }
  return repeats;
}

}  // namespace

AlongRows along_rows(const Computation& c, const Family& f, int tensor) {
  return *along(c, f.lane, f.joined, tensor);
}

i64 joined_period(const Family& f, const Computation& c) {
  return std::lcm(c.dims[f.lane].extent, static_cast<i64>(f.kernel->lanes));
}

std::optional<Family> joined(Family f, const Computation& c) {
  const bool maps = f.kernel->maps && f.kernel->lanes > 1 && !c.reduces() && c.finish.empty();
  if (!maps || !c.sizes.empty() || c.dims[f.lane].extent > kLongestRow) return {};
  for (int o = 0; o < c.inputs(); ++o)
    if (!loads_given(f, c, o)) return {};
  for (int d = 0; d < static_cast<int>(c.dims.size()) && f.joined < 0; ++d)
    if (d != f.lane && c.dims[d].extent > 1 && joins(f, c, d)) f.joined = d;
  if (f.joined < 0 || joined_period(f, c) > kLongestPeriod) return {};
  const i64 row = c.dims[f.lane].extent, rows = joined_period(f, c) / row;
  f.quantum.fill(1);
  f.quantum[f.lane] = row;
  f.quantum[f.joined] = std::min(c.dims[f.joined].extent, ceil_div(kRun / row, rows) * rows);
  f.packed.assign(c.operands.size(), {});
  // What is spread is a vector like others.
  for (size_t e = 0; e < c.extras.size(); ++e)
    if (along_rows(c, f, static_cast<int>(c.operands.size() + e)) == AlongRows::kEach)
      f.extras[e] = load_row(*f.isa, f.kernel->lanes, c.extras[e].dtype, c.compute);
  return f;
}

Extents run_extents(const Family& f, Extents e) {
  if (f.joined < 0) return e;
  e[f.lane] *= e[f.joined];
  e[f.joined] = 1;
  return e;
}

Computation computation_of_run(const Computation& c, const Family& f, i64 elements) {
  Computation run = c;
  run.dims = {{.name = c.dims[f.lane].name, .extent = elements}};
  const auto lay = [&](Operand& o, int tensor) {
    const bool one = along_rows(c, f, tensor) == AlongRows::kNumber;
    o.shape = {one ? 1 : elements};
    o.axes = {one ? AxisMap() : AxisMap{{.dim = 0}}};
    o.layout = Layout::row(1);
    o.strided = false;
    o.strides.clear();
  };
  const int operands = static_cast<int>(c.operands.size());
  for (int o = 0; o < operands; ++o) lay(run.operands[o], o);
  for (size_t e = 0; e < c.extras.size(); ++e) lay(run.extras[e], operands + static_cast<int>(e));
  return run;
}

Family family_of_run(Family f, i64 elements) {
  f.lane = 0;
  f.joined = -1;
  f.quantum.fill(1);
  f.quantum[0] = elements;
  return f;
}

}  // namespace morello
