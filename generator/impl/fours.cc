#include "impl/fours.h"

#include <algorithm>

#include "spec/sizes.h"

namespace morello {
namespace {

// Registers of a tile that depend on the dims of an operand; of the output, all of them.
i64 registers_of(const Family& f, const Computation& c, int operand, const Extents& tile) {
  i64 n = 1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (!c.dims[d].reduction && touches(c.operands[operand], d))
      n *= d == f.lane ? ceil_div(tile[d], f.kernel->lanes) : tile[d];
  return n;
}

}  // namespace

int inner_reduction(const Family& f, const Computation& c) {
  if (f.kernel->lanes_reduce) return f.lane;
  if (f.overlap) return f.overlap->tap;
  int inner = -1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (c.dims[d].reduction && (inner < 0 || f.quantum[inner] == 1)) inner = d;
  return inner;
}

int broadcast_in_fours(const Family& f, const Computation& c) {
  const Kernel& k = *f.kernel;
  if (!c.reduces() || c.inputs() != 2 || k.moves || k.lanes == 1 || k.lanes_reduce) return -1;
  if (k.group > 1 || !k.pair.empty() || f.joined >= 0 || f.overlap) return -1;
  const int inner = inner_reduction(f, c);
  if (c.dims[inner].extent < kFour) return -1;
  for (int o = 0; o < c.inputs(); ++o) {
    if (f.loads[o]->fours.empty() || !touches(c.operands[o], inner)) continue;
    const AddressMap map = given_address(c, o);
    if (map.is_plain() && map.unit_stride(inner) == 1) return o;
  }
  return -1;
}

i64 rows_in_fours(const Family& f, const Computation& c, int operand, const Pipes& p,
                  const Extents& tile) {
  if (tile[inner_reduction(f, c)] < kFour) return 0;
  i64 loads = 0;
  for (int o = 0; o < c.inputs(); ++o)
    loads += ceil_div(registers_of(f, c, o, tile), f.loads[o]->regs);
  const i64 products = registers_of(f, c, c.inputs(), tile);
  const Uops& uops = f.kernel->uops;
  const i64 fma = products * uops.fma, all = fma + products * (uops.bf16 + uops.alu);
  // Where a machine file does not say, shuffles of 512 bits take a pipe for multiply-adds, as
  // Intel's do.
  const bool wide = kLaneBits * f.kernel->lanes > 256;
  const i64 both = p.fma_and_shuffle > 0 ? p.fma_and_shuffle : wide ? p.fma : p.vector;
  constexpr i64 kScale = 1'000'000;  // rates are in thousandths
  const auto time = [&](i64 rows) {
    return std::max({kFour * fma * kScale / p.fma, kFour * all * kScale / p.vector,
                     kFour * (fma + rows) * kScale / both,
                     (kFour * loads - (kFour - 1) * rows) * kScale / p.load});
  };
  const i64 spare = f.isa->vector_registers - f.registers;
  const i64 most = std::min(registers_of(f, c, operand, tile), std::max<i64>(0, spare));
  constexpr i64 kWorth = 16;  // a part of the time that is to be saved
  i64 best = 0;
  for (i64 rows = 1; rows <= most; ++rows)
    if (time(rows) <= time(best)) best = rows;
  return kWorth * (time(0) - time(best)) >= time(0) ? best : 0;
}

}  // namespace morello
