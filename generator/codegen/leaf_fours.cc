// Broadcasts of elements that come in fours (impl/fours.h).
#include "codegen/access.h"
#include "codegen/leaf_writer.h"
#include "impl/fours.h"

namespace morello {

// Rows spread over the tile: of those between them each is loaded where it is used. Leaves that
// read a stream wait for that, and are best with short iterations.
void LeafWriter::choose_fours() {
  const int o = broadcast_in_fours(f_, c_);
  if (o < 0 || p_.machine == nullptr || job_.brief) return;
  const bool stream = job_.call.ahead_operand >= 0 && job_.call.ahead_operand != out_;
  if (stream || job_.refs[o].packed || elastic(inner_)) return;
  const Pipes& pipes = p_.machine->pipes(kLaneBits * k_.lanes);
  const i64 rows = rows_in_fours(f_, c_, o, pipes, job_.extent);
  if (rows == 0) return;
  const std::vector<Load> all = loads(o, {0, slot_, 0});
  const i64 n = static_cast<i64>(all.size());
  for (i64 i = 0; i < rows; ++i)
    in_fours_[all[static_cast<size_t>((2 * i + 1) * n / (2 * rows))].instance] = "";
  fours_ = o;
}

// What the next four steps need of these rows, each in a register that compilers are to keep: they
// see that a broadcast of one of four is one load.
void LeafWriter::load_fours(i64 start) {
  const Access& a = *f_.loads[fours_];
  for (const Load& l : loads(fours_, {start, slot_, 0})) {
    const auto row = in_fours_.find(l.instance);
    if (row == in_fours_.end()) continue;
    row->second = names_.fresh("q");
    const std::string p = at(pointer(fours_), job_.refs[fours_].map.place(l.index));
    w_.line("{} {}", reg_type(a.reg), expand(a.fours, {{"r0", row->second}, {"p", p}}));
    if (!f_.isa->keep.empty()) w_.code(expand(f_.isa->keep, {{"r", row->second}}));
  }
}

// Whether a register is made of one of these.
bool LeafWriter::picked(const Load& load) {
  const auto row = in_fours_.find(load.instance);
  if (step_of_four_ < 0 || row == in_fours_.end()) return false;
  fill_registers(fours_, f_.loads[fours_]->pick, row->second, step_of_four_,
                 {reg(fours_, load.instance)});
  return true;
}

}  // namespace morello
