// Stable sorting of rows by radix. Values become unsigned keys whose order is the values' order. Pairs of key and
// position are put in order digit by digit, the lowest first. Macro: KEY_BITS, 32 or 64. A row is cut in blocks. A pass
// counts every block's digits, sums the counts (sums_before), and moves every pair to where its digit and block begin.
// Shape cpu: a work item takes a block; shape simt: a work group does (sort_simt.cl).
#include "core/common.cl"
#include "ops/sort/sort_shared.h"
#include "ops/sort/work.cl"

#if KEY_BITS == 64
typedef ulong key_t;
#else
typedef uint key_t;
#endif

#define DIGITS (1 << DIGIT_BITS)
#define DIGIT(key) ((int)((key) >> shift) & (DIGITS - 1))

// ---- keys

// Keys of floating bits: -0 becomes 0, and NaN stands above all.
#define FLOAT_KEY(bits, sign, infinity, all)       \
  (((bits) & ((sign) - 1)) > (infinity) ? (all)    \
   : (bits) == (sign)                ? (sign)      \
   : (bits) & (sign)                 ? ~(bits) & (all) \
                                     : (bits) | (sign))

#define KEYS_OF(dtype, type, key_of, all)                                                           \
  __kernel void keys_of_##dtype(BUFFER(const type, x), BUFFER(key_t, keys), const long numel, const int descending) { \
    BIND(const type, x);                                                                            \
    BIND(key_t, keys);                                                                              \
    FOR_MY(i, numel) {                                                                              \
      const key_t bits = (key_t)x[i];                                                               \
      const key_t key = key_of;                                                                     \
      keys[i] = descending ? ~key & (key_t)(all) : key;                                             \
    }                                                                                               \
  }

#if KEY_BITS == 64
#define TOP ((key_t)1 << 63)
KEYS_OF(float64, ulong, FLOAT_KEY(bits, TOP, (key_t)0x7ff0000000000000UL, ~(key_t)0), ~(key_t)0)
KEYS_OF(int64, ulong, bits ^ TOP, ~(key_t)0)
#else
KEYS_OF(float32, uint, FLOAT_KEY(bits, 0x80000000u, 0x7f800000u, 0xffffffffu), 0xffffffffu)
KEYS_OF(float16, ushort, FLOAT_KEY(bits, 0x8000u, 0x7c00u, 0xffffu), 0xffffu)
KEYS_OF(bfloat16, ushort, FLOAT_KEY(bits, 0x8000u, 0x7f80u, 0xffffu), 0xffffu)
KEYS_OF(int32, uint, bits ^ 0x80000000u, 0xffffffffu)
KEYS_OF(int16, ushort, bits ^ 0x8000u, 0xffffu)
KEYS_OF(int8, uchar, bits ^ 0x80u, 0xffu)
KEYS_OF(uint8, uchar, bits, 0xffu)
KEYS_OF(bool, uchar, bits != 0, 0xffu)
#endif

// ---- short rows

// Every element finds its own place: the number of elements that come before it. For short rows. The first `kept`
// places of a row are stored.
__kernel void order_short_rows(BUFFER(const key_t, keys), BUFFER(int, order), const long numel, const int n,
                               const int kept) {
  BIND(const key_t, keys);
  BIND(int, order);
  FOR_MY(e, numel) {
    const long row = e / n * n, kept_row = e / n * kept;
    const int own = e - row;
    const key_t key = keys[e];
    int place = 0;
    for (int i = 0; i < own; ++i) place += keys[row + i] <= key;
    for (int i = own + 1; i < n; ++i) place += keys[row + i] < key;
    if (place < kept) order[kept_row + place] = own;
  }
}

#if SHAPE_CPU
// The first `kept` of each row, at most CPU_MOST_FIRST. Those met so far are kept in order, and few of the others come
// before the last of them.
__kernel void order_of_first(BUFFER(const key_t, keys), BUFFER(int, order), const long rows, const int n,
                             const int kept) {
  BIND(const key_t, keys);
  BIND(int, order);
  FOR_MY(row, rows) {
    const __global key_t *row_keys = keys + row * n;
    key_t first[CPU_MOST_FIRST];
    int places[CPU_MOST_FIRST];
    int count = 0;
    for (int i = 0; i < n; ++i) {
      const key_t key = row_keys[i];
      if (count == kept && key >= first[kept - 1]) continue;
      int at = count < kept ? count++ : kept - 1;
      for (; at > 0 && key < first[at - 1]; --at) {
        first[at] = first[at - 1];
        places[at] = places[at - 1];
      }
      first[at] = key;
      places[at] = i;
    }
    for (int i = 0; i < kept; ++i) order[row * kept + i] = places[i];
  }
}
#endif

// ---- passes. Counts are [rows, DIGITS, blocks]. Without `order` the pairs stand in their first order.

#if SHAPE_CPU

__kernel void count_digits(BUFFER(const key_t, keys), BUFFER(int, counts), const int n, const long parts,
                           const int blocks, const int block_size, const int shift) {
  BIND(const key_t, keys);
  BIND(int, counts);
  FOR_MY(part, parts) {
    const long row = part / blocks;
    const int block = part - row * blocks;
    __global const key_t *row_keys = keys + row * n;
    const int first = block * block_size, end = min(n, first + block_size);
    int count[DIGITS];
    for (int d = 0; d < DIGITS; ++d) count[d] = 0;
    for (int i = first; i < end; ++i) ++count[DIGIT(row_keys[i])];
    for (int d = 0; d < DIGITS; ++d) counts[(row * DIGITS + d) * blocks + block] = count[d];
  }
}

__kernel void move_pairs(BUFFER(const key_t, keys), BUFFER(const int, order), BUFFER(const int, starts),
                         BUFFER(key_t, moved_keys), BUFFER(int, moved_order), const int n, const long parts,
                         const int blocks, const int block_size, const int shift) {
  BIND(const key_t, keys);
  BIND(const int, order);
  BIND(const int, starts);
  BIND(key_t, moved_keys);
  BIND(int, moved_order);
  FOR_MY(part, parts) {
    const long row = part / blocks;
    const int block = part - row * blocks;
    const int first = block * block_size, end = min(n, first + block_size);
    int next[DIGITS];
    for (int d = 0; d < DIGITS; ++d) next[d] = starts[(row * DIGITS + d) * blocks + block];
    for (int i = first; i < end; ++i) {
      const key_t key = keys[row * n + i];
      const long to = row * n + next[DIGIT(key)]++;
      moved_keys[to] = key;
      moved_order[to] = order_buffer ? order[row * n + i] : i;
    }
  }
}

#else
#include "ops/sort/sort_simt.cl"
#endif
