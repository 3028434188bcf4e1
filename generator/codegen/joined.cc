#include "codegen/joined.h"

#include <fmt/ranges.h>

#include "codegen/leaf_writer.h"
#include "impl/finishing.h"
#include "impl/joined.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Vectors that are written out; of more there are loops.
constexpr i64 kWrittenOut = 24;

class RunWriter {
 public:
  RunWriter(Functions& functions, const Problem& p, const LeafJob& job);
  Body body();

 private:
  void repeat_rows();
  void spread_numbers(i64 elements, const std::string& run);
  void spread(int tensor, i64 elements, const std::string& run);
  void loop(i64 blocks, const std::string& run);
  void block(i64 elements, const std::string& run, const std::string& repeated);

  Functions& functions_;
  const Problem& p_;
  const Computation& c_;
  const LeafJob& job_;
  const i64 elements_, period_;
  i64 block_ = 0;                      // elements that are written out, a part of a period
  std::vector<std::string> pointers_;  // of all tensors, those that are repeated as they are then
  Writer w_;
  Names names_;
};

RunWriter::RunWriter(Functions& functions, const Problem& p, const LeafJob& job)
    : functions_(functions),
      p_(p),
      c_(*p.computation),
      job_(job),
      elements_(run_extents(p.family, job.extent)[p.family.lane]),
      period_(joined_period(p.family, c_)),
      w_(1, functions.apart()) {
  const i64 lanes = p.family.kernel->lanes;
  for (i64 vectors = kWrittenOut; block_ == 0; --vectors)
    if (period_ / lanes % vectors == 0) block_ = vectors * lanes;
  for (int t = 0; t < c_.tensors(); ++t) pointers_.push_back(leaf_pointer(t, c_.inputs()));
}

void RunWriter::repeat_rows() {
  const i64 row = c_.dims[p_.family.lane].extent;
  for (int t = 0; t < c_.tensors(); ++t) {
    const AlongRows lies = along_rows(c_, p_.family, t);
    if (lies != AlongRows::kRow && lies != AlongRows::kEach) continue;
    const Dtype type = job_.refs[t].dtype;
    const std::string all = names_.fresh("rows"), i = names_.fresh("i");
    w_.line("alignas(64) {} {}[{}];", c_type(type), all, period_);
    if (lies == AlongRows::kEach) {
      pointers_[t] = all;
      continue;
    }
    w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; {0} += {2})", i, std::min(period_, elements_),
            row);
    w_.line("__builtin_memcpy({} + {}, {}, {});", all, i, pointers_[t], row * bytes(type));
    w_.close();
    pointers_[t] = all;
  }
}

// Of so many elements from `run` on, where a period begins: the numbers of their rows.
void RunWriter::spread_numbers(i64 elements, const std::string& run) {
  for (int t = 0; t < c_.tensors(); ++t)
    if (along_rows(c_, p_.family, t) == AlongRows::kEach) spread(t, elements, run);
}

// Vectors behind the last element hold what nobody reads.
void RunWriter::spread(int tensor, i64 elements, const std::string& run) {
  const Isa& isa = *p_.family.isa;
  const int lanes = p_.family.kernel->lanes;
  const i64 row = c_.dims[p_.family.lane].extent;
  const Dtype type = job_.refs[tensor].dtype;
  const Access& load = *load_row(isa, lanes, type, type);
  const Access& store = *store_row(isa, lanes, type, type);
  const std::string numbers = names_.fresh("numbers");
  w_.line("{} {} = {} + ({}) / {};", const_pointer(type), numbers,
          leaf_pointer(tensor, c_.inputs()), run, row);
  for (i64 at = 0; at < elements; at += lanes) {
    const i64 first = at / row, last = (std::min(at + lanes, elements) - 1) / row;
    std::vector<i64> order;
    for (i64 i = at; i < at + lanes; ++i) order.push_back(std::min(i / row, last) - first);
    const std::string vector = names_.fresh("v"), count = std::to_string(last - first + 1);
    w_.line("{} {};", isa.register_type(type, lanes), vector);
    w_.code(expand(last - first + 1 < lanes ? load.partial : load.code,
                   {{"r0", vector},
                    {"p", fmt::format("{} + {}", numbers, first)},
                    {"n", count},
                    {"count", count}}));
    const std::string spread = expand(
        isa.spread(type, lanes), {{"a", vector}, {"i", fmt::format("{}", fmt::join(order, ", "))}});
    w_.code(
        expand(store.code, {{"p", fmt::format("{} + {}", pointers_[tensor], at)}, {"r0", spread}}));
  }
}

// So many elements from `run` on, or `repeated` in what is repeated.
void RunWriter::block(i64 elements, const std::string& run, const std::string& repeated) {
  const Family f = family_of_run(p_.family, elements);
  const Computation c = computation_of_run(c_, p_.family, elements);
  LeafJob job{.extent = {},
              .refs = job_.refs,
              .call = job_.call,
              .brief = job_.brief,
              .from_l2 = job_.from_l2};
  job.extent.fill(1);
  job.extent[0] = elements;
  std::string args;
  for (int t = 0; t < c_.tensors(); ++t) {
    job.refs[t].map = given_address(c, t);
    const AlongRows lies = along_rows(c_, p_.family, t);
    const std::string at = lies == AlongRows::kRun      ? " + " + run
                           : lies == AlongRows::kNumber ? ""
                                                        : " + " + repeated;
    args += fmt::format("{}{}{}", t == 0 ? "" : ", ", pointers_[t], at);
  }
  w_.line("{}({});", leaf_function(functions_, {&c, p_.machine, f, 1}, job), args);
}

// Blocks from `run` on, where a period begins.
void RunWriter::loop(i64 blocks, const std::string& run) {
  if (blocks == 0) return;
  const std::string i = names_.fresh("i");
  w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; {0} += {2})", i, blocks * block_, block_);
  block(block_, fmt::format("{} + {}", run, i), i);
  w_.close();
}

Body RunWriter::body() {
  repeat_rows();
  const i64 whole = elements_ / period_ * period_, rest = elements_ - whole;
  if (whole > 0) {
    const std::string i = names_.fresh("i");
    w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; {0} += {2})", i, whole, period_);
    spread_numbers(period_, i);
    loop(period_ / block_, i);
    w_.close();
  }
  if (rest > 0) spread_numbers(rest, std::to_string(whole));
  loop(rest / block_, std::to_string(whole));
  if (const i64 left = rest % block_; left > 0)
    block(left, std::to_string(elements_ - left), std::to_string(rest - left));
  return w_.body();
}

}  // namespace

std::string joined_leaf(Functions& functions, const Problem& p, const LeafJob& job) {
  return functions.add("leaf", LeafWriter(functions, p, job).params(),
                       RunWriter(functions, p, job).body());
}

}  // namespace morello
