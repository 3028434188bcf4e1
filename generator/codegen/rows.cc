// The loop over pieces of rows (impl/rows.h) as code, around one function for every Fusion.
#include "impl/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/nest.h"
#include "codegen/operand.h"
#include "codegen/pieces.h"
#include "codegen/workspace.h"
#include "spec/rows.h"

namespace morello {
namespace {

// Where code is to be short, leaves are functions of their own: compilers take each once, then, and
// not once in each of its callers. (Attention of 8 heads, 1 to 8 rows and 1024 positions, for
// AVX-512, AVX2 and any CPU: GCC 12 2.2 s and Clang 14 3.4, with these 1.7 and 1.4. By AVX2 it took
// up to 1.17 of the time.)
class RowsWriter {
 public:
  RowsWriter(const AnyRows& rows, const KernelSpec& spec, bool brief)
      : rows_(rows), spec_(spec), library_{.functions = Functions(brief)} {
    library_.brief = brief;
  }

  NestCode code() {
    std::string functions;
    for (size_t i = 0; i < rows_.programs.size(); ++i) {
      const NestCode& p =
          programs_.emplace_back(emit_fusion(library_, *rows_.programs[i].fusion, stem(i)));
      functions += p.functions;
      out_.workspace_bytes = std::max(out_.workspace_bytes, p.workspace_bytes);
      out_.parallel |= p.parallel;
      out_.strides.insert(p.strides.begin(), p.strides.end());
      MORELLO_CHECK(p.packers == programs_[0].packers, "pieces that pack in several orders");
    }
    out_.packers = programs_[0].packers;
    out_.sizes = {spec_.sizes().front().name};
    piece_tables(w_, 0, rows_.pieces, false);
    run();
    out_.functions = library_.text() + functions + w_.text();
    return std::move(out_);
  }

 private:
  static std::string stem(size_t piece) { return fmt::format("piece_{}_", piece); }

  // Parameters, then results.
  std::vector<const Param*> tensors() const {
    std::vector<const Param*> out;
    for (const Param& p : spec_.params) out.push_back(&p);
    for (size_t i = 0; i < spec_.results.size(); ++i) out.push_back(&spec_.result(i));
    return out;
  }

  void run() {
    std::string params;
    const std::vector<const Param*> all = tensors();
    for (size_t t = 0; t < all.size(); ++t)
      params += fmt::format(
          "{} tensor{}, ",
          t < spec_.params.size() ? const_pointer(all[t]->dtype) : mutable_pointer(all[t]->dtype),
          t);
    params += "std::ptrdiff_t extent0";
    for (const int s : out_.strides) params += ", std::ptrdiff_t " + stride_name(s);
    if (out_.workspace_bytes > 0) params += ", unsigned char* workspace";
    if (out_.parallel) params += ", const ::morello::Parallel& pool";
    w_.open("MORELLO_UNUSED MORELLO_TARGET static void run({}) noexcept", params);
    w_.line("if (extent0 < {}) return;", rows_.pieces.sizes.back());  // nothing to do
    w_.line("int whole = 0;");
    largest_piece(w_, 0, rows_.pieces, "whole", "");
    w_.open("for (std::ptrdiff_t at0 = 0; at0 < extent0;)");
    next_piece(w_, 0, rows_.pieces, "whole", "extent0");
    w_.open("switch (which0)");
    for (size_t i = 0; i < programs_.size(); ++i) call(i);
    w_.close();
    w_.line("at0 += sizes0[which0];");
    w_.close();
    w_.close();
  }

  void call(size_t i) {
    std::string args;
    const std::vector<const Param*> all = tensors();
    for (size_t t = 0; t < all.size(); ++t) {
      const i64 row = row_elements(*all[t]);
      const std::string by = all[t]->strided ? stride_name(stride_symbol(static_cast<int>(t), 0))
                                             : fmt::format("{}", row);
      args += fmt::format("{}tensor{}{}", t == 0 ? "" : ", ", t,
                          row == 0 ? "" : fmt::format(" + at0 * {}", by));
    }
    for (const int s : programs_[i].strides) args += ", " + stride_name(s);
    if (programs_[i].workspace_bytes > 0) args += ", workspace";
    if (programs_[i].parallel) args += ", pool";
    const bool last = i + 1 == programs_.size();
    w_.line("{}: {}run({}); break;", last ? "default" : fmt::format("case {}", i), stem(i), args);
  }

  const AnyRows& rows_;
  const KernelSpec& spec_;
  Library library_;
  std::vector<NestCode> programs_;
  NestCode out_;
  Writer w_;
};

}  // namespace

NestCode emit_nest(const AnyRows& rows, const KernelSpec& spec, bool brief) {
  return RowsWriter(rows, spec, brief).code();
}

}  // namespace morello
