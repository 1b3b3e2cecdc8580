#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/conv/conv_shared.h"
#include "dlprim/ops/gemm/product_join.h"
#include "dlprim/ops/gemm/product_tile.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/runtime/implementation.h"

namespace dlprim {

/** Sizes of one convolution, shared by its three directions. */
struct ConvSizes {
  std::int64_t images, groups;
  std::int64_t in_channels, out_channels;  // of one group
  std::int64_t size[2], out_size[2], kernel[2];
  std::int64_t stride[2], padding[2], dilation[2];

  std::int64_t out_pixels() const { return out_size[0] * out_size[1]; }
  std::int64_t in_pixels() const { return size[0] * size[1]; }
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  /** Whether tiles of products would waste more than plain sums cost. An estimate. */
  bool has_narrow_groups() const { return groups > 1 && std::min(in_channels, out_channels) < 4; }
  /** Multiply-adds of the forward pass; the other directions have as many where the stride is 1. */
  double multiply_adds() const {
    return static_cast<double>(images * groups * out_pixels()) *
           static_cast<double>(out_channels * in_channels * taps());
  }
  ProblemKey key(DType dtype, MatmulPrecision precision, bool has_bias = false) const {
    return ProblemKey(images, groups, in_channels, out_channels, size[0], size[1], kernel[0], kernel[1],
                      stride[0], stride[1], padding[0], padding[1], dilation[0], dilation[1], dtype,
                      precision, has_bias);
  }
};

/** The cost of simt_direct in each direction. */
double cost_of_direct_conv(const ConvSizes& sizes);
/** The extents that the kernels of a GPU get. Throws ValueError where they count more than an int holds. */
ConvShape conv_shape(const ConvSizes& sizes);
/** In how many parts to make a gradient by the weight whose sums run over `places`, with `groups` groups of
 * CONV_WEIGHT_ITEMS items a part: as many as fill the device, if each item gets a few places. Throws
 * ValueError where an int does not hold the groups. */
std::int64_t parts_of_weight_sum(const DeviceInfo& device, std::int64_t groups, std::int64_t places);

// The products of conv_gather_simt.cl, for implementations that pack an operand themselves.

/** The product of one phase: the first, which has the most results. */
ProductSize product_size(const ConvGather& gather);
/** Whether it has few channels, so that its depth runs over channels and taps at once (FLAT). */
bool is_flat(const ConvGather& gather);
/** How to split the depth of such a product, of that size. */
DepthSplit split_gather(const ProductTile& tile, const DeviceInfo& device, const ConvGather& gather,
                        const ProductSize& size, double at_speed);

/** Strides of a filter's elements in the weight, in elements. */
struct FilterStrides {
  std::int64_t row, channel;
};
/** Fills in how far the sizes of packed filters are padded; how many elements those have. `flat`: FLAT;
 * `channels`: of a tap, with what pads them. */
std::int64_t pad_filters(const ProductTile& tile, bool flat, std::int64_t channels, ConvGather& gather);
/** `packed`: as many elements as pad_filters said, for each of tile.packed_parts(). */
void pack_filters(Queue& queue, const ProductTile& tile, const Defines& defines, const ConvGather& gather,
                  const FilterStrides& strides, const Tensor& weight, const Tensor& packed);
/** `defines`: of the tile, and FLAT. `split`: of its depth, channels and taps; all or some channels' taps. */
void multiply_packed(Queue& queue, const ProductTile& tile, const DepthSplit& split, const Defines& defines,
                     const ConvGather& gather, const Tensor& source, const Tensor& packed, const Tensor* bias,
                     const Tensor& result);
/** The product of conv_weight_simt.cl. `range`: of the split product; sums [split.parts, elements of the
 * weight]. */
void multiply_gradients(Queue& queue, const Defines& defines, const Range& range, const DepthSplit& split,
                        const ConvShape& shape, const Tensor& dy, const Tensor& x, const Tensor& sums);
/** `multiply` makes so many parts of a gradient, which are then joined; dw itself where there is one. */
void join_gradient(Queue& queue, std::int64_t parts, const Tensor& dw,
                   const std::function<void(const Tensor& sums)>& multiply);
/** The whole depth in one part. */
DepthSplit not_split(const ConvGather& gather);

// Checked, contiguous, nothing empty.

struct ConvForwardProblem {
  ConvSizes sizes;
  const Tensor& x;
  const Tensor& weight;
  const Tensor* bias;
  const Tensor& y;
  MatmulPrecision precision;
  // The work on a result, on CPUs. It is empty elsewhere, and for float64.
  Epilogue epilogue{};

  double multiply_adds() const { return sizes.multiply_adds(); }
  std::optional<ProblemKey> key() const { return sizes.key(x.dtype, precision, bias != nullptr); }
};

/** y = the epilogue's activation of y + its addend, in launches of their own. */
void apply_epilogue(Queue& queue, const Epilogue& epilogue, const Tensor& y);

struct ConvBackwardDataProblem {
  ConvSizes sizes;
  const Tensor& dy;
  const Tensor& weight;
  const Tensor& dx;
  MatmulPrecision precision;

  double multiply_adds() const { return sizes.multiply_adds(); }
  std::optional<ProblemKey> key() const { return sizes.key(dy.dtype, precision); }
};

struct ConvBackwardWeightProblem {
  ConvSizes sizes;
  const Tensor& dy;
  const Tensor& x;
  const Tensor& dw;
  MatmulPrecision precision;

  double multiply_adds() const { return sizes.multiply_adds(); }
  std::optional<ProblemKey> key() const { return sizes.key(dy.dtype, precision); }
};

/** A forward pass or a gradient by the input as a product that gathers its right operand. */
struct GatherProblem {
  ConvGather gather;
  FilterStrides filters;
  const Tensor &source, &weight;
  const Tensor* bias;
  const Tensor& result;
  MatmulPrecision precision;
};
GatherProblem as_gather(const ConvForwardProblem& problem);
GatherProblem as_gather(const ConvBackwardDataProblem& problem);

using ConvForward = Implementation<ConvForwardProblem>;
using ConvBackwardData = Implementation<ConvBackwardDataProblem>;
using ConvBackwardWeight = Implementation<ConvBackwardWeightProblem>;

// All devices: one window of whole planes, which is a matrix product.
ConvForward conv2d_forward_linear();
ConvBackwardData conv2d_backward_data_linear();
ConvBackwardWeight conv2d_backward_weight_linear();

// Devices of KernelShape::cpu.
// - Tiles: the register tile of the matrix product.
// - Direct: vectors along an output row, for groups too narrow for tiles.
// - Scatter: contributions of every tap, added up.
// - Products: windows of one element.
// - Winograd: 3x3 windows at a stride of 1 with a quarter of the multiply-adds.
ConvForward conv2d_forward_cpu_tiles();
ConvForward conv2d_forward_cpu_direct();
ConvBackwardData conv2d_backward_data_cpu_tiles();
ConvBackwardData conv2d_backward_data_cpu_direct();
ConvBackwardData conv2d_backward_data_cpu_scatter();
ConvBackwardWeight conv2d_backward_weight_cpu_tiles();
ConvBackwardWeight conv2d_backward_weight_cpu_direct();
ConvForward conv2d_forward_cpu_products();
ConvBackwardData conv2d_backward_data_cpu_products();
ConvForward conv2d_forward_winograd_cpu();
ConvBackwardData conv2d_backward_data_winograd_cpu();
ConvBackwardWeight conv2d_backward_weight_winograd_cpu();

// The others.
// - Products: one for each of product_tiles that takes operands as they lie, and gathers them.
// - Winograd: such products of Winograd's components, one for each tile that is as precise as float32.
// - Fused: smaller tiles' components, in local memory alone.
// - Channels last, images last: operands packed before, for tiles of warp groups below float32's precision.
// - Mapped: windows one element wide, where the device brings operands and rounds them.
// - Strip: an item makes some results of a plane, for groups too narrow for tiles and small windows.
// - Direct: an item makes a result (or a group a weight).
std::vector<ConvForward> conv2d_forward_products();
std::vector<ConvBackwardData> conv2d_backward_data_products();
std::vector<ConvBackwardWeight> conv2d_backward_weight_products();
std::vector<ConvForward> conv2d_forward_channels_last();
std::vector<ConvBackwardData> conv2d_backward_data_channels_last();
std::vector<ConvBackwardWeight> conv2d_backward_weight_images_last();
std::vector<ConvForward> conv2d_forward_mapped();
std::vector<ConvBackwardData> conv2d_backward_data_mapped();
std::vector<ConvBackwardWeight> conv2d_backward_weight_mapped();
std::vector<ConvForward> conv2d_forward_winograd_simt();
std::vector<ConvForward> conv2d_forward_winograd_fused();
std::vector<ConvBackwardData> conv2d_backward_data_winograd_simt();
std::vector<ConvBackwardData> conv2d_backward_data_winograd_fused();
std::vector<ConvBackwardWeight> conv2d_backward_weight_winograd_simt();
std::vector<ConvBackwardWeight> conv2d_backward_weight_winograd_fused();
ConvForward conv2d_forward_simt_strip();
ConvBackwardData conv2d_backward_data_simt_strip();
ConvBackwardWeight conv2d_backward_weight_simt_strip();
ConvForward conv2d_forward_simt_direct();
ConvBackwardData conv2d_backward_data_simt_direct();
ConvBackwardWeight conv2d_backward_weight_simt_direct();

}  // namespace dlprim
