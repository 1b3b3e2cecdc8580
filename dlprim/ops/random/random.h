#pragma once

#include <array>
#include <cstdint>

#include "dlprim/core/fields.h"
#include "dlprim/core/philox_state.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Random numbers by Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
 * Element i of a result is a pure function of (seed, offset, i): the same on every device, for every kernel
 * shape and launch geometry.
 *
 * The key is the seed, the counter's low 64 bits are offset + b, its high ones 0. A counter gives four words
 * of 32 bits. Elements come in runs of 64 that use 16 counters: element i takes word (i / 16) % 4 of counter
 * b = (i / 64) * 16 + i % 16. Elements that need 64 bits (float64, random_integers) come in runs of 32: words
 * 2w and 2w + 1 with w = (i / 16) % 2 of counter b = (i / 32) * 16 + i % 16.
 *
 * Tensors are contiguous, which is checked. The caller moves the state on by philox_increment(numel)
 * per call:
 *
 *     PhiloxState state{seed};
 *     random_normal(queue, weight, 0, 0.02, state);
 *     state.offset += philox_increment(weight.numel());
 */

/** Counters that one call on `numel` elements may consume, whatever the dtype. */
inline std::uint64_t philox_increment(std::int64_t numel) {
  return (static_cast<std::uint64_t>(numel) + 31) / 32 * 16;
}

/** The four words of counter `index` of the stream `seed`, computed on the host. */
std::array<std::uint32_t, 4> philox_words(std::uint64_t seed, std::uint64_t index);

/** A word below it means "drop": probability p to 32 bits. */
std::uint64_t drop_threshold(double p);
/** The factor of kept elements. */
double kept_scale(double p);

/** Uniform in [low, high): 24 random bits (53 for float64), as low + (high - low) * u. Any floating dtype.
 * (torch.Tensor.uniform_) Throws ValueError unless low <= high. */
void random_uniform(Queue& queue, const Tensor& out, double low, double high, PhiloxState state);

/**
 * Normal by Box–Muller (torch.Tensor.normal_), any floating dtype. Words 0 and 1 of a counter give the
 * elements that take words 0 and 1, words 2 and 3 those that take them. For float64 words are of 64 bits
 * each, and a counter gives one pair. The numbers are equal everywhere but for the device's rounding of sqrt
 * (float64: of log, cospi and sinpi).
 */
void random_normal(Queue& queue, const Tensor& out, double mean, double std, PhiloxState state);

/** 1 with probability p (to 32 bits), else 0 (torch.Tensor.bernoulli_). Any dtype. Throws ValueError unless 0
 * <= p <= 1. */
void random_bernoulli(Queue& queue, const Tensor& out, double p, PhiloxState state);

/** Uniform integers in [low, high) (torch.randint); any dtype, bool by the words of random_bernoulli. Throws
 * ValueError unless low < high, and for numbers beyond those of an integer dtype. */
void random_integers(Queue& queue, const Tensor& out, std::int64_t low, std::int64_t high, PhiloxState state);

/**
 * y = x * mask / (1 - p), where mask is 0 with probability p. The mask depends on (seed, offset, element
 * index) alone: the backward pass is the same call on dy with the same state. Both are floating, of one shape
 * and dtype; y may be x. (torch.nn.functional.dropout) Throws ValueError unless 0 <= p <= 1.
 */
void dropout(Queue& queue, const Tensor& x, double p, PhiloxState state, const Tensor& y);

/** Which elements of a larger tensor those of x [a, b, c] are: (i, j, k) is its number first + i * outer + j
 * * inner + k. */
struct DropoutPart {
  std::int64_t first = 0, outer = 0, inner = 0;
  FIELDS(first, outer, inner)
};

/** Dropout of a part of a larger tensor, whose elements are dropped or kept as in dropout of the
 * whole. Throws ValueError, TypeError. */
void dropout_part(Queue& queue, const Tensor& x, double p, PhiloxState state, const DropoutPart& part,
                  const Tensor& y);

/** The kernel `name` of random.cl for results of that dtype. */
Kernel& random_kernel(Queue& queue, const char* name, DType dtype);

}  // namespace dlprim
