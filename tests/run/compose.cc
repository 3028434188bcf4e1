#include "run/compose.h"

#include <fmt/format.h>

#include <utility>

#include "run/artist.h"

namespace morello::run {
namespace {

using Shape = std::vector<i64>;
constexpr size_t kMostResults = 4;  // that a Subject has
constexpr size_t kPictureRank = 4;  // of what windows move over

constexpr std::string_view kNames[kSteps] = {
    "unary",    "binary",   "select",     "broadcast",  "spread",     "transpose",  "matmul a",
    "matmul b", "conv2d",   "pad",        "reduce_sum", "reduce_max", "reduce_min", "reduce_mean",
    "softmax",  "rms_norm", "layer_norm", "convert",    "store"};

bool reduces(Step s) { return s >= Step::kReduceSum && s <= Step::kReduceMean; }

bool multiplies(Step s) { return s >= Step::kMatmulLeft && s <= Step::kConv2d; }

// What is computed so far.
struct Made {
  std::string text;
  Shape shape;
};

class Composer : public Artist {
 public:
  Composer(Random& random, std::span<const Step> steps) : Artist(random), steps_(steps) {}

  std::string kernel() {
    choose_types();
    Made now = first();
    for (const Step s : steps_) {
      before_.push_back(now);
      now = apply(s, now);
      first_step_ = false;
      if (one_in(4) != names_results_ && now.text.find('(') != std::string::npos)
        now.text = named(now, "");
    }
    if (names_results_) return with_names(now);
    if (now.text.find('(') == std::string::npos) now.text = "convert(" + now.text + ")";
    return fmt::format("({}): {}{}{} = {}{}", fmt::join(params_, ", "), result_,
                       shape_text(now.shape), order(now.shape.size()), now.text, where());
  }

 private:
  std::string where() const {
    std::string out;
    for (const std::string& line : lines_) out += (out.empty() ? " where " : ", ") + line;
    return out;
  }

  // What was computed last is a result, and so are some of the names without a type.
  std::string with_names(const Made& last) {
    std::vector<std::string> results;
    const auto add = [&](const Made& m) {
      const std::string shape = one_in(2) ? "" : shape_text(m.shape);
      results.push_back(
          fmt::format("{}: {}{}{}", m.text, any(results_), shape, order(m.shape.size())));
    };
    const bool has_name = !untyped_.empty() && untyped_.back().text == last.text;
    const Made final = has_name ? last : Made{named(last, ""), last.shape};
    const bool alone = one_in(5);
    for (const Made& m : untyped_)
      if (m.text != final.text && results.size() + 1 < kMostResults && !alone && !one_in(5)) add(m);
    add(final);
    if (one_in(2)) std::reverse(results.begin(), results.end());
    return fmt::format("({}): ({}){}", fmt::join(params_, ", "), fmt::join(results, ", "), where());
  }

  // Floats; integers where all steps have them; bytes that become floats.
  void choose_types() {
    const auto floats_only = [&](size_t i) {
      const Step s = steps_[i];
      return (multiplies(s) && i > 0) || s == Step::kReduceMean || s >= Step::kSoftmax;
    };
    bool whole = one_in(4);
    for (size_t i = 0; i < steps_.size(); ++i)
      whole &= !floats_only(i) || steps_[i] == Step::kConvert || steps_[i] == Step::kStore;
    const bool bytes = one_in(6);
    integers_ = whole;
    if (whole) {
      types_ = {"i32", "i16", "u8", "i8", "i7"};
      results_ = stored_ = {"i32", "i16"};
    } else {
      types_ = bytes ? kBytes : std::vector<std::string>{"f32", "f32", "bf16", "f16"};
      results_ = {"f32", "f32", "bf16", "f16"};
      stored_ = {"bf16", "f16", "f32"};
    }
    result_ = any(results_);
    first_types_ = types_;
    if (whole && multiplies(steps_[0])) first_types_ = kBytes;
  }

  // As many axes as all steps need, so large that the reference is done in no time.
  Made first() {
    size_t rank = 1;
    bool pictures = false;
    for (size_t i = steps_.size(); i-- > 0;) {
      const Step s = steps_[i];
      if (reduces(s)) rank = rank == 1 && one_in(2) ? 1 : rank + 1;
      if (s == Step::kBroadcast || s == Step::kSpread) rank = std::max<size_t>(1, rank - 1);
      if (multiplies(s) || s == Step::kTranspose) rank = std::max<size_t>(2, rank);
      if (s == Step::kConv2d) rank = kPictureRank, pictures = true;
    }
    if (!pictures) rank = std::min<size_t>(4, rank + static_cast<size_t>(one_in(3)));
    Shape shape;
    for (size_t a = 0; a < rank; ++a) shape.push_back(extent(rank));
    if (multiplies(steps_[0]) && !pictures && one_in(4)) {
      shape[shape.size() - 1] = extent(1);
      shape[shape.size() - 2] = extent(3);
    }
    if (has_rows_) name_one_of(shape, "n");
    if (has_rows_ && one_in(2)) name_one_of(shape, "m");
    return {param(first_types_, shape, multiplies(steps_[0]) && !pictures), shape};
  }

  // As many as there are rows are so many as run time says, wherever they occur. What is refused is
  // drawn again: most where windows move along them.
  void name_one_of(const Shape& shape, const std::string& name) {
    Shape left;
    for (const i64 n : shape)
      if (n > 1 && !named_.contains(n)) left.push_back(n);
    if (left.empty()) return;
    const i64 rows = left[one_in(2) ? 0 : any<size_t>({0, 1, 2, 3}) % left.size()];
    const i64 granule = any<i64>({1, 1, 2, 3, 4, 8});
    std::string first = granule == 1 ? name : fmt::format("{}%{}", name, granule);
    if (!one_in(3))
      first += fmt::format(" {} {}", one_in(2) ? "near" : "to",
                           granule * std::max<i64>(1, rows / granule));
    named_[rows] = {name, first};
  }

  std::string shape_text(const Shape& shape) {
    std::vector<std::string> out;
    for (const i64 n : shape) {
      const auto named = named_.find(n);
      out.push_back(named == named_.end() ? fmt::format("{}", n)
                                          : std::exchange(named->second.next, named->second.name));
    }
    return fmt::format("[{}]", fmt::join(out, ","));
  }

  i64 extent(size_t rank) {
    const i64 most[] = {600, 600, 70, 20, 7, 5, 4};
    const i64 n = rank == 1 && one_in(2) ? 5 * size() : size();
    return n <= most[rank] ? n : 1 + n % most[rank];
  }

  std::string order(size_t rank) { return plain_ ? "" : layout(rank, strided_); }

  std::string param(const std::vector<std::string>& types, const Shape& shape,
                    bool may_pack = false) {
    const std::string name = fmt::format("p{}", params_.size());
    params_.push_back(fmt::format("{}: {}{}{}", name, any(types), shape_text(shape),
                                  may_pack && one_in(3) ? " packed" : order(shape.size())));
    return name;
  }

  std::string named(const Made& made, const std::string& type) {
    const std::string name = fmt::format("t{}", lines_.size());
    lines_.push_back(fmt::format("{}{} = {}", name, type.empty() ? "" : ": " + type, made.text));
    if (type.empty()) untyped_.push_back({name, made.shape});
    return name;
  }

  std::string number() {
    return integers_ ? fmt::format("{}", pick(random_, -9, 9))
                     : any<std::string>({"0.5", "-2", "0.125", "3"});
  }

  // Beside something of this shape: a number, a parameter of it or of less, what was there before.
  std::string beside(const Shape& shape) {
    if (one_in(8)) return number();
    if (one_in(8)) return param(types_, {1});
    if (one_in(6))
      return param(types_, {shape.end() - pick(random_, 1, i64(shape.size())), shape.end()});
    if (one_in(5)) {
      const i64 axis = pick(random_, 0, i64(shape.size()) - 1);
      Shape less = shape;
      less.erase(less.begin() + axis);
      if (!less.empty()) return fmt::format("broadcast({}, axis={})", param(types_, less), axis);
    }
    for (const Made& m : before_)
      if (m.shape == shape && one_in(2)) return m.text;
    return param(plain_ && one_in(2) ? std::vector<std::string>{result_} : types_, shape);
  }

  Made apply(Step s, const Made& a) {
    // `spread` leaves one number as it is: there may be fewer axes than were drawn for the steps.
    const bool products = s == Step::kMatmulLeft || s == Step::kMatmulRight;
    if (a.shape.size() < 2 && (products || s == Step::kTranspose)) return {unary(a.text), a.shape};
    switch (s) {
      case Step::kUnary:
        return {unary(a.text), a.shape};
      case Step::kBinary:
        return {binary(a.text, beside(a.shape)), a.shape};
      case Step::kSelect:
        return {chosen(a), a.shape};
      case Step::kBroadcast:
      case Step::kSpread:
        return inserted(s, a);
      case Step::kTranspose:
        return {"transpose(" + a.text + ")", swapped(a.shape)};
      case Step::kMatmulLeft:
      case Step::kMatmulRight:
        return product(s, a);
      case Step::kConv2d:
        return a.shape.size() == kPictureRank ? convolved(a) : padded(a);
      case Step::kPad:
        return padded(a);
      case Step::kSoftmax:
      case Step::kRmsNorm:
      case Step::kLayerNorm:
        return {fmt::format("{}({}{}, axis={})", name(s), a.text,
                            s == Step::kSoftmax ? "" : ", 0.01", axis(a.shape)),
                a.shape};
      case Step::kConvert:
        return {"convert(" + a.text + ")", a.shape};
      case Step::kStore:
        return {named(a, any(stored_)), a.shape};
      default:
        return reduced(s, a);
    }
  }

  i64 axis(const Shape& shape) { return pick(random_, 0, i64(shape.size()) - 1); }

  static Shape swapped(Shape shape) {
    std::swap(shape[shape.size() - 2], shape.back());
    return shape;
  }

  std::string unary(const std::string& a) {
    if (integers_) return any<std::string>({"neg", "relu"}) + "(" + a + ")";
    const std::string op = any<std::string>({"exp", "tanh", "erf", "sigmoid", "silu", "gelu",
                                             "gelu_tanh", "relu", "neg", "sqrt", "rsqrt", "log"});
    if (op == "sqrt" || op == "rsqrt" || op == "log")
      return fmt::format("{}(max({}, 0.25))", op, a);
    return op == "exp" && one_in(2) ? "exp(min(" + a + ", 5))" : op + "(" + a + ")";
  }

  std::string binary(const std::string& a, const std::string& b) {
    const std::string op = any<std::string>({"+", "-", "*", integers_ ? "*" : "/", "max", "min"});
    const bool swaps = one_in(4);
    const std::string &x = swaps ? b : a, &y = swaps ? a : b;
    // x - x and x / x are constants, and what is normalised of them or divided by them unknown.
    const bool cancels = x == y && (op == "-" || op == "/");
    return op.size() == 1 ? fmt::format("({} {} {})", x, cancels ? "+" : op, y)
                          : fmt::format("{}({}, {})", op, x, y);
  }

  std::string chosen(const Made& a) {
    const std::string op = any<std::string>({"lt", "le", "gt", "ge", "eq", "ne"});
    const std::string test = fmt::format("{}({}, {})", op, a.text, beside(a.shape));
    switch (pick(random_, 0, 3)) {
      case 0:
        return test;
      case 1:
        return fmt::format("select({}, {}, {})", beside(a.shape), a.text, number());
      default:
        return fmt::format("select({}, {}, {})", test, a.text, beside(a.shape));
    }
  }

  Made inserted(Step s, const Made& a) {
    Shape shape = a.shape;
    const i64 at = pick(random_, 0, i64(shape.size()));
    const bool number = s == Step::kSpread && shape == Shape{1};
    if (!number) shape.insert(shape.begin() + at, extent(shape.size() + 1));
    const std::string wide = fmt::format("{}({}, axis={})", name(s), a.text, at);
    return {binary(wide, param(types_, shape)), shape};
  }

  Made reduced(Step s, const Made& a) {
    const i64 at = axis(a.shape);
    Shape shape = a.shape;
    shape.erase(shape.begin() + at);
    if (shape.empty()) shape = {1};
    return {fmt::format("{}({}, axis={})", name(s), a.text, at), shape};
  }

  Made product(Step s, const Made& a) {
    const bool left = s == Step::kMatmulLeft;
    Shape shape = a.shape, other;
    const i64 rank = i64(shape.size()), n = extent(static_cast<size_t>(rank));
    const i64 m = shape[static_cast<size_t>(rank - 2)], k = shape.back();
    // All leading axes, the inner ones, or none.
    other.assign(shape.begin() + pick(random_, 0, rank - 2), shape.end() - 2);
    other.insert(other.end(), {left ? k : n, left ? n : m});
    shape[static_cast<size_t>(rank - 2)] = left ? m : n;
    shape.back() = left ? n : k;
    std::string b;
    if (one_in(8) && !first_step_) {  // by itself
      b = "transpose(" + a.text + ")";
      shape[static_cast<size_t>(rank - 2)] = shape.back() = left ? m : k;
    } else if (one_in(4)) {
      b = "transpose(" + param(bytes_or(types_), swapped(other), true) + ")";
    } else {
      b = param(bytes_or(types_), other, true);
    }
    return {
        left ? fmt::format("matmul({}, {})", a.text, b) : fmt::format("matmul({}, {})", b, a.text),
        shape};
  }

  Made padded(const Made& a) {
    Made out = a;
    do {
      const size_t at = static_cast<size_t>(axis(a.shape));
      const i64 low = pick(random_, 0, 3), high = pick(random_, 0, 2);
      out.shape[at] += low + high;
      out.text = fmt::format("pad({}, axis={}{}{})", out.text, at,
                             low > 0 ? fmt::format(", low={}", low) : "",
                             high > 0 ? fmt::format(", high={}", high) : "");
    } while (one_in(2));
    return out;
  }

  // Windows of up to three by three that lie within, mostly of what zeros have been put around.
  Made convolved(const Made& a) {
    Made x = a;
    if (!one_in(3)) x = padded(a);
    const i64 c = x.shape[3];
    const i64 groups = one_in(3) ? c : one_in(4) && c % 2 == 0 ? 2 : 1;
    const i64 f = groups * (groups > 4 ? 1 : pick(random_, 1, 9));
    const i64 stride = one_in(3) ? 2 : 1;
    std::string attributes = stride > 1 ? fmt::format(", stride={}", stride) : "";
    Shape kernel;
    for (const size_t at : {1u, 2u}) {
      const i64 window = pick(random_, 1, std::min<i64>(3, x.shape[at]));
      const i64 dilation = window > 1 && x.shape[at] > 2 * (window - 1) && one_in(4) ? 2 : 1;
      if (dilation > 1)
        attributes += fmt::format(", dilation_{}={}", at == 1 ? "h" : "w", dilation);
      kernel.push_back(window);
      x.shape[at] = (x.shape[at] - dilation * (window - 1) - 1) / stride + 1;
    }
    if (groups > 1) attributes += fmt::format(", groups={}", groups);
    kernel.insert(kernel.end(), {c / groups, f});
    x.shape[3] = f;
    return {
        fmt::format("conv2d({}, {}{})", x.text, param(bytes_or(types_), kernel, true), attributes),
        x.shape};
  }

  // Bytes are multiplied by bytes only.
  std::vector<std::string> bytes_or(const std::vector<std::string>& types) const {
    const bool bytes = types == kBytes;
    if (first_step_ && (integers_ || bytes)) return kBytes;
    return bytes ? std::vector<std::string>{"f32", "bf16"} : types;
  }

  const std::span<const Step> steps_;
  // Of the result's layout are operands that may lie in its place.
  const bool has_rows_ = one_in(4);
  const bool plain_ = one_in(3) || (has_rows_ && !one_in(4)), strided_ = one_in(6),
             names_results_ = one_in(3);
  struct Named {
    std::string name, next;  // how the next one is written
  };
  std::map<i64, Named> named_;  // extents that are known at run time only
  bool integers_ = false, first_step_ = true;
  std::vector<std::string> types_, first_types_, stored_, results_;
  std::string result_;
  std::vector<std::string> params_, lines_;
  std::vector<Made> before_, untyped_;  // what there was; names without a type
};

}  // namespace

std::string_view name(Step step) { return kNames[static_cast<int>(step)]; }

std::string composition(Random& random, std::span<const Step> steps) {
  return Composer(random, steps).kernel();
}

}  // namespace morello::run
