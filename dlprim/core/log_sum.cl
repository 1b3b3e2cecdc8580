// LOG1(x) and LOG16(x): logarithms of sums of exponentials on CPUs, whose libraries compute them one element at a time
// (PoCL 3.1: 50 ns). Include it after core/vectors.cl.
#include "core/power.cl"
#include "core/logarithms.cl"

#define LOG1 JOIN(LOG_OF_, REAL)
#define LOG_OF_double log
#ifdef LOG_OF_2
#define LOG_OF_float(x) (float)(LOG_OF_2 * binary_log(x))
#else
#define LOG_OF_float log
#endif

inline REAL16 LOG16(REAL16 x) {
  REAL lanes[16];
  vstore16(x, 0, lanes);
  for (int l = 0; l < 16; ++l) lanes[l] = LOG1(lanes[l]);
  return vload16(0, lanes);
}
