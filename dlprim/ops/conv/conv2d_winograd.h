#pragma once

#include <cstdint>

#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/gemm/gemm_implementations.h"

/** \file What implementations by Winograd's F(4x4, 3x3) and F(2x2, 3x3) (Lavin and Gray, arXiv 1509.09308)
 * have in common: a quarter of the multiply-adds (4/9), for which the elements and results of tiles are
 * turned into components and back. */

namespace dlprim::winograd {

/** The work of a convolution, or of one of its gradients, in square tiles. */
struct Extent {
  std::int64_t tiles, channels, rows;
};
Extent extent_of(const ConvForwardProblem& p, int tile_results = WINOGRAD_RESULTS);
Extent extent_of(const ConvBackwardDataProblem& p, int tile_results = WINOGRAD_RESULTS);
Extent extent_of(const ConvBackwardWeightProblem& p, int tile_results = WINOGRAD_RESULTS);

/** The memory of the components of elements and results, which are made for a piece of the tiles at a time:
 * its bytes, and the number that divides the tiles of a piece. */
struct PieceLimits {
  std::int64_t bytes, step;

  /** Tiles that fit at once; 0: too few. */
  std::int64_t most_tiles(const Extent& e) const;
  std::int64_t pieces(const Extent& e) const;
  std::int64_t tiles_of_piece(const Extent& e) const;
};

/** Whether windows are 3x3 at a stride of 1, of one group, and results sums of enough products: errors are
 * those of a tile, not of a result. The errors are small beside every result only if results are sums of many
 * products, from a fair part of what their tile holds. A corner with two padded rows meets one pixel alone.
 */
bool can_take(const ConvForwardProblem& p);
bool can_take(const ConvBackwardDataProblem& p);
bool can_take(const ConvBackwardWeightProblem& p);

/** A convolution of some microseconds is not worth the larger error. */
template <class Problem>
bool is_too_small(const Problem& p) {
  return p.multiply_adds() < 1e8;
}

/** The kernels' argument, without the range of tiles. */
ConvWinograd shape_of(const ConvForwardProblem& p, int tile_results = WINOGRAD_RESULTS);
ConvWinograd shape_of(const ConvBackwardDataProblem& p, int tile_results = WINOGRAD_RESULTS);
ConvWinograd shape_of(const ConvBackwardWeightProblem& p, int tile_results = WINOGRAD_RESULTS);

/** The products of a piece for the gradient by the weight, which are added to those of the others: components
 * of gradients [component][row][pitch] and elements [component][channel][pitch], each component with
 * `padding` behind it, of so many tiles, summed in
 * chains of that length where the products can. */
GemmProblem weight_products(const Extent& e, std::int64_t tiles, std::int64_t pitch, std::int64_t padding,
                            const Tensor& gradients, const Tensor& elements, const Tensor& sums,
                            bool is_first);

/** Sums of components are made of chains of so many channels: with one of 512 the error was nine times that
 * of PyTorch's convolution on CPUs, with these it is three times that. */
constexpr int chain = 32;

/** On GPUs, of the components of all filters. */
constexpr std::int64_t most_filter_bytes = 80 << 20;

}  // namespace dlprim::winograd
