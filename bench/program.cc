#include "bench/program.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "morello/bf16.h"
#include "support/diag.h"

namespace morello::bench {

std::string glue(const KernelSpec& spec, size_t i, int threads) {
  std::string args, packs, sizes;
  for (size_t p = 0; p < spec.params.size(); ++p) {
    const Param& param = spec.params[p];
    args += fmt::format("static_cast<const {}*>(arg[{}]), ",
                        param.packed ? "void" : c_type(param.dtype), p);
    if (!param.packed) continue;
    packs +=
        fmt::format("  if (param == {}) p{}::kernel_pack_{}(static_cast<const {}*>(from), to);\n",
                    p, i, param.name, c_type(param.dtype));
    sizes += fmt::format("  if (param == {}) return Info{}::packed_{}_bytes;\n", p, i, param.name);
  }
  args += fmt::format("static_cast<{}*>(arg[{}])", c_type(spec.result().dtype), spec.params.size());
  const std::string pool = threads > 1 ? ", pool" : "";
  return fmt::format(
      "using Info{0} = p{0}::kernel_info;\n"
      "template <class Info, class... More>\n"
      "static void with_{0}(void* const* arg, More... more) {{\n  p{0}::kernel({1}, more...);\n}}\n"
      "template <class Info>\n"
      "static void call_any_{0}(void* const* arg, [[maybe_unused]] void* work,\n"
      "                         [[maybe_unused]] morello::Parallel pool) {{\n"
      "  if constexpr (Info::workspace_bytes > 0)\n"
      "    with_{0}<Info>(arg, work{2});\n"
      "  else\n"
      "    with_{0}<Info>(arg{2});\n}}\n"
      "extern \"C\" void call_{0}(void* const* arg, void* work, const morello::Parallel* pool) {{\n"
      "  call_any_{0}<Info{0}>(arg, work, *pool);\n}}\n"
      "extern \"C\" std::size_t work_{0}() {{ return Info{0}::workspace_bytes; }}\n"
      "extern \"C\" std::size_t packed_{0}([[maybe_unused]] int param) {{\n{3}  return 0;\n}}\n"
      "extern \"C\" void pack_{0}([[maybe_unused]] int param, [[maybe_unused]] const void* from,\n"
      "                         [[maybe_unused]] void* to) {{\n{4}}}\n",
      i, args, pool, sizes, packs);
}

template <class F>
static void find(void* library, const char* name, size_t i, F*& function) {
  const std::string symbol = fmt::format("{}_{}", name, i);
  function = reinterpret_cast<F*>(dlsym(library, symbol.c_str()));
  MORELLO_CHECK(function, "no function {}", symbol);
}

Program::Program(const std::string& library, size_t i) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  MORELLO_CHECK(loaded, "{}", dlerror());
  find(loaded, "work", i, workspace_);
  find(loaded, "packed", i, packed_);
  find(loaded, "pack", i, pack_);
  find(loaded, "call", i, call_);
}

template <class T>
static T get(const unsigned char* p, i64 i) {
  T value;
  std::memcpy(&value, p + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
static void put(unsigned char* p, i64 i, T value) {
  std::memcpy(p + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
}

double element(Dtype t, const unsigned char* p, i64 i) {
  switch (t) {
    case Dtype::f32:
      return static_cast<double>(get<float>(p, i));
    case Dtype::bf16:
      return static_cast<double>(bf16_to_float(get<std::uint16_t>(p, i)));
    case Dtype::f16:
      return static_cast<double>(f16_to_float(get<std::uint16_t>(p, i)));
    case Dtype::i32:
      return get<std::int32_t>(p, i);
    case Dtype::i16:
      return get<std::int16_t>(p, i);
    case Dtype::u8:
      return get<std::uint8_t>(p, i);
    case Dtype::i8:
    case Dtype::i7:
      return get<std::int8_t>(p, i);
  }
  return NAN;
}

Bytes random_values(Dtype t, i64 elements, std::uint64_t seed) {
  std::uint64_t state = seed;
  Bytes out(static_cast<size_t>(elements * bytes(t)));
  for (i64 i = 0; i < elements; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto bits = static_cast<std::int32_t>(state >> 32);
    const float unit = static_cast<float>(bits) * 0x1p-31F;
    switch (t) {
      case Dtype::f32:
        put(out.data(), i, unit);
        break;
      case Dtype::bf16:
        put(out.data(), i, bf16_from_float(unit));
        break;
      case Dtype::f16:
        put(out.data(), i, f16_from_float(unit));
        break;
      case Dtype::i32:
        put(out.data(), i, bits >> 16);
        break;
      case Dtype::i16:
        put(out.data(), i, static_cast<std::int16_t>(bits >> 20));
        break;
      case Dtype::i7:
        put(out.data(), i, static_cast<std::int8_t>(bits >> 25));
        break;
      default:
        put(out.data(), i, static_cast<std::uint8_t>(bits >> 24));
        break;
    }
  }
  return out;
}

}  // namespace morello::bench
