// Every target of Highway that this CPU has, on whole numbers.
#include <cstdio>

#include "hwy/highway.h"

namespace matvec {
const char* Logits(const float* x, const float* w, float* out);
}

int main() {
  static float x[64], w[48 * 64], out[48];
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i % 7 - 2);
  for (int i = 0; i < 48 * 64; ++i) w[i] = static_cast<float>(i % 5 - 1);
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(static_cast<decltype(hwy::SupportedTargets())>(target));
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (float& value : out) value = -1;
    const char* whose = matvec::Logits(x, w, out);
    for (int n = 0; n < 48; ++n) {
      float want = 0;
      for (int k = 0; k < 64; ++k) want += x[k] * w[n * 64 + k];
      if (out[n] != want) {
        std::printf("%s: %d is %g, not %g\n", hwy::TargetName(target), n,
                    static_cast<double>(out[n]), static_cast<double>(want));
        return 1;
      }
    }
    std::printf("%s: %s\n", hwy::TargetName(target), whose);
  }
  std::printf("all right\n");
}
