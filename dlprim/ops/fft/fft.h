#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Discrete Fourier transforms along one dimension of complex numbers, which are the pairs (real, imaginary)
 * of a last dimension of size 2:
 *
 *     y[k] = scale * sum over j of x[j] exp(-2 pi i j k / n),   with +2 pi where `inverse`
 *
 * float32 and float64, any length n >= 1, any strides of `x`; results are contiguous and do not overlap `x`.
 * `dim` is one of the dimensions before the pairs. README.md tells how lengths are computed. Functions throw
 * IndexError for a bad dim, ValueError and TypeError for tensors that do not fit.
 */

/** Complex to complex: x and y are [..., n, ..., 2]. */
void fft_c2c(Queue& queue, const Tensor& x, std::int64_t dim, bool inverse, double scale, const Tensor& y);

/** Real to complex: x is [..., n, ...]; y is [..., m, ..., 2], where m is n or, without the second half of
 * the spectrum, n / 2 + 1. Never inverse. */
void fft_r2c(Queue& queue, const Tensor& x, std::int64_t dim, double scale, const Tensor& y);

/** The first half of a spectrum to real numbers: x is [..., n / 2 + 1, ..., 2]; y is [..., n, ...]. Always
 * inverse. The imaginary parts of x[0] and, for even n, x[n / 2] do not count. */
void fft_c2r(Queue& queue, const Tensor& x, std::int64_t dim, double scale, const Tensor& y);

}  // namespace dlprim
