// OpenBLAS. It chooses its kernels when it is loaded, from the environment, so it is loaded here;
// and it has names in common with BLIS, so that its own come first.
#include <dlfcn.h>

#include <cstdlib>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

// From cblas.h, which other libraries have, too.
enum { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };
using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                       float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                       float* c, int ldc);

struct Library {
  Sgemm sgemm = nullptr;
  std::string core;
};

const Library& library() {
  static const Library loaded = [] {
    Library out;
    setenv("OPENBLAS_CORETYPE", kAvx512 ? "SkylakeX" : "Haswell", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void* handle = dlopen(MORELLO_PEER_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (handle == nullptr) return out;
    out.sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
    const auto core = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_corename"));
    if (core != nullptr) out.core = core();
    return out;
  }();
  return loaded;
}

}  // namespace

Contenders openblas(const Product& p) {
  const Sgemm sgemm = library().sgemm;
  if (!p.is_plain_f32() || sgemm == nullptr) return {};
  const int m = static_cast<int>(p.m()), n = static_cast<int>(p.n()), k = static_cast<int>(p.k());
  const int stride = static_cast<int>(p.b.stride());
  const int transpose = p.b_by_rows() ? kNoTranspose : kTranspose;
  return {{"OpenBLAS", library().core, [=] {
             sgemm(kRowMajor, kNoTranspose, transpose, m, n, k, 1, p.f32_a(), k, p.f32_b(), stride,
                   0, p.f32_out(), n);
           }}};
}

}  // namespace morello::bench
