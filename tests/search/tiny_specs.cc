#include "tiny_specs.h"

#include <fmt/format.h>

#include <cstdint>

namespace morello {
namespace {

struct Types {
  const char *a, *b, *out;
};
constexpr Types kMatmul[] = {
    {"f32", "f32", "f32"},   {"f32", "f32", "bf16"},   {"f32", "bf16", "f32"},
    {"f32", "bf16", "bf16"}, {"bf16", "f32", "f32"},   {"bf16", "f32", "bf16"},
    {"bf16", "bf16", "f32"}, {"bf16", "bf16", "bf16"}, {"u8", "i8", "i32"},
    {"i8", "i8", "i32"},     {"u8", "i8", "i16"},      {"u8", "i7", "i32"},
    {"i7", "u8", "i32"},
};
constexpr Types kBinary[] = {
    {"f32", "f32", "f32"}, {"bf16", "bf16", "bf16"}, {"bf16", "bf16", "f32"}, {"f16", "f16", "f16"},
    {"f16", "f16", "f32"}, {"i32", "i32", "i32"},    {"i32", "i32", "f32"},
};
constexpr Types kConvert[] = {
    {"f32", "", "f32"},   {"f32", "", "bf16"}, {"f32", "", "f16"}, {"bf16", "", "f32"},
    {"bf16", "", "bf16"}, {"bf16", "", "f16"}, {"f16", "", "f32"}, {"f16", "", "bf16"},
    {"f16", "", "f16"},   {"i32", "", "i32"},  {"i32", "", "f32"}, {"i16", "", "i32"},
    {"i16", "", "f32"},   {"u8", "", "i32"},   {"u8", "", "f32"},  {"i8", "", "i32"},
    {"i8", "", "f32"},    {"i32", "", "i16"},  {"u8", "", "i16"},  {"i7", "", "f32"},
};
constexpr Types kReduceSum[] = {
    {"f32", "", "f32"}, {"f32", "", "bf16"}, {"bf16", "", "f32"}, {"bf16", "", "bf16"},
    {"f16", "", "f32"}, {"f16", "", "bf16"}, {"i32", "", "i32"},  {"i16", "", "i32"},
    {"u8", "", "i32"},  {"i8", "", "i32"},
};

// {0}, {1}, {2}: types; {3}, {4}, {5}: sizes.
constexpr const char* kMatmulForms[] = {
    "(a: {0}[{3},{5}], b: {1}[{5},{4}]): {2} = matmul(a, b)",
    "(a: {0}[{3},{5}], b: {1}[{5},{4}] packed): {2} = matmul(a, b)",
    "(a: {0}[{3},{5}] col, b: {1}[{5},{4}] col): {2} col = matmul(a, b)",
    "(a: {0}[2,{3},{5}], b: {1}[2,{5},{4}]): {2} = matmul(a, b)",
    "(a: {0}[{3},{5}], b: {1}[{5},{4}] order(1/4, 0, 1%4)): {2} = matmul(a, b)",
    "(a: {0}[2,{3},{5}], b: {1}[{5},{4}]): {2} = matmul(a, b)",
    // Long enough to divide the sum among threads.
    "(a: {0}[1,1{5}{5}], b: {1}[1{5}{5},1]): {2} = matmul(a, b)",
};
constexpr const char* kBinaryForms[] = {
    "(x: {0}[{3},{4}], y: {1}[{3},{4}] col): {2} = add(x, y)",
    "(x: {0}[{3},{4}], y: {1}[{3},{4}]): {2} = mul(x, y)",
    "(x: {0}[{3},{4}], y: {1}[{4}]): {2} = mul(x, y)",
    "(x: {0}[{3},{4},{5}]): {2} = mul(x, x)",
    "(x: {0}[{3},{4}] order(0/2, 1, 0%2), y: {1}[{3},{4}]): {2} = add(x, y)",
};
constexpr const char* kConvertForms[] = {
    "(x: {0}[{3},{4}] col): {2} = convert(x)",
    "(x: {0}[{3},{4}]): {2} order(1/8, 0, 1%8) = convert(x)",
    "(x: {0}[{3},{4},{5}]): {2} = convert(x)",
};
constexpr const char* kReduceSumForms[] = {
    "(x: {0}[{3},{5}]): {2} = reduce_sum(x, axis=1)",
    "(x: {0}[{3},{4},{5}]): {2} = reduce_sum(x, axis=1)",
    "(x: {0}[{5},{4}] col): {2} = reduce_sum(x, axis=0)",
    "(x: {0}[{3},1{5}{5}]): {2} = reduce_sum(x, axis=1)",
};
constexpr Types kExtreme[] = {
    {"f32", "", "f32"}, {"bf16", "", "bf16"}, {"f16", "", "f32"},
    {"i32", "", "i32"}, {"u8", "", "i32"},
};
constexpr const char* kExtremeForms[] = {
    "(x: {0}[{3},{5}]): {2} = reduce_max(x, axis=1)",
    "(x: {0}[{5},{4}]): {2} = reduce_min(x, axis=0)",
    "(x: {0}[{3},1{5}{5}]): {2} = reduce_max(x, axis=1)",
};
// What is made of sums, and of elements with more than two operands.
constexpr Types kFinish[] = {
    {"f32", "f32", "f32"}, {"bf16", "f32", "bf16"}, {"u8", "i8", "f32"}, {"i8", "i8", "i16"}};
constexpr const char* kFinishForms[] = {
    "(a: {0}[{3},{5}], b: {1}[{5},{4}], c: {1}[{4}], d: {0}[{3},{4}] col): {2} = "
    "max(matmul(a, b) * 2 + c, 0) - d",
    "(a: {0}[{3},{5}], b: {1}[{5},{4}] packed, c: {1}[{3}]): {2} col = "
    "matmul(a, b) * broadcast(c, axis=1)",
    "(x: {0}[{3},{4}] col, y: {1}[{3},{4}], z: {1}[{3},{4}] col, u: {0}[1]): {2} = "
    "min(x * y - z, u) + x",
    "(x: {0}[{3},1{5}{5}], y: {1}[{3}]): {2} = neg(reduce_sum(x, axis=1)) * y",
    "(x: {0}[{3},{5}], y: {1}[{3}]): {2} = max(reduce_max(x, axis=1) - y, 0)",
};
// What is made of operands before they are combined.
constexpr const char* kBodyForms[] = {
    "(x: {0}[{3},{5}], y: {1}[{3}]): {2} = reduce_sum(x * x - broadcast(y, axis=1), axis=1)",
    "(x: {0}[{5},{4}], y: {1}[{5},{4}] col): {2} = reduce_max(x + y, axis=0)",
    "(x: {0}[{3},{5}], w: {1}[{5}]): {2} = reduce_min(max(x, w) * 2, axis=1)",
    "(x: {0}[{3},1{5}{5}], y: {1}[{3}]): {2} = reduce_sum((x - broadcast(y, axis=1)) * "
    "(x - broadcast(y, axis=1)), axis=1) + y",
};
constexpr std::int64_t kSizes[][3] = {{1, 1, 1},  {2, 3, 2},  {3, 1, 9},
                                      {1, 9, 17}, {2, 17, 3}, {3, 8, 18}};

// Every combination of types in every form, in two sizes, which take turns.
template <class Rows, class Forms>
void add(const Rows& types, const Forms& forms, std::vector<std::string>& out) {
  for (const Types& t : types)
    for (const char* form : forms)
      for (int i = 0; i < 2; ++i) {
        const auto& [m, n, k] = kSizes[out.size() % std::size(kSizes)];
        out.push_back(fmt::format(fmt::runtime(form), t.a, t.b, t.out, m, n, k));
      }
}

}  // namespace

std::vector<std::string> tiny_specs() {
  std::vector<std::string> out;
  add(kMatmul, kMatmulForms, out);
  add(kBinary, kBinaryForms, out);
  add(kConvert, kConvertForms, out);
  add(kReduceSum, kReduceSumForms, out);
  add(kExtreme, kExtremeForms, out);
  add(kFinish, kFinishForms, out);
  add(kFinish, kBodyForms, out);
  return out;
}

}  // namespace morello
