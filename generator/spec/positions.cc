#include "spec/positions.h"

#include <set>

#include "spec/algebra.h"
#include "spec/elements.h"
#include "spec/rows.h"

namespace morello {

static bool sums_positions(const Computation& c) {
  return std::any_of(c.dims.begin(), c.dims.end(),
                     [](const Dim& d) { return d.reduction && !d.size.empty(); });
}

bool sums_positions(const KernelSpec& spec) {
  return spec.sizes().size() == 1 &&
         std::any_of(spec.stages.begin(), spec.stages.end(),
                     [](const Stage& s) { return sums_positions(s.computation); });
}

namespace {

// Which stages a run of positions has, and what others make of their sums.
class Cutting {
 public:
  // With several positions, whatever number is expected: dims of a single element are no dims.
  explicit Cutting(const KernelSpec& spec)
      : spec_(among_rows(expecting(spec, {{rows_size(spec).name, 2 * rows_size(spec).granule}}))),
        draft_(apart(spec_)) {}

  Positions run() {
    std::optional<ShiftedSums> shifted = shifted_sums(apart(spec_));
    if (!shifted) return unshifted();
    if (!multiplies(*shifted)) {
      Positions steps = unshifted();
      if (sums_positions(steps.rest) && !positions(steps.rest).kept.empty()) return steps;
    }
    draft_ = std::move(shifted->draft);
    max_ = shifted->max;
    exp_ = shifted->exp;
    shifted_ = {shifted->sums.begin(), shifted->sums.end()};
    return choose() ? cut() : unshifted();
  }

 private:
  static Graph apart(const KernelSpec& spec) { return graph_of(spec, Dims::kApart); }

  Positions unshifted() {
    draft_ = Draft(apart(spec_));
    max_ = exp_ = -1;
    shifted_.clear();
    choose();
    return cut();
  }

  Positions cut() {
    for (int& sum : sums_) split(sum);
    keep();
    std::vector<int> kept;
    for (const auto& [tensor, result] : kept_) kept.push_back(result);
    return {part(), join(), rest(), std::move(kept)};
  }

  // Products of what is shifted: as in attention, where exponentials are the lesser part.
  static bool multiplies(ShiftedSums& s) {
    return std::any_of(s.sums.begin(), s.sums.end(),
                       [&](int t) { return s.draft.at(t).stage.computation.inputs() > 1; });
  }

  // The sums that need no other ones over positions, whatever is made of them. False: sums of
  // exponentials do.
  bool choose() {
    std::vector<int> finished;
    for (const Draft::Item& i : draft_.items)
      if (sums_positions(i.stage.computation) && is_finished(i.stage)) finished.push_back(i.tensor);
    for (const int t : finished) split_sum(draft_, t);
    sums_.clear();
    std::set<int> ready;  // sums, and what is made of some
    for (const Draft::Item& i : draft_.items) {
      const bool waits =
          std::any_of(i.stage.arguments.begin(), i.stage.arguments.end(),
                      [&](int t) { return ready.contains(t) && !(t == max_ && i.tensor == exp_); });
      const bool sums = sums_positions(i.stage.computation);
      if (sums && !waits) sums_.push_back(i.tensor);
      if (sums || waits) ready.insert(i.tensor);
    }
    const auto chosen = [&](int t) {
      return std::find(sums_.begin(), sums_.end(), t) != sums_.end();
    };
    return max_ < 0 || (chosen(max_) && std::all_of(shifted_.begin(), shifted_.end(), chosen));
  }

  // A sum as it is added up, and what is made of it, or a copy that is a result, by itself.
  void split(int& sum) {
    const bool result =
        std::find(draft_.results.begin(), draft_.results.end(), sum) != draft_.results.end();
    const Draft::Item& item = draft_.at(sum);
    if (item.stage.computation.gathers_in_output() && item.stage.border.empty() && !result) return;
    const int before = sum;
    sum = split_sum(draft_, sum);
    if (shifted_.erase(before) > 0) shifted_.insert(sum);
    if (before != max_) return;
    max_ = sum;
    for (int& t : draft_.at(exp_).stage.arguments)
      if (t == before) t = sum;
    // Its copy stands where the exponentials read it.
    order();
  }

  void order() {
    std::vector<Draft::Item> all;
    std::set<int> made;
    while (all.size() < draft_.items.size())
      for (const Draft::Item& i : draft_.items) {
        const bool ready = std::all_of(
            i.stage.arguments.begin(), i.stage.arguments.end(),
            [&](int t) { return t < static_cast<int>(draft_.params.size()) || made.contains(t); });
        if (ready && made.insert(i.tensor).second) all.push_back(i);
      }
    draft_.items = std::move(all);
  }

  // What these tensors need; `given` are there.
  static void keep_needed(Draft& d, const std::vector<int>& given) {
    std::set<int> needed(d.results.begin(), d.results.end());
    for (const int t : given) needed.erase(t);
    std::vector<Draft::Item> kept;
    for (auto i = d.items.rbegin(); i != d.items.rend(); ++i) {
      if (!needed.contains(i->tensor)) continue;
      for (const int t : i->stage.arguments)
        if (std::find(given.begin(), given.end(), t) == given.end()) needed.insert(t);
      kept.insert(kept.begin(), *i);
    }
    d.items = std::move(kept);
  }

  // What stages need sums for, and those.
  std::set<int> waiting() const {
    std::set<int> out(sums_.begin(), sums_.end());
    for (const Draft::Item& i : draft_.items)
      for (const int t : i.stage.arguments)
        if (out.contains(t)) out.insert(i.tensor);
    return out;
  }

  // What costs a function to compute again, and one stage alone makes a result of.
  void keep() {
    kept_.clear();
    const std::set<int> waits = waiting();
    for (size_t r = 0; r < draft_.results.size(); ++r) {
      const int result = draft_.results[r];
      for (const int t :
           waits.contains(result) ? draft_.at(result).stage.arguments : std::vector<int>()) {
        if (!can_keep(t, result, waits)) continue;
        kept_.emplace_back(t, static_cast<int>(r));
        const Param& like = draft_.at(result).made;
        lay_out(draft_, t, like.layout, like.strided);
        break;
      }
    }
  }

  static bool alike(const Param& a, const Param& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
  int params() const { return static_cast<int>(draft_.params.size()); }

  bool can_keep(int t, int result, const std::set<int>& waits) {
    const auto is = [t](int other) { return other == t; };
    if (t < params() || waits.contains(t)) return false;
    if (std::any_of(draft_.results.begin(), draft_.results.end(), is)) return false;
    const Draft::Item &made = draft_.at(t), &reader = draft_.at(result);
    const Computation& c = reader.stage.computation;
    if (count_functions(made.stage.computation.body) == 0 || !made.stage.border.empty() ||
        c.reduces() || !reader.stage.border.empty())
      return false;
    if (!alike(made.made, reader.made)) return false;
    if (rows_axis(made.made, rows_size(spec_).name) < 0) return false;
    for (size_t a = 0; a < reader.stage.arguments.size(); ++a) {
      const int read = reader.stage.arguments[a];
      const bool elements = c.tensor(c.tensor_of(static_cast<int>(a))).axes == c.output().axes;
      if (is(read) && !elements) return false;
      // Of a rest: it may be there already.
      if (read < params() && elements &&
          alike(draft_.params[static_cast<size_t>(read)], reader.made))
        return false;
    }
    // Once results are being made, nobody else may read it.
    return std::all_of(draft_.items.begin(), draft_.items.end(), [&](const Draft::Item& i) {
      const std::vector<int>& read = i.stage.arguments;
      return i.tensor == result || !waits.contains(i.tensor) ||
             std::none_of(read.begin(), read.end(), is) ||
             std::find(sums_.begin(), sums_.end(), i.tensor) != sums_.end();
    });
  }

  // In memory, as another one of the same shape.
  static void lay_out(Draft& d, int tensor, const Layout& layout, bool strided) {
    const auto set = [&](auto& o) {
      if (o.shape.empty()) return;  // read as one number
      o.layout = layout;
      o.strided = strided;
    };
    set(d.at(tensor).made);
    set(d.at(tensor).stage.computation.operands.back());
    for (Draft::Item& i : d.items)
      for (size_t a = 0; a < i.stage.arguments.size(); ++a)
        if (i.stage.arguments[a] == tensor) {
          Computation& c = i.stage.computation;
          set(c.tensor(c.tensor_of(static_cast<int>(a))));
        }
  }

  // What is a result of the whole and none of this lies between stages here.
  KernelSpec kernel(Draft d) const {
    for (const Draft::Item& i : d.items)
      if (std::find(d.results.begin(), d.results.end(), i.tensor) == d.results.end())
        lay_out(d, i.tensor, Layout::row(static_cast<int>(i.made.shape.size())), false);
    return d.kernel(spec_.sizes());
  }

  // Sums, then what is kept.
  std::vector<int> results_of_part() const {
    std::vector<int> out = sums_;
    for (const auto& [tensor, result] : kept_) out.push_back(tensor);
    return out;
  }

  KernelSpec part() const {
    Draft d = draft_;
    d.results = results_of_part();
    keep_needed(d, {});
    if (exp_ >= 0) {  // others than these may be greater
      Expression& e = d.at(exp_).stage.computation.body;
      e = bounded_shift(e);
    }
    return kernel(std::move(d));
  }

  KernelSpec rest() const {
    Draft d = draft_;
    const std::vector<int> made = results_of_part();
    keep_needed(d, made);
    const auto given = static_cast<int>(d.params.size()), more = static_cast<int>(made.size());
    const auto number = [&](int t) {  // they become parameters behind those of the kernel
      const auto at = std::find(made.begin(), made.end(), t);
      if (at != made.end()) return given + static_cast<int>(at - made.begin());
      return t < given ? t : t + more;
    };
    for (const int t : made) d.params.push_back(draft_.items[draft_.find(t)].made);
    for (Draft::Item& i : d.items) {
      i.tensor = number(i.tensor);
      for (int& t : i.stage.arguments) t = number(t);
    }
    for (int& t : d.results) t = number(t);
    return kernel(std::move(d));
  }

  KernelSpec join() const;

  const KernelSpec spec_;
  Draft draft_;
  int max_ = -1, exp_ = -1;                // tensors; -1: there are no exponentials
  std::set<int> shifted_;                  // sums over these
  std::vector<int> sums_;                  // tensors
  std::vector<std::pair<int, int>> kept_;  // tensors, and which result each becomes
};

// The kernel that makes sums over two runs one.
class Joining {
 public:
  Joining(const Graph& g, std::vector<int> sums, int max) : g_(g), sums_(std::move(sums)) {
    for (const bool second : {false, true})
      for (const int t : sums_) {
        Param p = g_.tensors[t];
        p.name += second ? "_more" : "_before";
        draft_.params.push_back(std::move(p));
      }
    draft_.next = 2 * count();
    max_ = static_cast<int>(std::find(sums_.begin(), sums_.end(), max) - sums_.begin());
  }

  KernelSpec kernel(const std::set<int>& shifted) {
    if (max_ < count()) {
      const int most = both(max_);
      for (const bool second : {false, true}) growth_.push_back(growth(most, second));
      order_[max_] = most;
    }
    for (int i = 0; i < count(); ++i)
      if (i != max_)
        order_[i] = shifted.contains(sums_[static_cast<size_t>(i)]) ? scaled(i) : both(i);
    for (const auto& [sum, tensor] : order_) draft_.results.push_back(tensor);
    return draft_.kernel({});
  }

 private:
  int count() const { return static_cast<int>(sums_.size()); }
  int stage_of(int sum) const { return sums_[static_cast<size_t>(sum)] - g_.params; }
  const Computation& computation(int sum) const { return g_.stages[stage_of(sum)].computation; }

  // A stage on elements of a sum, without what it reads.
  Draft::Item on(int sum, const std::string& suffix, Elements& e) {
    const Computation& c = computation(sum);
    Draft::Item out;
    out.tensor = draft_.next++;
    Operand made = between(c.output(), g_.tensors[sums_[static_cast<size_t>(sum)]].name + suffix,
                           c.output().dtype);
    out.made = tensor_of(made);
    e = on_elements(c, std::move(made));
    out.stage.computation = e.c;
    out.stage.computation.compute = c.compute;
    return out;
  }
  static void read(Draft::Item& item, const Param& p, int tensor) {
    Computation& c = item.stage.computation;
    Operand o = c.output();
    o.name = p.name;
    c.operands.insert(c.operands.end() - 1, std::move(o));
    item.stage.arguments.push_back(tensor);
  }
  int add(Draft::Item item) {
    draft_.items.push_back(std::move(item));
    return draft_.items.back().tensor;
  }
  const Param& given(int t) const { return draft_.params[static_cast<size_t>(t)]; }

  int both(int sum) {
    Elements e;
    Draft::Item item = on(sum, "", e);
    for (const int t : {sum, count() + sum}) read(item, given(t), t);
    const Dtype type = computation(sum).compute;
    item.stage.computation.body = {
        read_input(0, type),
        read_input(1, type),
        {.fn = joined_by(computation(sum).combine), .type = type, .a = 0, .b = 1}};
    return add(std::move(item));
  }

  // exp(maximum of a run - that of both)
  int growth(int most, bool second) {
    Elements e;
    Draft::Item item = on(max_, second ? "_growth_more" : "_growth", e);
    const int run = second ? count() + max_ : max_;
    read(item, given(run), run);
    read(item, draft_.at(most).made, most);
    item.stage.computation.body = growth_of_inputs();
    return add(std::move(item));
  }

  int scaled(int sum) {
    Elements e;
    Draft::Item item = on(sum, "", e);
    for (const int t : {sum, count() + sum}) read(item, given(t), t);
    Computation& c = item.stage.computation;
    Operand by = computation(max_).output();
    std::vector<int> dims;  // of the maxima
    for (size_t d = 0; d < computation(max_).dims.size(); ++d) {
      const int graph_dim = g_.dim_of(stage_of(max_), static_cast<int>(d));
      const int own =
          g_.dims[static_cast<size_t>(graph_dim)].in_stage[static_cast<size_t>(stage_of(sum))];
      dims.push_back(own < 0 ? -1 : e.to[static_cast<size_t>(own)]);
    }
    map_dims(by, dims);
    by.layout = Layout::row(static_cast<int>(by.shape.size()));
    for (const int growth : growth_) {
      by.name = draft_.at(growth).made.name;
      c.extras.push_back(by);
      item.stage.arguments.push_back(growth);
    }
    c.body = {read_input(0), read_extra(0),          binary(Fn::kMul, 0, 1), read_input(1),
              read_extra(1), binary(Fn::kMul, 3, 4), binary(Fn::kAdd, 2, 5)};
    return add(std::move(item));
  }

  const Graph& g_;
  const std::vector<int> sums_;  // tensors of the graph
  Draft draft_;
  int max_;                  // which of them; behind all: none
  std::vector<int> growth_;  // tensors: of the first run, and of the second
  std::map<int, int> order_;
};

KernelSpec Cutting::join() const {
  Draft d = draft_;
  d.results = sums_;
  keep_needed(d, {});
  const Graph g = d.graph(Dims::kApart);
  std::vector<int> sums;
  std::set<int> shifted;
  for (const int t : sums_) {
    sums.push_back(d.number(t));
    if (shifted_.contains(t)) shifted.insert(d.number(t));
  }
  return Joining(g, std::move(sums), max_ < 0 ? -1 : d.number(max_)).kernel(shifted);
}

}  // namespace

Positions positions(const KernelSpec& spec) { return Cutting(spec).run(); }

}  // namespace morello
