// LatticePage: from points of a lattice to 4-byte cells (0: none), in as few bytes as the points
// allow and with no key per point where they lie close together. One of three forms, chosen anew
// whenever it has to grow:
// - dense: a grid over the bounding box; at least half full, so at most 8 bytes a point;
// - ranked: a bit per place of the bounding box with a count of ones per 64, and the cells of the
//   points alone, in order; for boxes down to a 32nd full, 5 to 12 bytes a point;
// - hashed: a table of points and cells, for what is far apart, such as (0,0) and (65535,65535).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace morello {

// A bounding box in a lattice, row by row, the last coordinate fastest.
template <int kDims>
struct Frame {
  using Point = std::array<std::uint16_t, kDims>;
  Point origin{}, span{};  // least coordinates, and greatest less least

  // Places, or more than any page may have.
  std::uint64_t volume() const {
    std::uint64_t places = 1;
    for (std::uint64_t s : span)
      if (places < std::uint64_t{1} << 40) places *= s + 1;
    return places;
  }
  // Position of a point, or false if it lies outside.
  bool locate(const Point& point, std::size_t& index) const {
    const Part all = part<0, kDims>(point);
    index = all.at;
    return all.outside == 0;
  }
  // f(point) for all, in order.
  template <typename F>
  void visit(F&& f) const {
    Point at = origin;
    for (;;) {
      f(std::as_const(at));
      int d = kDims - 1;
      while (d >= 0 && at[d] - origin[d] == span[d]) {
        at[d] = origin[d];
        --d;
      }
      if (d < 0) return;
      ++at[d];
    }
  }

 private:
  struct Part {
    std::size_t at, size;
    int outside;
  };
  // By halves: the chain of multiplications is as short as it can be.
  template <int kFirst, int kLast>
  Part part(const Point& point) const {
    if constexpr (kLast - kFirst == 1) {
      const std::uint32_t step = std::uint32_t{point[kFirst]} - origin[kFirst];
      return {step, span[kFirst] + std::size_t{1}, int{step > span[kFirst]}};
    } else {
      constexpr int kMiddle = (kFirst + kLast) / 2;
      const Part a = part<kFirst, kMiddle>(point);
      const Part b = part<kMiddle, kLast>(point);
      return {a.at * b.size + b.at, a.size * b.size, a.outside | b.outside};
    }
  }
};

template <int kDims>
class LatticePage {
 public:
  using Point = typename Frame<kDims>::Point;

  std::uint32_t points() const { return count_; }

  // The cell of a point, or 0.
  std::uint32_t at(const Point& point) const {
    std::size_t i;
    if (form_ == Form::kHashed) return cells_[hashed(point)];
    if (!frame_.locate(point, i)) return 0;
    if (form_ == Form::kDense) return cells_[i];
    const Block& block = blocks_[i / 64];
    const std::uint64_t bit = std::uint64_t{1} << i % 64;
    return (block.mask & bit) != 0 ? cells_[block.before + ones(block.mask & (bit - 1))] : 0;
  }

  // The cell of a point, 0 if it is new; the caller fills it before the next call.
  std::uint32_t& place(const Point& point) {
    std::size_t i = 0;
    const bool inside = count_ > 0 && form_ != Form::kHashed && frame_.locate(point, i);
    if (inside && form_ == Form::kDense) {
      count_ += cells_[i] == 0;
      return cells_[i];
    }
    if (inside && (blocks_[i / 64].mask >> i % 64 & 1) != 0) return cells_[rank(i)];
    if (form_ == Form::kHashed) {
      i = hashed(point);
      if (cells_[i] != 0) return cells_[i];
    }
    if (!(inside && count_ < room_) && !(form_ == Form::kHashed && has_slots())) {
      grow(point);
    } else if (form_ == Form::kHashed) {
      frame_ = around(point, 0);
    }
    ++count_;
    return add(point);
  }

  // f(point, cell) for all points; in order, but for hashed pages.
  template <typename F>
  void visit(F&& f) const {
    if (form_ == Form::kHashed) {
      for (std::size_t i = 0; i < room_; ++i)
        if (cells_[i] != 0) f(points_[i], cells_[i]);
      return;
    }
    if (count_ == 0) return;
    std::size_t i = 0, next = 0;
    frame_.visit([&](const Point& p) {
      if (form_ == Form::kDense && cells_[i] != 0) f(p, cells_[i]);
      if (form_ == Form::kRanked && (blocks_[i / 64].mask >> i % 64 & 1) != 0) f(p, cells_[next++]);
      ++i;
    });
  }
  bool is_ordered() const { return form_ != Form::kHashed; }

  // Allocated, with what malloc adds: 8 bytes a block, and about 8 to a multiple of 16.
  std::size_t bytes() const {
    constexpr std::size_t kMalloc = 16;
    std::size_t sum = 0;
    if (cells_) sum += room_ * sizeof(std::uint32_t) + kMalloc;
    if (blocks_) sum += blocks_of(frame_) * sizeof(Block) + kMalloc;
    if (points_) sum += room_ * sizeof(Point) + kMalloc;
    return sum;
  }

 private:
  enum class Form : std::uint32_t { kDense, kRanked, kHashed };
  struct Block {
    std::uint64_t mask = 0;
    std::uint32_t before = 0;  // ones of the blocks before
  };
  // Inserting into a ranked page moves half of its cells.
  static constexpr std::uint64_t kMostRanked = 4096;

  static std::size_t blocks_of(const Frame<kDims>& frame) { return (frame.volume() + 63) / 64; }

  // std::popcount is a call where the compiler may not assume the instruction.
  static std::uint32_t ones(std::uint64_t x) {
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return static_cast<std::uint32_t>(x * 0x0101010101010101 >> 56);
  }
  std::size_t rank(std::size_t i) const {
    const Block& block = blocks_[i / 64];
    return block.before + ones(block.mask & ((std::uint64_t{1} << i % 64) - 1));
  }

  std::size_t hashed(const Point& point) const {
    std::uint64_t h = 0;
    for (std::uint64_t x : point) h = (h ^ x) * 0x9E3779B97F4A7C15;
    std::size_t i = (h ^ h >> 32) * 0xD6E8FEB86659FD93 >> 32 & (room_ - 1);
    while (cells_[i] != 0 && points_[i] != point) i = (i + 1) & (room_ - 1);
    return i;
  }
  bool has_slots() const { return 4 * (count_ + std::size_t{1}) <= 3 * std::size_t{room_}; }
  // Slots of a hash table for so many points.
  static std::uint32_t slots_for(std::uint64_t points) {
    std::uint32_t slots = 4;
    while (3 * std::uint64_t{slots} < 4 * points) slots *= 2;
    return slots;
  }

  // A new point in a page that has room for it.
  std::uint32_t& add(const Point& point) {
    std::size_t i;
    if (form_ == Form::kHashed) {
      i = hashed(point);
      points_[i] = point;
      return cells_[i];
    }
    frame_.locate(point, i);
    if (form_ == Form::kDense) return cells_[i];
    const std::size_t at = rank(i);
    std::copy_backward(&cells_[at], &cells_[count_ - 1], &cells_[count_]);
    blocks_[i / 64].mask |= std::uint64_t{1} << i % 64;
    const std::size_t blocks = blocks_of(frame_);
    for (std::size_t b = i / 64 + 1; b < blocks; ++b) ++blocks_[b].before;
    return cells_[at] = 0;
  }

  // The frame with a point in it; with slack, an eighth of every span that grows, so that a page
  // that grows step by step is copied a bounded number of times.
  Frame<kDims> around(const Point& point, int slack) const {
    if (count_ == 0) return {point, {}};
    Frame<kDims> frame;
    for (int d = 0; d < kDims; ++d) {
      int low = frame_.origin[d];
      int high = low + frame_.span[d];
      const int spare = slack * (high - low) / 8;
      if (point[d] < low) low = std::max(0, point[d] - spare);
      if (point[d] > high) high = std::min(0xFFFF, point[d] + spare);
      frame.origin[d] = static_cast<std::uint16_t>(low);
      frame.span[d] = static_cast<std::uint16_t>(high - low);
    }
    return frame;
  }

  static Form form_for(std::uint64_t volume, std::uint64_t points) {
    const bool may_rank = points <= kMostRanked;
    if (volume <= (may_rank ? 2 : 8) * points + 8) return Form::kDense;
    return may_rank && volume <= 32 * points + 64 ? Form::kRanked : Form::kHashed;
  }

  // Makes room for one more point, in the form that suits then.
  void grow(const Point& point) {
    const std::uint64_t points = count_ + std::uint64_t{1};
    const Frame<kDims> least = around(point, 0);
    const Frame<kDims> spare = around(point, 1);
    LatticePage grown;
    grown.form_ = form_for(least.volume(), points);
    grown.frame_ = grown.form_ != Form::kHashed && form_for(spare.volume(), points) == grown.form_
                       ? spare
                       : least;
    switch (grown.form_) {
      case Form::kDense:
        grown.room_ = static_cast<std::uint32_t>(grown.frame_.volume());
        break;
      case Form::kRanked:
        grown.room_ = static_cast<std::uint32_t>(points + points / 8 + 2);
        grown.blocks_ = std::make_unique<Block[]>(blocks_of(grown.frame_));
        break;
      case Form::kHashed:
        grown.room_ = slots_for(points);
        grown.points_ = std::make_unique<Point[]>(grown.room_);
        break;
    }
    grown.cells_ = std::make_unique<std::uint32_t[]>(grown.room_);
    copy_to(grown);
    *this = std::move(grown);
  }
  void copy_to(LatticePage& grown) const {
    if (grown.form_ != Form::kRanked || form_ == Form::kHashed) {
      visit([&](const Point& p, std::uint32_t cell) {
        ++grown.count_;
        grown.add(p) = cell;
      });
      return;
    }
    // In order: no cell has to make way.
    visit([&](const Point& p, std::uint32_t cell) {
      std::size_t i;
      grown.frame_.locate(p, i);
      grown.blocks_[i / 64].mask |= std::uint64_t{1} << i % 64;
      grown.cells_[grown.count_++] = cell;
    });
    std::uint32_t before = 0;
    for (std::size_t b = 0; b < blocks_of(grown.frame_); ++b) {
      grown.blocks_[b].before = before;
      before += ones(grown.blocks_[b].mask);
    }
  }

  std::unique_ptr<std::uint32_t[]> cells_;
  std::unique_ptr<Block[]> blocks_;  // of a ranked page
  std::unique_ptr<Point[]> points_;  // of a hashed page
  Frame<kDims> frame_;               // holds all points
  std::uint32_t count_ = 0;          // points
  std::uint32_t room_ = 0;           // cells allocated
  Form form_ = Form::kDense;
};

}  // namespace morello
