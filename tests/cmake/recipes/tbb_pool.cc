#include "tbb_pool.h"

#include "adapter.h"

int main() { return adapter::test(tbb_pool()); }
