#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr const char* gather_file = "ops/conv/conv_gather_simt.cl";
constexpr const char* weight_file = "ops/conv/conv_weight_simt.cl";

// Below this many channels most of a panel would be padding, if each tap had its own.
constexpr std::int64_t few_channels = 8;

// ---- forward, backward data

ConvGather forward_gather(const ConvSizes& p) {
  const ConvShape s = conv_shape(p);
  return {s.images,
          s.groups,
          s.out_channels,
          s.in_channels,
          s.height,
          s.width,
          s.out_h,
          s.out_w,
          s.kernel_h,
          s.kernel_w,
          s.dilation_h,
          s.dilation_w,
          s.stride_h,
          s.stride_w,
          -s.pad_h,
          -s.pad_w,
          1,
          1,
          0,
          0};
}

ConvGather backward_data_gather(const ConvSizes& p) {
  const ConvShape s = conv_shape(p);
  return {s.images, s.groups, s.in_channels, s.out_channels, s.out_h,       s.out_w,
          s.height, s.width,  s.kernel_h,    s.kernel_w,     -s.dilation_h, -s.dilation_w,
          1,        1,        s.pad_h,       s.pad_w,        s.stride_h,    s.stride_w,
          0,        0};
}

/** The product of one phase: the first, which has the most results. */
ProductSize size_of(const ConvGather& s) {
  const std::int64_t grid = ceil_div(s.result_h, s.phases_h) * ceil_div(s.result_w, s.phases_w);
  return {s.rows, s.images * grid, std::int64_t{s.channels} * s.taps_h * s.taps_w,
          std::int64_t{s.groups} * s.phases_h * s.phases_w};
}

/** Of what it gathers: more than one where each result meets one element, and those lie as results do. */
int gathered_width(const ConvGather& s, const Tensor& source) {
  const bool lies_alike = s.taps_h * s.taps_w == 1 && s.phases_h * s.phases_w == 1 && s.step_h == 1 &&
                          s.step_w == 1 && s.start_h == 0 && s.start_w == 0 && s.source_h == s.result_h &&
                          s.source_w == s.result_w;
  return lies_alike ? piece_width(source, {std::int64_t{s.source_h} * s.source_w}) : 1;
}

/** Of few channels, whose taps are gathered at once. */
bool is_flat(const ConvGather& s) {
  return s.channels < few_channels && s.phases_h * s.phases_w == 1 && s.taps_h * s.taps_w > 1;
}

/** Vectors are brought as in products of matrices. */
DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ConvGather& s,
                    const Tensor& source) {
  const double speed = gathered_width(s, source) > 1 ? tile.speed : tile.speed_gathering;
  // Phases have depths of their own.
  const bool may_split = !is_flat(s) && s.phases_h * s.phases_w == 1;
  const std::int64_t step = may_split ? std::int64_t{tile.depth} * s.taps_h * s.taps_w : size_of(s).depth;
  return split_depth(tile, device, size_of(s), speed, step);
}

int narrow(std::int64_t n, const char* what) {
  return kernel_int(n, "conv2d", what);
}

/** Whether results of some phase meet no tap in that direction. */
bool misses_a_phase(int start, int taps, int step, int phases) {
  for (int phase = 0; phase < phases; ++phase) {
    bool meets = false;
    for (int tap = 0; tap < std::min(taps, phases) && !meets; ++tap)
      meets = (start + phase + tap * step) % phases == 0;
    if (!meets) return true;
  }
  return false;
}

/** Strides of a filter's elements in the weight, in elements. */
struct FilterStrides {
  std::int64_t row, channel;
};

void gather(Queue& queue, const ProductTile& tile, ConvGather s, const FilterStrides& strides,
            const Tensor& source, const Tensor& weight, const Tensor* bias, const Tensor& result) {
  const bool flat = is_flat(s);
  const DepthSplit split = split_of(tile, queue.device().info(), s, source);
  const std::int64_t packed_count = pad_filters(tile, flat, s) * tile.packed_parts();
  Defines defines = tile.defines(result.dtype, split.depth);
  defines.set("FLAT", flat ? 1 : 0).set("RIGHT_WIDTH", gathered_width(s, source));
  if (misses_a_phase(s.start_h, s.taps_h, s.tap_h, s.phases_h) ||
      misses_a_phase(s.start_w, s.taps_w, s.tap_w, s.phases_w))
    queue.zero(result);
  // Behind the filters: FlatElement of each of the depth.
  const Tensor packed =
      queue.scratch({packed_count + (flat ? 4 * s.padded_depth : 0)}, compute_dtype(result.dtype));
  const std::int64_t items = std::int64_t{s.groups} * s.padded_rows * s.padded_depth;
  queue.launch(queue.kernel(gather_file, "pack_filters", defines), Range::linear(items, 64), weight, packed,
               s, narrow(strides.row, "a filter"), narrow(strides.channel, "a filter"),
               narrow(items, "all filters"));
  multiply_packed(queue, tile, split, defines, s, source, packed, bias, result);
}

template <std::size_t index>
struct Forward {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const ConvForwardProblem& p) {
    return tile.can_take(device, p.y.dtype, p.precision);
  }
  static double expected_cost(const DeviceInfo& device, const ConvForwardProblem& p) {
    return split_of(tile, device, forward_gather(p.sizes), p.x).cost;
  }
  static void run(Queue& queue, const ConvForwardProblem& p) {
    const std::int64_t taps = p.sizes.taps();
    gather(queue, tile, forward_gather(p.sizes), {p.sizes.in_channels * taps, taps}, p.x, p.weight, p.bias,
           p.y);
  }
};

template <std::size_t index>
struct BackwardData {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const ConvBackwardDataProblem& p) {
    return tile.can_take(device, p.dx.dtype, p.precision);
  }
  static double expected_cost(const DeviceInfo& device, const ConvBackwardDataProblem& p) {
    const ConvSizes& s = p.sizes;
    return split_of(tile, device, backward_data_gather(s), p.dy).cost /
           static_cast<double>(s.stride[0] * s.stride[1]);
  }
  static void run(Queue& queue, const ConvBackwardDataProblem& p) {
    const std::int64_t taps = p.sizes.taps();
    gather(queue, tile, backward_data_gather(p.sizes), {taps, p.sizes.in_channels * taps}, p.dy, p.weight,
           nullptr, p.dx);
  }
};

// ---- backward weight

/** COLUMNS_OF_TAP of conv_weight_simt.cl: few, so that a tile has several taps, as long as padding the
 * channels to that many adds little; 0 where it adds much. */
int columns_of_tap(const ConvSizes& s) {
  constexpr int columns = 32;
  return round_up(s.in_channels, columns) * 8 <= s.in_channels * 9 ? columns : 0;
}

/** Of the whole depth: the pixels of all images. */
ProductSize weight_size(const ConvSizes& s) {
  const int columns = columns_of_tap(s);
  const std::int64_t channels = columns ? round_up(s.in_channels, columns) : s.in_channels;
  return {s.out_channels, channels * s.taps(), s.images * s.out_pixels(), s.groups};
}

/** Of what it brings. */
struct WeightWidths {
  int left, right;
};

WeightWidths weight_widths(const ConvBackwardWeightProblem& p) {
  const int left = piece_width(p.dy, {p.sizes.out_pixels()});
  return {left, left > 1 ? gathered_width(forward_gather(p.sizes), p.x) : 1};
}

DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
  return split_depth(tile, device, weight_size(p.sizes),
                     weight_widths(p).right > 1 ? tile.speed : tile.speed_by_weight, tile.depth);
}

template <std::size_t index>
struct BackwardWeight {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    // The kernel counts the elements of a group's planes with an int.
    return tile.can_take(device, p.dw.dtype, p.precision) &&
           p.sizes.in_channels * p.sizes.in_pixels() <= max_kernel_int;
  }
  static double expected_cost(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    return split_of(tile, device, p).cost;
  }
  static void run(Queue& queue, const ConvBackwardWeightProblem& p) {
    const DepthSplit split = split_of(tile, queue.device().info(), p);
    const WeightWidths widths = weight_widths(p);
    Defines defines = tile.defines(p.dw.dtype, split.depth);
    defines.set("LEFT_WIDTH", widths.left).set("RIGHT_WIDTH", widths.right);
    defines.set("COLUMNS_OF_TAP", widths.right > 1 ? tile.columns : columns_of_tap(p.sizes));
    const DType sum_dtype = compute_dtype(p.dw.dtype);
    const bool is_whole = split.parts == 1 && p.dw.dtype == sum_dtype;
    const Tensor sums = is_whole ? p.dw : queue.scratch({split.parts, p.dw.numel()}, sum_dtype);
    queue.launch(queue.kernel(weight_file, "conv_weight", defines),
                 tile.range(split.of(weight_size(p.sizes))), p.dy, p.x, sums, conv_shape(p.sizes),
                 static_cast<int>(split.parts), kernel_int(split.depth, "conv2d", "a sum"));
    if (!is_whole) join_parts(queue, sums, nullptr, p.dw);
  }
};

}  // namespace

std::int64_t pad_filters(const ProductTile& tile, bool flat, ConvGather& s) {
  const std::int64_t taps = std::int64_t{s.taps_h} * s.taps_w;
  s.padded_rows = narrow(round_up(s.rows, tile.rows), "a size");
  s.padded_depth = narrow(round_up(flat ? s.channels * taps : s.channels, tile.depth), "a filter");
  return product({s.groups, flat ? 1 : taps, s.padded_depth, s.padded_rows});
}

DepthSplit not_split(const ConvGather& s) {
  return {1, size_of(s).depth, 0};
}

void multiply_packed(Queue& queue, const ProductTile& tile, const DepthSplit& split, const Defines& defines,
                     const ConvGather& s, const Tensor& source, const Tensor& packed, const Tensor* bias,
                     const Tensor& result) {
  Tensor partials;
  int part_depth = s.padded_depth;
  if (split.parts > 1) {
    partials = queue.scratch({split.parts, result.numel()}, compute_dtype(result.dtype));
    part_depth = narrow(split.depth / (std::int64_t{s.taps_h} * s.taps_w), "a filter");
  }
  queue.launch(queue.kernel(gather_file, "conv_gather", defines), tile.range(split.of(size_of(s))), source,
               packed, Optional{bias}, result, Optional{partials.defined() ? &partials : nullptr}, s,
               bias ? 1 : 0, static_cast<int>(split.parts), part_depth);
  if (partials.defined()) join_parts(queue, partials, bias, result);
}

std::array<ConvForward, product_tile_count> conv2d_forward_products() {
  return implementations_by_tile<ConvForwardProblem, Forward>();
}
std::array<ConvBackwardData, product_tile_count> conv2d_backward_data_products() {
  return implementations_by_tile<ConvBackwardDataProblem, BackwardData>();
}
std::array<ConvBackwardWeight, product_tile_count> conv2d_backward_weight_products() {
  return implementations_by_tile<ConvBackwardWeightProblem, BackwardWeight>();
}

}  // namespace dlprim
