#include "plain_threads.h"

#include "adapter.h"

int main() { return adapter::test(plain_threads()); }
