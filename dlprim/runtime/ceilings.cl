// The highest rates of the device. Macros: VECTOR, the type that a work item computes and copies with.
#include "core/common.cl"

// Copies `count` VECTORs. CPU: a work item walks a share. SIMT: one a work item.
__kernel void copy_ceiling(BUFFER(const float, source), BUFFER(float, target), const ulong count) {
  __global const VECTOR *restrict from = (__global const VECTOR *)(source_buffer + source_start);
  __global VECTOR *restrict to = (__global VECTOR *)(target_buffer + target_start);
#if SHAPE_CPU
  const ulong end = count * (get_global_id(0) + 1) / get_global_size(0);
  for (ulong i = count * get_global_id(0) / get_global_size(0); i < end; ++i) to[i] = from[i];
#else
  const ulong i = get_global_id(0);
  if (i < count) to[i] = from[i];
#endif
}

// CHAINS (ceilings.cpp) multiply-adds that wait for nothing but the one before in their own chain.
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define BEGIN(i) VECTOR chain##i = (VECTOR)(addend + i);
#define STEP(i) chain##i = fma(chain##i, (VECTOR)factor, (VECTOR)addend);
#define SUM_UP(i) sum += chain##i;

// `rounds` times STEPS (ceilings.cpp) steps of every chain; what comes out only keeps the work from being left out.
__kernel void multiply_add_ceiling(BUFFER(float, out), const int rounds, const float factor, const float addend) {
  EACH(BEGIN)
  for (int round = 0; round < rounds; ++round) {
    EACH(STEP)
    EACH(STEP)
    EACH(STEP)
    EACH(STEP)
  }
  VECTOR sum = (VECTOR)0;
  EACH(SUM_UP)
  ((__global VECTOR *)(out_buffer + out_start))[get_global_id(0)] = sum;
}
