// Every target of Highway that this CPU has, on whole numbers, with rows divided among workers.
#include "ops/matmul.h"

#include <cstdio>
#include <thread>
#include <vector>

#include "hwy/highway.h"

namespace model {
namespace {

constexpr size_t kRows = 208, kPadded = kCols + 32;  // 13 ranges for 3 workers

struct Operands {
  std::vector<hwy::bfloat16_t> x, w;
  std::vector<float> add, out;
};

hwy::bfloat16_t Whole(size_t i, size_t m) {
  return hwy::BF16FromF32(static_cast<float>(i % m) - 2.0f);
}

const char* Run(Operands& o, float scale) {
  const char* whose[3] = {};
  std::vector<std::thread> workers;
  const size_t bounds[] = {0, 5 * kRowsAtOnce, 12 * kRowsAtOnce, kRows};
  for (size_t t = 0; t < 3; ++t) {
    workers.emplace_back([&, t] {
      const size_t begin = bounds[t];
      const Rows rows{&o.w[begin * kPadded], kPadded, bounds[t + 1] - begin};
      whose[t] = MatVec(o.x.data(), rows, scale, &o.add[begin], &o.out[begin]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  return whose[0];
}

bool Right(const Operands& o, float scale) {
  for (size_t i = 0; i < kRows; ++i) {
    float want = 0;
    for (size_t k = 0; k < kCols; ++k) {
      want += hwy::F32FromBF16(o.x[k]) * hwy::F32FromBF16(o.w[i * kPadded + k]);
    }
    want = scale * want + o.add[i];
    if (o.out[i] != want) {
      std::printf("%zu is %g, not %g\n", i, static_cast<double>(o.out[i]),
                  static_cast<double>(want));
      return false;
    }
  }
  return true;
}

int Test() {
  Operands o;
  for (size_t k = 0; k < kCols; ++k) o.x.push_back(Whole(k, 7));
  for (size_t i = 0; i < kRows * kPadded; ++i) o.w.push_back(Whole(i, 5));
  for (size_t i = 0; i < kRows; ++i) o.add.push_back(static_cast<float>(i));
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(static_cast<decltype(hwy::SupportedTargets())>(target));
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    o.out.assign(kRows, -1.0f);
    const char* whose = Run(o, 0.5f);
    if (!Right(o, 0.5f)) return 1;
    std::printf("%s: %s\n", hwy::TargetName(target), whose);
  }
  std::printf("all right\n");
  return 0;
}

}  // namespace
}  // namespace model

int main() { return model::Test(); }
