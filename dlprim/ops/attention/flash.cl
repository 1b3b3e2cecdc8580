// What kernels of attention that keep their scores in registers and local memory have in common (Dao et al.,
// "FlashAttention", 2022; "FlashAttention-2", 2023): a work group takes a block of queries, or of keys, and walks
// through those of the other kind.
#include "core/common.cl"
#include "ops/attention/attention_shared.h"
#include "ops/random/philox.cl"
#include "ops/random/random_shared.h"

// So that private arrays are registers. Compilers for CPUs, which have few, would take minutes.
#if defined(__x86_64__) || defined(__aarch64__)
#define UNROLL _Pragma("unroll 1")
#else
#define UNROLL _Pragma("unroll")
#endif
#define DO_NOT_UNROLL _Pragma("unroll 1")
#define OPTIONAL(name) (name##_buffer ? name##_buffer + name##_start : 0)

// `keep`: 0 hides a key; `bias`: added to the scores. At most one is given. scale: of scores; kept_scale: of what
// dropout leaves. `not_finite`, of each block of FLASH_TILE own lines of an item of the batch: whether a result of its
// is not, which products on tensor cores may make of what plain sums do not; the portable kernels do such blocks anew
// (FLASH_ONLY_MARKED).
#define FLASH_ARGS                                                                                                   \
  BUFFER(const STORAGE, query), BUFFER(const STORAGE, key), BUFFER(const STORAGE, value), BUFFER(const uchar, keep), \
      BUFFER(const STORAGE, bias), BUFFER(int, not_finite), const FlashExtents e, const ulong seed,                  \
      const ulong offset, const REAL scale, const REAL kept_scale

// This group's item of the batch and block. Late blocks of causal attention have most keys, so they begin.
#define FLASH_BIND                                                                          \
  const long batch = get_group_id(0) / e.blocks;                                            \
  const int block = e.blocks - 1 - (int)(get_group_id(0) % e.blocks);                       \
  const __global STORAGE *query = query_buffer + query_start + batch * e.query.item;        \
  const __global STORAGE *key = key_buffer + key_start + batch * e.key.item;                \
  const __global STORAGE *value = value_buffer + value_start + batch * e.value.item;        \
  const long mask_start = MASK_START;                                                       \
  const __global uchar *keep = keep_buffer ? keep_buffer + keep_start + mask_start : 0;     \
  const __global STORAGE *bias = bias_buffer ? bias_buffer + bias_start + mask_start : 0

#define MASK_START \
  (keep_buffer || bias_buffer ? batch / e.mask.inner_size * e.mask.outer + batch % e.mask.inner_size * e.mask.inner : 0)
// The part of not_finite for own lines from `first` on, of so many.
#define MARK_OF(first, lines) \
  not_finite_buffer[not_finite_start + batch * (((lines) + FLASH_TILE - 1) / FLASH_TILE) + (first) / FLASH_TILE]

// Further arguments of backward: the output's gradient, contiguous, the logarithms of sums, and what flash_dots makes.
#define FLASH_BACKWARD_ARGS \
  FLASH_ARGS, BUFFER(const STORAGE, grad_output), BUFFER(const REAL, log_sums), BUFFER(const REAL, dots)
#define FLASH_BIND_BACKWARD                                                                                           \
  FLASH_BIND;                                                                                                         \
  const OperandStrides grad_strides = {(long)e.queries * e.value_columns, e.value_columns, 1};                        \
  const __global STORAGE *grad_output = grad_output_buffer + grad_output_start + batch * grad_strides.item;           \
  const __global REAL *log_sums = log_sums_buffer + log_sums_start + batch * e.queries;                               \
  const __global REAL *dots = dots_buffer + dots_start + batch * e.queries

// The output may be wider than the operands are (FLASH_WIDE_OUTPUT), for flash_dots.
#if FLASH_WIDE_OUTPUT
#define OUTPUT REAL
#define LOAD_OUTPUT(output, i) (output)[i]
#define STORE_OUTPUT(output, i, value) (output)[i] = (value)
#else
#define OUTPUT STORAGE
#define LOAD_OUTPUT LOAD
#define STORE_OUTPUT STORE
#endif

// Whether query q meets key k, both of them there.
inline bool is_met(const int q, const int k, const FlashExtents e) {
  return q < e.queries && k < e.keys && !(e.is_causal && k > q);
}

// The score of a query that meets the key.
inline REAL masked_score(const REAL score, const int q, const int k, const FlashExtents e, const __global uchar *keep,
                         const __global STORAGE *bias) {
  const long at = q * e.mask.query + k * e.mask.key;
  if (keep && !keep[at]) return -INFINITY;
  return bias ? score + LOAD(bias, at) : score;
}

// A row of nothing but -inf is shifted by 0, so that its exponentials are 0, and those are divided by 1.
inline REAL shift_of(const REAL top) { return top == -INFINITY ? (REAL)0 : top; }
inline REAL divisor_of(const REAL sum) { return sum == 0 ? (REAL)1 : sum; }

// The word drawn for an element of [batch, queries, keys], as dropout of the whole draws it (random.h).
inline bool is_kept(const long batch, const int q, const int k, const FlashExtents e, const ulong seed,
                    const ulong offset) {
  const ulong element = ((ulong)batch * e.queries + q) * e.keys + k;
  const uint4 words = random_words(seed, offset + element / (4 * RANDOM_RUN) * RANDOM_RUN + element % RANDOM_RUN);
  const int word = element / RANDOM_RUN % 4;
  return (word < 2 ? word ? words.y : words.x : word == 2 ? words.z : words.w) >= (ulong)e.threshold;
}
