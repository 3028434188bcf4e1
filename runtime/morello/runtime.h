// Everything a program around generated kernels may want; each header also stands alone.
#ifndef MORELLO_RUNTIME_H_
#define MORELLO_RUNTIME_H_

#include "morello/aligned.h"
#include "morello/bf16.h"
#include "morello/cpu.h"
#include "morello/parallel.h"
#include "morello/thread_pool.h"

#endif  // MORELLO_RUNTIME_H_
