// convert: a itself, in the result's type or layout. (Every operator computes in f32 or i32 and
// stores what the result is; alone this one says that nothing else happens.)

#include "spec/op.h"

namespace morello::ops {

static int term(Terms&, std::span<const int> args) { return args[0]; }

extern const OpDef convert = {
    .name = "convert", .arity = 1, .usage = "convert(a[...])", .term = term};

}  // namespace morello::ops
