#include "target/isa.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "spec/kernel_spec.h"
#include "target/tables.h"

namespace morello {

std::span<const Isa* const> isa_table() {
  static constexpr const Isa* kTable[] = {
#define X(name) &isas::name,
#include "isas.inc"
#undef X
  };
  return kTable;
}

const Isa* find_isa(std::string_view name) {
  for (const Isa* isa : isa_table())
    if (isa->name == name) return isa;
  return nullptr;
}

static const RegisterType& of(const Isa& isa, Dtype t, int lanes) {
  for (const RegisterType& r : isa.register_types)
    if (r.dtype == t && r.lanes == lanes) return r;
  MORELLO_CHECK(false, "{} has no register of {} for {} lanes", isa.name, name(t), lanes);
  return isa.register_types.front();
}

std::string_view Isa::register_type(Dtype t, int lanes) const { return of(*this, t, lanes).type; }
std::string_view Isa::splat(Dtype t, int lanes) const { return of(*this, t, lanes).splat; }
std::string_view Isa::blend(Dtype t, int lanes) const { return of(*this, t, lanes).blend; }
std::string_view Isa::spread(Dtype t, int lanes) const { return of(*this, t, lanes).spread; }

int Isa::widest() const {
  int most = 1;
  for (std::span<const Kernel> rows : kernels)
    for (const Kernel& k : rows) most = std::max(most, k.lanes);
  return most;
}

const Function* Isa::function(Fn fn, Dtype type, int lanes) const {
  for (std::span<const Function> rows : functions)
    for (const Function& f : rows)
      if (f.fn == fn && f.type == type && f.lanes == lanes) return &f;
  return nullptr;
}

const Fold* Isa::fold(Dtype type, int lanes) const {
  for (std::span<const Fold> rows : folds)
    for (const Fold& f : rows)
      if (f.type == type && f.lanes == lanes) return &f;
  return nullptr;
}

const Computation& meaning(std::string_view implements) {
  // Rows are asked for by all threads of a search. Entries of a map stay where they are, so the
  // reference outlives the lock.
  static std::mutex mutex;
  static std::map<std::string, Computation, std::less<>> cache;
  const std::lock_guard lock(mutex);
  if (const auto found = cache.find(implements); found != cache.end()) return found->second;
  Result<KernelSpec> spec = parse_leaf_row(implements);
  MORELLO_CHECK(spec.ok(), "{}", spec.error().str());
  return cache.emplace(implements, spec->computation()).first->second;
}

}  // namespace morello
