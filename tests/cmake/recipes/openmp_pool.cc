#include "openmp_pool.h"

#include "adapter.h"

int main() { return adapter::test(openmp_pool()); }
