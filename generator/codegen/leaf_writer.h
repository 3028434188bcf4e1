// The class behind leaf_function(): loops are in leaf.cc, loads in leaf_load.cc, elements in fours
// in leaf_fours.cc, what becomes of the sums in leaf_store.cc and leaf_fold.cc, what is asked for
// in leaf_ask.cc.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/access.h"
#include "codegen/functions.h"
#include "codegen/leaf.h"
#include "impl/family.h"
#include "impl/folding.h"

namespace morello {

// The parameter that points to a tensor; `out` is the number of the output.
inline std::string leaf_pointer(int tensor, int out) {
  if (tensor > out) return fmt::format("pe{}", tensor - out - 1);
  return {'p', tensor == out ? 'c' : static_cast<char>('a' + tensor)};
}

class LeafWriter {
 public:
  LeafWriter(Functions& functions, const Problem& p, const LeafJob& job);
  Body body();
  const std::string& params() const { return params_; }

 private:
  struct Slot {
    i64 start = 0;  // along inner_, from the pointers
    i64 valid = 0;  // elements
    i64 set = 0;
  };
  // One use of a load row: the instances it fills and where they lie.
  struct Load {
    Extents instance{};  // of the first register
    Extents index{};     // of its first element
  };

  // Rows of the output tile that are asked for one after the other.
  struct OutputRows {
    int dim = -1;
    i64 count = 1;
    Offset step;
    std::vector<Offset> lines;  // of the first one
    std::string name;           // of the variable that counts them
  };

  // How extras are loaded.
  struct Beside {
    const std::vector<const Access*>& loads;
    Dtype type;
    int lanes;
    // Of the elements of these four, and how; null: of vectors, or of one element.
    std::span<const Extents> four = {};
    const Fold* fold = nullptr;
  };

  void choose_inner();
  void choose_fours();
  void load_fours(i64 start);
  bool picked(const Load& load);
  std::string params_of_job() const;
  void name_strides();
  bool touches(int o, int d) const { return morello::touches(c_.operands[o], d); }
  bool elastic(int d) const { return d >= 0 && p_.part.is_elastic(d); }
  // Whether how many lanes there are is known by each call only.
  bool masks_lanes() const { return elastic(f_.lane) && !k_.lanes_reduce; }
  bool lanes_along(int o) const { return f_.lane >= 0 && touches(o, f_.lane); }
  std::string_view reg_type(Dtype t) const;
  // How the body finds extras, and what is made of sums or of elements.
  Beside in_body() const { return {f_.body_extras, c_.compute, k_.lanes}; }
  Beside at_end() const { return {f_.extras, c_.result(), k_.lanes_reduce ? 1 : k_.lanes}; }
  bool overlaps(int o) const { return overlap_ && overlap_->input == o; }
  Extents element_of(int o, Extents instance) const;
  std::string reg(int o, const Extents& instance, i64 set = 0) const;
  char letter(int o) const { return o == out_ ? 'c' : static_cast<char>('a' + o); }
  std::string stem(int t) const { return leaf_pointer(t, out_); }
  std::string pointer(int o) const { return pointers_[o]; }
  Extents output_instances() const;
  void each(const Extents& counts, auto visit) const;

  std::vector<Load> loads(int o, const Slot& slot) const;
  bool fills(int o, const Load& load, const Extents& instance) const;
  std::vector<Offset> along_lanes(int t, Extents index, i64 n) const;
  i64 valid_elements(int o, const Load& load, const Slot& slot) const;
  void load(int o, const Load& load, const Slot& slot);
  void fill_registers(int o, std::string_view code, const std::string& p, i64 n,
                      const std::vector<std::string>& regs, const std::string& counted = "");
  i64 uses(int o) const;
  bool kept(int o) const;
  bool windows(int o) const;
  bool pinned() const;

  std::string lanes_there(const Extents& instance) const;
  void count_lanes();
  void accumulators();
  void reductions(size_t next);
  void inner_loop();
  void elastic_loop();
  void iteration(i64 slots);
  void whole_slots(i64 slots);
  void slot_alone(const Slot& s);
  void slot(const Slot& s);
  std::string_view instruction() const;
  void apply(const Extents& instance, const Slot& s);
  std::string counted(const Term& t, const std::string& value, const Extents& instance,
                      const Slot& s);
  void prefetch(int o, const Load& l);
  i64 iterations() const;
  i64 times_in_loop() const;
  void ask_next(size_t i);
  void ask_before();
  std::vector<Offset> lines_of_row(Extents row) const;
  std::optional<OutputRows> rows_in_turn() const;
  void ask_for_lines(const std::string& row, const std::vector<Offset>& lines);
  void ask_for_output();
  void ask_for_row();
  i64 slots_per_iteration() const;
  i64 unfollowed(i64 slots) const;
  void elementwise();
  void add_old();
  void join(const std::string& to, const std::string& from, int lanes);
  void join_sets();
  void store_all();
  bool finishes_apart() const;
  void finish_apart();
  void store(const Extents& instance);
  void store_vector(const Extents& instance, const std::string& value);
  void store_scalar(const Extents& instance);
  void store_sum(const Extents& instance, const std::string& sum);
  void store_element(const Extents& instance, const std::string& value);
  std::string old_element(const Extents& instance);
  void fold_all(const Folding& how);
  std::string folded(std::string_view shuffle, const std::string& a, const std::string& b);
  void join_lanes(const std::string& to, const std::string& from);
  void fold(const Folding& how, std::span<const Extents> registers);
  void fold_four(const Folding& how, std::span<const Extents> registers,
                 const std::array<std::string, kFold>& sums);
  void add_old_four(const Fold& row, const std::string& p, const std::string& sums);
  void set_four(const Fold& row, const std::string& reg, const std::array<std::string, kFold>& e);
  std::string finished_four(const Fold& made, std::span<const Extents> four,
                            const std::string& sums);
  std::array<std::string, kFold> elements(const Fold& row, Dtype type, const std::string& value);
  void load_body_extras();
  void load_shared_extras();
  Extents index_of_extra(int e, const Extents& instance) const;
  std::string extra(int e, const Beside& b, const Extents& instance);
  std::string extra_of_four(int e, const Beside& b);
  std::vector<std::string> terms(const Expression& e, const Beside& b, const Extents& instance,
                                 const std::string& value);
  std::vector<Offset> output_offsets(const Extents& instance) const;

  Functions& functions_;
  const Problem& p_;
  const Computation& c_;
  const Family& f_;
  const Kernel& k_;
  LeafJob job_;
  const int out_;
  const bool finishes_;            // what it stores is made of the sums
  const std::vector<int> places_;  // terms that the row takes
  const Expression before_;        // what is made of inputs before that
  int inner_ = -1;                 // innermost reduction dim
  std::vector<int> outer_;         // other reduction dims of the tile
  i64 regs_ = 1;                   // most registers filled by one load
  i64 slot_ = 1;                   // reduction elements per slot
  i64 sets_ = 1;
  std::string params_;
  Extents count_{};  // instances per slot and dim
  Extents unit_{};   // elements per instance
  bool prefetches_ = false;
  enum class Half { kNone, kFirst, kSecond } half_ = Half::kNone;  // of two slots taken as one
  std::map<Extents, std::string> first_;                           // what the first one has
  std::set<std::pair<std::string, i64>> lines_ahead_;              // asked for in this iteration
  std::optional<Overlap> overlap_;           // of several windows where the user put them
  int fours_ = -1;                           // the input that is broadcast in fours
  std::map<Extents, std::string> in_fours_;  // ... which registers of it, and what brings them
  i64 step_of_four_ = -1;                    // that slots are of; -1: of none
  std::optional<OutputRows> asked_rows_;     // of the output, in turn
  std::array<std::string, kMaxOperands> pointers_;
  // Registers, by index of the element, or of all four.
  std::map<std::pair<int, std::vector<Extents>>, std::string> extras_;
  Writer w_;
  Names names_;
};

// Visits all points below `counts`, the last dim fastest.
void LeafWriter::each(const Extents& counts, auto visit) const {
  Extents at{};
  while (true) {
    visit(at);
    int d = kMaxDims - 1;
    while (d >= 0 && ++at[d] == counts[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace morello
