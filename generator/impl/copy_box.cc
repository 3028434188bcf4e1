#include "impl/copy_box.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace morello {
namespace {

using Pieces = std::vector<Box>;

void add_steps(const AddressMap& map, int dim, std::vector<i64>& steps) {
  for (const AddressTerm& t : map.terms) {
    if (t.dim != dim || t.mod == 1) continue;
    steps.push_back(t.div);
    if (t.mod != 0) steps.push_back(t.div * t.mod);
  }
}

// Offset between x and x + step, where no digit carries but those that `step` is a multiple of.
Offset stride_of(const AddressMap& map, int dim, i64 step) {
  Offset sum;
  for (const AddressTerm& t : map.terms) {
    if (t.dim != dim || t.mod == 1 || step % t.div != 0) continue;
    if (t.mod == 0 || step < t.div * t.mod) sum += t.steps(step / t.div);
  }
  return sum;
}

// One dim: the digits of both sides, refined until each is a digit of both.
class Cutter {
 public:
  Cutter(const AddressMap& packed, const AddressMap& other, int dim)
      : packed_(packed), other_(other), dim_(dim) {
    add_steps(packed, dim, steps_);
    add_steps(other, dim, steps_);
    std::sort(steps_.begin(), steps_.end(), std::greater<>());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
    for (size_t i = 1; i < steps_.size(); ++i) nested_ &= steps_[i - 1] % steps_[i] == 0;
  }
  Pieces elements(i64 extent) const { return nested_ ? nested(extent) : segments(extent); }
  Pieces padding(i64 extent) const;
  i64 padded(i64 extent) const {
    const i64 block = steps_.front();
    return (extent + block - 1) / block * block;
  }

 private:
  BoxDigit digit(i64 count, i64 step) const {
    return {count, stride_of(packed_, dim_, step), stride_of(other_, dim_, step)};
  }
  static Box advanced(Box box, const BoxDigit& d, i64 by) {
    box.packed += by * d.packed;
    box.other += by * d.other;
    return box;
  }
  // `box`, and in each of its places `count` of step i with everything below.
  Box filled(Box box, size_t i, i64 count) const {
    box.digits.push_back(digit(count, steps_[i]));
    for (; i + 1 < steps_.size(); ++i)
      box.digits.push_back(digit(steps_[i] / steps_[i + 1], steps_[i + 1]));
    return box;
  }
  Pieces nested(i64 extent) const;
  Pieces segments(i64 extent) const;

  const AddressMap& packed_;
  const AddressMap& other_;
  const int dim_;
  std::vector<i64> steps_ = {1};  // descending, to 1
  bool nested_ = true;            // each a multiple of the next
};

Pieces Cutter::nested(i64 extent) const {
  Pieces pieces;
  Box at;
  for (size_t i = 0; extent > 0; ++i) {
    const i64 count = extent / steps_[i];
    extent %= steps_[i];
    if (count > 0) pieces.push_back(filled(at, i, count));
    at = advanced(at, digit(1, steps_[i]), count);
  }
  return pieces;
}

// Blocks of 6 on one side, of 16 on the other: the pattern repeats after 48, and neither side has a
// block end between neighbouring cuts.
Pieces Cutter::segments(i64 extent) const {
  i64 period = 1;
  for (i64 step : steps_) period = std::lcm(period, step);
  Pieces pieces;
  const BoxDigit whole = digit(extent / period, period);
  auto add = [&](i64 from, i64 to, Box piece) {
    Extents index{};
    index[dim_] = from;
    piece.packed += packed_.place(index);
    piece.other += other_.place(index);
    piece.digits.push_back(digit(to - from, 1));
    pieces.push_back(piece);
  };
  auto add_all = [&](i64 end, const Box& piece) {
    for (i64 from = 0, to = 0; from < end; from = to) {
      to = end;
      for (i64 step : steps_)
        if (step > 1) to = std::min(to, (from / step + 1) * step);
      add(from, to, piece);
    }
  };
  if (whole.count > 0) add_all(period, {.digits = {whole}});
  add_all(extent % period, advanced({}, whole, whole.count));
  return pieces;
}

Pieces Cutter::padding(i64 extent) const {
  Pieces pieces;
  Box at;
  i64 count = padded(extent) / steps_.front();
  for (size_t i = 0; i < steps_.size() && extent > 0; ++i) {
    if (i > 0) count = steps_[i - 1] / steps_[i];
    const i64 full = extent / steps_[i];
    extent %= steps_[i];
    const i64 used = full + (extent > 0 ? 1 : 0);
    const BoxDigit d = digit(1, steps_[i]);
    if (used < count) pieces.push_back(filled(advanced(at, d, used), i, count - used));
    at = advanced(at, d, full);
  }
  return pieces;
}

// The elements of an elastic dim, which has one digit.
Pieces all_of(const Cutter& cutter, int dim, i64 extent, unsigned elastic) {
  Pieces pieces = cutter.elements(extent);
  if ((elastic >> dim & 1) == 0) return pieces;
  MORELLO_CHECK(pieces.size() == 1 && pieces[0].digits.size() == 1, "dim {} lies in blocks", dim);
  pieces[0].digits[0].elastic = dim;
  return pieces;
}

void add_piece(Box& box, const Box& p) {
  box.packed += p.packed;
  box.other += p.other;
  box.digits.insert(box.digits.end(), p.digits.begin(), p.digits.end());
}

// Every box with every piece beside it.
void multiply(std::vector<Box>& boxes, const Pieces& pieces) {
  if (pieces.size() == 1) {  // mostly
    for (Box& b : boxes) add_piece(b, pieces.front());
    return;
  }
  std::vector<Box> product;
  for (const Box& b : boxes)
    for (const Box& p : pieces) add_piece(product.emplace_back(b), p);
  boxes = std::move(product);
}

// Digits in order; where one continues another on both sides, the two become one.
void join(Box& box) {
  std::erase_if(box.digits, [](const BoxDigit& d) { return d.count == 1 && d.elastic < 0; });
  std::stable_sort(box.digits.begin(), box.digits.end(), [](const BoxDigit& a, const BoxDigit& b) {
    return a.packed.assumed() > b.packed.assumed();
  });
  std::vector<BoxDigit> joined;
  for (BoxDigit d : box.digits) {
    if (!joined.empty() && joined.back().elastic < 0 && d.elastic < 0 &&
        joined.back().packed == d.count * d.packed && joined.back().other == d.count * d.other) {
      d.count *= joined.back().count;
      joined.pop_back();
    }
    joined.push_back(d);
  }
  box.digits = std::move(joined);
}

}  // namespace

std::vector<Box> element_boxes(const AddressMap& packed, const AddressMap& other,
                               const Extents& extent, unsigned elastic) {
  std::vector<Box> boxes(1);
  for (int d = 0; d < kMaxDims; ++d)
    if (packed.touches(d)) multiply(boxes, all_of(Cutter(packed, other, d), d, extent[d], elastic));
  for (Box& b : boxes) join(b);
  return boxes;
}

std::vector<Box> padding_boxes(const AddressMap& packed, const Extents& extent, unsigned elastic) {
  const AddressMap none;
  std::vector<Box> all;
  for (int d = 0; d < kMaxDims; ++d) {
    if (!packed.touches(d)) continue;
    std::vector<Box> boxes(1);
    for (int e = 0; e < kMaxDims; ++e) {
      if (!packed.touches(e)) continue;
      const Cutter cutter(packed, none, e);
      multiply(boxes, e == d  ? cutter.padding(extent[e])
                      : e < d ? all_of(cutter, e, extent[e], elastic)
                              : all_of(cutter, e, cutter.padded(extent[e]), elastic));
    }
    for (Box& b : boxes) join(b);
    all.insert(all.end(), boxes.begin(), boxes.end());
  }
  return all;
}

i64 run_of(const Box& box) {
  const bool dense =
      !box.digits.empty() && box.digits.back().packed == 1 && box.digits.back().elastic < 0;
  return dense ? box.digits.back().count : 1;
}

Box whole_box(const AddressMap& map, const Extents& extent, unsigned elastic) {
  const AddressMap none;
  std::vector<Box> boxes(1);
  for (int d = 0; d < kMaxDims; ++d) {
    if (!map.touches(d)) continue;
    const Cutter cutter(map, none, d);
    multiply(boxes, all_of(cutter, d, cutter.padded(extent[d]), elastic));
  }
  MORELLO_CHECK(boxes.size() == 1, "a tile of {} boxes", boxes.size());
  join(boxes[0]);
  return boxes[0];
}

}  // namespace morello
