// Loops over the output, vectors along the elements that are adjacent there. Indices are multiplied
// out: compilers make pointers of them.
#include "codegen/finish.h"

#include <algorithm>

#include "codegen/access.h"
#include "codegen/expression.h"
#include "impl/finishing.h"

namespace morello {
namespace {

// The body reads others.
bool reads(const Computation& c, size_t extra) {
  return morello::names(c.finish, Fn::kExtra, static_cast<int>(extra));
}

class FinishWriter {
 public:
  FinishWriter(Functions& functions, const Problem& p, const FinishJob& job)
      : functions_(functions),
        p_(p),
        c_(*p.computation),
        job_(job),
        fin_(write_back(p.family, c_)),
        out_(c_.inputs()),
        first_(static_cast<int>(c_.operands.size())) {}
  std::string params() const;
  Body body();

 private:
  void loops(int dim);
  i64 step() const;
  void vectors();
  void vector(i64 n);
  std::string index(const AddressMap& map) const;
  std::string pointer(const char* stem, const std::string& base, const Ref& ref);
  std::vector<Offset> lanes(const AddressMap& map, i64 n) const;
  const Ref& extra(size_t i) const { return job_.refs[first_ + i]; }

  Functions& functions_;
  const Problem& p_;
  const Computation& c_;
  const FinishJob& job_;
  const Finishing fin_;
  const int out_, first_;
  std::array<std::string, kMaxDims> at_;  // variables; empty: 0
  Writer w_{1};
  Names names_;
};

std::string FinishWriter::params() const {
  const Ref& out = job_.refs[out_];
  std::string s =
      fmt::format("{} sums, {} out", const_pointer(c_.compute), mutable_pointer(out.dtype));
  for (size_t i = 0; i < c_.extras.size(); ++i)
    if (reads(c_, i)) s += fmt::format(", {} extra{}", const_pointer(extra(i).dtype), i);
  s += stride_params(out.map);
  for (size_t i = 0; i < c_.extras.size(); ++i)
    if (reads(c_, i)) s += stride_params(extra(i).map);
  return s;
}

Body FinishWriter::body() {
  loops(0);
  return w_.body();
}

void FinishWriter::loops(int d) {
  if (d == static_cast<int>(c_.dims.size())) return vectors();
  if (c_.dims[d].reduction || d == fin_.lane || job_.extent[d] == 1) return loops(d + 1);
  at_[d] = names_.fresh("x");
  w_.open_loop(at_[d], job_.extent[d]);
  loops(d + 1);
  w_.close();
}

// Elements at a time: a vector of them, or fewer, so that they lie in the same way one step
// further. (Blocks of 6 and vectors of 16: the second vector was stored as if it began a block.)
i64 FinishWriter::step() const {
  std::vector<const AddressMap*> maps = {&job_.sums, &job_.refs[out_].map};
  for (size_t i = 0; i < c_.extras.size(); ++i)
    if (reads(c_, i)) maps.push_back(&extra(i).map);
  const auto fits = [&](i64 n) {
    for (const AddressMap* map : maps)
      for (const AddressTerm& t : map->terms)
        for (const i64 block : {t.div, t.div * std::max<i64>(1, t.mod)})
          if (t.dim == fin_.lane && block % n != 0 && n % block != 0) return false;
    return true;
  };
  i64 n = fin_.lanes;
  while (!fits(n)) --n;
  return n;
}

void FinishWriter::vectors() {
  if (fin_.lane < 0) return vector(1);
  const i64 extent = job_.extent[fin_.lane], n = step(), whole = extent / n * n;
  if (whole > 0) {
    at_[fin_.lane] = names_.fresh("x");
    w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; {0} += {2})", at_[fin_.lane], whole, n);
    vector(n);
    w_.close();
  }
  if (extent == whole) return;
  at_[fin_.lane] = std::to_string(whole);
  w_.open("{}", "");
  vector(extent - whole);
  w_.close();
}

// Offset of the current element: ((x / div) % mod) * stride for every digit.
std::string FinishWriter::index(const AddressMap& map) const {
  std::string out;
  for (const AddressTerm& t : map.terms) {
    if (at_[t.dim].empty() || t.mod == 1) continue;
    std::string digit = at_[t.dim];
    if (t.div > 1) digit = fmt::format("{} / {}", digit, t.div);
    if (t.mod > 0) digit = fmt::format("{} % {}", digit, t.mod);
    const std::string step = text(t.steps(1));
    if (t.div > 1 || t.mod > 0) digit = "(" + digit + ")";
    out += (out.empty() ? "" : " + ") + (step == "1" ? digit : digit + " * " + step);
  }
  return out.empty() ? "0" : out;
}

std::string FinishWriter::pointer(const char* stem, const std::string& base, const Ref& ref) {
  const std::string name = names_.fresh(stem);
  w_.line("const auto {} = {} + ({});", name, base, index(ref.map));
  return name;
}

std::vector<Offset> FinishWriter::lanes(const AddressMap& map, i64 n) const {
  std::vector<Offset> out;
  Extents x{};
  for (i64 i = 0; i < n; ++i) {
    if (fin_.lane >= 0) x[fin_.lane] = i;
    out.push_back(map.place(x));
  }
  return out;
}

void FinishWriter::vector(i64 n) {
  const Isa& isa = *p_.family.isa;
  const auto type = [&](Dtype t) {
    return fin_.lanes == 1 ? c_type(t) : isa.register_type(t, fin_.lanes);
  };
  const Ref sums{.pointer = "sums", .map = job_.sums, .dtype = c_.compute};
  const std::string from = pointer("s", "sums", sums), sum = names_.fresh("v");
  w_.line("{} {};", type(c_.compute), sum);
  read_vector(w_, names_, *fin_.load, c_.compute, from, lanes(job_.sums, n), sum);
  std::vector<std::string> extras;
  for (size_t i = 0; i < c_.extras.size(); ++i) {
    extras.emplace_back();
    if (!reads(c_, i)) continue;
    const Ref& ref = extra(i);
    const Access& a = *fin_.extras[i];
    const std::string p = pointer("e", fmt::format("extra{}", i), ref);
    extras.back() = names_.fresh("v");
    w_.line("{} {};", type(c_.result()), extras.back());
    const bool one = a.kind != Access::Kind::kVector;
    read_vector(w_, names_, a, ref.dtype, p, lanes(ref.map, one ? 1 : n), extras.back());
  }
  const std::string value = write_terms(w_, names_, functions_, isa, fin_.lanes, c_.finish,
                                        {.inputs = {}, .extras = extras, .value = sum})
                                .back();
  const Ref& out = job_.refs[out_];
  const std::string to = pointer("o", "out", out);
  write_vector(w_, names_, *fin_.store, out.dtype, to, lanes(out.map, n), value);
}

}  // namespace

std::string finish_function(Functions& functions, const Problem& p, const FinishJob& job) {
  FinishWriter writer(functions, p, job);
  return functions.add("finish", writer.params(), writer.body(), true);
}

std::string finish_arguments(const Problem& p, const FinishJob& job, const std::string& sums) {
  const Computation& c = *p.computation;
  const int out = c.inputs();
  const size_t first = c.operands.size();
  std::string args = sums + ", " + job.refs[out].pointer;
  for (size_t i = 0; i < c.extras.size(); ++i)
    if (reads(c, i)) args += ", " + job.refs[first + i].pointer;
  args += stride_args(job.refs[out].map);
  for (size_t i = 0; i < c.extras.size(); ++i)
    if (reads(c, i)) args += stride_args(job.refs[first + i].map);
  return args;
}

}  // namespace morello
