// ExprSyntax -> Expr: which parameter a name is, which operator a word; internal to spec/.
#pragma once

#include "spec/op.h"
#include "spec/syntax.h"

namespace morello {

// `names` are what a name in the expression may be: Expr::param is an index of them.
Result<Expr> resolve(const ExprSyntax& s, const std::vector<std::string>& names,
                     const Source& source);

}  // namespace morello
