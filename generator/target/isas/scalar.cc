// Portable C++: the fallback of every other instruction set, and the readable reference.
#include "target/tables.h"

namespace morello::isas {

static bool runs_here() { return true; }

const Isa scalar = {
    .name = "scalar",
    .attribute = "",
    .cpu_features = {},
    .include = "",
    .vector_registers = 16,
    .register_types = {{Dtype::f32, 1, "float"},
                       {Dtype::i32, 1, "std::int32_t"},
                       {Dtype::i16, 1, "std::int16_t"}},
    .runs_here = runs_here,
    .prelude = kernels::scalar.prelude,
    .prefetch = "__builtin_prefetch({p}, 0, 3);",
    .keep = "",
    .forget = "",
    .kernels = {kernels::scalar.kernels},
    .accesses = {kernels::scalar.accesses},
    .functions = {kernels::scalar_math.functions},
};

}  // namespace morello::isas
