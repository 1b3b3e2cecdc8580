// The second step of gradients by the weight on a GPU: the parts that the first left are added, in order.
#include "core/common.cl"

__kernel void conv_weight_sum(BUFFER(const REAL, partials), BUFFER(STORAGE, dw), const int count, const int parts) {
  BIND(const REAL, partials);
  BIND(STORAGE, dw);
  const int at = get_global_id(0);
  if (at >= count) return;
  REAL sum = 0;
  for (int part = 0; part < parts; ++part) sum += partials[(long)part * count + at];
  STORE(dw, at, sum);
}
