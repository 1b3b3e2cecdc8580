"""The OpenCL C that stands before a generated kernel."""

from __future__ import annotations

import re

# Functions in capitals are those of the library's own pointwise kernels, for the type T.
_FUNCTIONS = """\
#define T {real}
#define T_IS_FLOATING 1
#include "ops/pointwise/functions.cl"
"""

_LOOPS = """\
#include "core/in_vectors.cl"
#define INLINE static inline __attribute__((always_inline))
#if SHAPE_CPU && defined(__clang__) && !defined(__SPIR32__) && !defined(__SPIR64__)
#define VECTOR_LOOP_(text) _Pragma(#text)
#define VECTOR_LOOP(lanes) VECTOR_LOOP_(clang loop vectorize(assume_safety) vectorize_width(lanes))
#define IN_ANY_ORDER _Pragma("clang fp reassociate(on)")
#else
#define VECTOR_LOOP(lanes)
#define IN_ANY_ORDER
#endif
#define ADD_TO(sum, value) { IN_ANY_ORDER sum = sum + (value); }
#define MULTIPLY_INTO(product, value) { IN_ANY_ORDER product = product * (value); }
#if HAS_FP64
#define REAL_NUMBER double
#else
#define REAL_NUMBER float
#endif
"""

_WHOLE_NUMBERS = """\
// Division by zero, which traps on CPUs, gives 0.
INLINE long whole_quotient(long a, long b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }
INLINE long whole_remainder(long a, long b) { return b == 0 || b == -1 ? 0 : a % b; }
INLINE long floored_quotient(long a, long b) {
  const long quotient = whole_quotient(a, b);
  return whole_remainder(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
INLINE long floored_remainder(long a, long b) {
  const long rest = whole_remainder(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
INLINE long integer_power(long a, long b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  long result = 1;
  for (; b > 0; b >>= 1, a *= a)
    if (b & 1) result *= a;
  return result;
}
"""

_KEYS = """\
// Integers in the order of the numbers: those of NaN lie behind all others.
INLINE int order_of_float(float x) { const int bits = as_int(x); return bits ^ ((bits >> 31) & 0x7fffffff); }
INLINE int largest_key_of_float(float x) { return isnan(x) ? INT_MAX : order_of_float(x); }
INLINE int least_key_of_float(float x) { return isnan(x) ? INT_MIN : order_of_float(x); }
INLINE float float_of_key(int key) { return as_float(key ^ ((key >> 31) & 0x7fffffff)); }
"""

_KEYS_OF_DOUBLE = """\
INLINE long order_of_double(double x) {
  const long bits = as_long(x);
  return bits ^ ((bits >> 63) & LONG_MAX);
}
INLINE long largest_key_of_double(double x) { return isnan(x) ? LONG_MAX : order_of_double(x); }
INLINE long least_key_of_double(double x) { return isnan(x) ? LONG_MIN : order_of_double(x); }
INLINE double double_of_key(long key) { return as_double(key ^ ((key >> 63) & LONG_MAX)); }
"""

_HALF_BITS = """\
INLINE ushort float16_bits(float x) { ushort bits; vstore_half_rte(x, 0, (half *)&bits); return bits; }
INLINE float float16_of_bits(ushort bits) { return vload_half(0, (half *)&bits); }
"""

_RANDOM = """\
// Philox4x32-10 (Salmon et al., SC 2011) of a seed's counter, and uniform and normal numbers of its words.
INLINE void philox(ulong seed, ulong offset, uint words[4]) {
  uint a = (uint)offset, b = (uint)(offset >> 32), c = 0, d = 0;
  uint key_a = (uint)seed, key_b = (uint)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const ulong p = (ulong)a * 0xD2511F53u, q = (ulong)c * 0xCD9E8D57u;
    a = (uint)(q >> 32) ^ b ^ key_a;
    b = (uint)q;
    c = (uint)(p >> 32) ^ d ^ key_b;
    d = (uint)p;
    key_a += 0x9E3779B9u;
    key_b += 0xBB67AE85u;
  }
  words[0] = a, words[1] = b, words[2] = c, words[3] = d;
}
INLINE float philox_uniform(ulong seed, ulong offset) {
  uint words[4];
  philox(seed, offset, words);
  return (words[0] >> 8) * 5.9604645e-08f;  // 2^-24: all of [0, 1), never 1
}
INLINE float philox_normal(ulong seed, ulong offset) {
  uint words[4];
  philox(seed, offset, words);
  const float radius = sqrt(-2.0f * (float)LOG(((words[0] >> 8) + 1) * 5.9604645e-08f));
  return radius * (float)COS((words[1] >> 8) * 3.7450703e-07f);  // 2 pi 2^-24
}
INLINE long philox_integer(ulong seed, ulong offset, long low, long high) {
  uint words[4];
  philox(seed, offset, words);
  const ulong bits = (ulong)words[1] << 32 | words[0];
  return high <= low ? low : low + (long)(bits % (ulong)(high - low));
}
"""

_CHECKS = """\
// The first kernel that fails leaves its code and the offending value (FAIL of dlprim/core/common.cl).
#define FAILED(k, offending) \\
  if (atomic_cmpxchg((volatile __global int *)&error_word##k->code, 0, error_code##k) == 0) \\
    error_word##k->value = (long)(offending);
"""

_PARTS = (
    (_CHECKS, r"\bFAILED\("),
    (_WHOLE_NUMBERS, r"\b(whole|floored)_(quotient|remainder)\(|\binteger_power\("),
    (_KEYS, r"_key_of_float\(|float_of_key\("),
    (_KEYS_OF_DOUBLE, r"_key_of_double\(|double_of_key\("),
    (_HALF_BITS, r"\bfloat16_(of_)?bits\("),
    (_RANDOM, r"\bphilox_"),
)


def prelude(kernel: str) -> str:
    """The text that has to stand before that kernel."""
    parts = [text for text, names in _PARTS if re.search(names, kernel)]
    text = '#include "core/common.cl"\n' + _LOOPS
    if (
        re.search(
            r"\b[A-Z][A-Z0-9_]+\(|float_equal",
            re.sub(r"\b(ADD_TO|MULTIPLY_INTO|BUFFER|BIND|FAIL\w*|VECTOR_LOOP)\(", "", kernel),
        )
        or _RANDOM in parts
    ):
        text += _FUNCTIONS.format(real="double" if re.search(r"\bdouble\b", kernel) else "float")
    return text + "".join(parts)
