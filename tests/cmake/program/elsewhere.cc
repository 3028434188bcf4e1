// The same kernels in a second translation unit, which may have other flags.
#include "check.h"

int wrong_elsewhere();

int wrong_elsewhere() { return check::wrong_results(); }
