#pragma once

#include <functional>

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

/**
 * \file Tables of complex factors that transforms multiply by: [2, count], cosines first. They are computed
 * in double precision, from angles that are reduced as integers, and kept by device, dtype and lengths, the
 * least recently used not for ever. Thread safe.
 */

namespace dlprim {

/** exp(-2 pi i k / n) for k < n. */
Tensor fft_roots(Queue& queue, DType dtype, std::int64_t n);
/** exp(-2 pi i j k / (first * rest)) for k < first and j < rest, at k * rest + j. */
Tensor fft_twiddles(Queue& queue, DType dtype, std::int64_t first, std::int64_t rest);
/** Bluestein's chirp exp(-pi i k² / n) for k < n, and 0 to `padded` elements. Its conjugate: for the results.
 */
Tensor fft_chirp(Queue& queue, DType dtype, std::int64_t n, std::int64_t padded, bool conjugate);
/** The transform of length `padded` of the conjugate chirp, which is continued to k < 0; `transform` makes it
 * of that chirp's values [padded, 2]. */
Tensor fft_chirp_spectrum(Queue& queue, DType dtype, std::int64_t n, std::int64_t padded,
                          const std::function<void(const Tensor& chirp, const Tensor& spectrum)>& transform);

}  // namespace dlprim
