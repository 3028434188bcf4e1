// One layer: y = x * w, with the weights packed once.
#include <cstddef>
#include <cstdio>
#include <vector>

#include "layer.h"

int main() {
  using Info = app::layer_info;
  static_assert(Info::workspace_bytes == 0, "the kernel takes no workspace");
  const std::size_t rows = 4, inner = 64, columns = 48;
  std::vector<float> x(rows * inner, 0.5F), w(inner * columns, 0.25F), y(rows * columns);
  std::vector<std::byte> packed(Info::packed_w_bytes);
  app::layer_pack_w(w.data(), packed.data());
  app::layer(x.data(), packed.data(), y.data());
  for (const float value : y) {
    if (value != 8.0F) {
      std::printf("wrong: %g\n", static_cast<double>(value));
      return 1;
    }
  }
  std::printf("right, with %s\n", app::layer_selected());
}
