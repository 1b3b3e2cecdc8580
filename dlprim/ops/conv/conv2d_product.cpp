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

int narrow(std::int64_t n, const char* what) {
  return kernel_int(n, "conv2d", what);
}

/** The number of phases in one direction that meet a tap, and the last of them. */
struct PhasesMet {
  int count = 0, last = 0;
};

PhasesMet phases_met(int start, int taps, int step, int phases) {
  PhasesMet met;
  for (int phase = 0; phase < phases; ++phase) {
    bool meets = false;
    for (int tap = 0; tap < std::min(taps, phases) && !meets; ++tap)
      meets = (start + phase + tap * step) % phases == 0;
    if (meets) met = {met.count + 1, phase};
  }
  return met;
}

/** Which phase alone meets taps, if it has a result for each block of all phases'; else -1. */
int lone_phase(const ConvGather& s, const PhasesMet& h, const PhasesMet& w) {
  if (s.phases_h * s.phases_w == 1 || h.count != 1 || w.count != 1) return -1;
  const bool fills_blocks = ceil_div(s.result_h - h.last, s.phases_h) == ceil_div(s.result_h, s.phases_h) &&
                            ceil_div(s.result_w - w.last, s.phases_w) == ceil_div(s.result_w, s.phases_w);
  return fills_blocks ? h.last * s.phases_w + w.last : -1;
}

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

/** The width of the gathered vectors: more than one where each result meets one element, and those lie as
 * results do. */
int gathered_width(const ConvGather& s, const Tensor& source) {
  const bool lies_alike = s.taps_h * s.taps_w == 1 && s.phases_h * s.phases_w == 1 && s.step_h == 1 &&
                          s.step_w == 1 && s.start_h == 0 && s.start_w == 0 && s.source_h == s.result_h &&
                          s.source_w == s.result_w;
  return lies_alike ? piece_width(source, {std::int64_t{s.source_h} * s.source_w}) : 1;
}

/** The part of a tile's speed that is left with gathered operands; measured on an H100. Few channels are
 * looked up, and where results are a stride apart, lines of memory bring others along: which one tap does not
 * meet. */
double ease_of_gathering(const ConvGather& s) {
  if (is_flat(s)) return 0.4;
  if (s.step_w == 1) return 1;
  return s.taps_h * s.taps_w == 1 ? 0.5 : 0.85;
}

/** Vectors are brought as in products of matrices. */
DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ConvGather& s,
                    const Tensor& source) {
  const double speed =
      gathered_width(s, source) > 1 ? tile.speed : tile.speed_gathering * ease_of_gathering(s);
  return split_gather(tile, device, s, product_size(s), speed * tile.ease_of_bringing(source.dtype));
}

void gather(Queue& queue, const ProductTile& tile, const GatherProblem& p) {
  ConvGather s = p.gather;
  const bool flat = is_flat(s);
  const DepthSplit split = split_of(tile, queue.device().info(), s, p.source);
  const std::int64_t packed_count = pad_filters(tile, flat, s.channels, s) * tile.packed_parts();
  Defines defines = tile.defines(p.result.dtype, split.depth);
  defines.set("FLAT", flat ? 1 : 0).set("RIGHT_WIDTH", gathered_width(s, p.source));
  // Behind the filters: FlatElement of each of the depth.
  const Tensor packed =
      queue.scratch({packed_count + (flat ? 4 * s.padded_depth : 0)}, compute_dtype(p.result.dtype));
  pack_filters(queue, tile, defines, s, p.filters, p.weight, packed);
  multiply_packed(queue, tile, split, defines, s, p.source, packed, p.bias, p.result);
}

template <std::size_t index>
struct Gather {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const char* name() { return tile.name; }

  template <class Problem>
  static bool can_take(const DeviceInfo& device, const Problem& p) {
    return tile.can_take(device, p.weight.dtype, p.precision);
  }
  template <class Problem>
  static double expected_cost(const DeviceInfo& device, const Problem& problem) {
    const GatherProblem p = as_gather(problem);
    return split_of(tile, device, p.gather, p.source).cost / (p.gather.phases_h * p.gather.phases_w);
  }
  template <class Problem>
  static void run(Queue& queue, const Problem& p) {
    gather(queue, tile, as_gather(p));
  }
};

// ---- backward weight

/** COLUMNS_OF_TAP of conv_weight_simt.cl: few, so that a tile has several taps, as long as padding the
 * channels to that many adds little; 0 where it adds much. */
int columns_of_tap(const ConvSizes& s) {
  constexpr int columns = 32;
  return round_up(s.in_channels, columns) * 8 <= s.in_channels * 9 ? columns : 0;
}

/** The size with the whole depth: the pixels of all images. */
ProductSize weight_size(const ConvSizes& s) {
  const int columns = columns_of_tap(s);
  const std::int64_t channels = columns ? round_up(s.in_channels, columns) : s.in_channels;
  return {s.out_channels, channels * s.taps(), s.images * s.out_pixels(), s.groups};
}

/** The widths of the vectors that it brings. */
struct WeightWidths {
  int left, right;
};

WeightWidths weight_widths(const ConvBackwardWeightProblem& p) {
  const int left = piece_width(p.dy, {p.sizes.out_pixels()});
  return {left, left > 1 ? gathered_width(forward_gather(p.sizes), p.x) : 1};
}

DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
  const double speed = weight_widths(p).right > 1 ? tile.speed : tile.speed_by_weight;
  return split_depth(tile, device, weight_size(p.sizes), speed * tile.ease_of_bringing(p.dw.dtype),
                     tile.depth);
}

template <std::size_t index>
struct BackwardWeight {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const char* name() { return tile.name; }

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
    join_gradient(queue, split.parts, p.dw, [&](const Tensor& sums) {
      multiply_gradients(queue, defines, tile.range(split.of(weight_size(p.sizes))), split,
                         conv_shape(p.sizes), p.dy, p.x, sums);
    });
  }
};

}  // namespace

ProductSize product_size(const ConvGather& s) {
  const std::int64_t grid = ceil_div(s.result_h, s.phases_h) * ceil_div(s.result_w, s.phases_w);
  return {s.rows, s.images * grid, std::int64_t{s.channels} * s.taps_h * s.taps_w,
          std::int64_t{s.groups} * s.phases_h * s.phases_w};
}

bool is_flat(const ConvGather& s) {
  return s.channels < few_channels && s.phases_h * s.phases_w == 1 && s.taps_h * s.taps_w > 1;
}

DepthSplit split_gather(const ProductTile& tile, const DeviceInfo& device, const ConvGather& s,
                        const ProductSize& size, double at_speed) {
  // Phases have depths of their own.
  const bool may_split = !is_flat(s) && s.phases_h * s.phases_w == 1;
  const std::int64_t step = may_split ? std::int64_t{tile.depth} * s.taps_h * s.taps_w : size.depth;
  return split_depth(tile, device, size, at_speed, step);
}

GatherProblem as_gather(const ConvForwardProblem& p) {
  const std::int64_t taps = p.sizes.taps();
  return {
      forward_gather(p.sizes), {p.sizes.in_channels * taps, taps}, p.x, p.weight, p.bias, p.y, p.precision};
}
GatherProblem as_gather(const ConvBackwardDataProblem& p) {
  const std::int64_t taps = p.sizes.taps();
  return {backward_data_gather(p.sizes),
          {taps, p.sizes.in_channels * taps},
          p.dy,
          p.weight,
          nullptr,
          p.dx,
          p.precision};
}

std::int64_t pad_filters(const ProductTile& tile, bool flat, std::int64_t channels, ConvGather& s) {
  const std::int64_t taps = std::int64_t{s.taps_h} * s.taps_w;
  s.padded_rows = narrow(round_up(s.rows, tile.rows), "a size");
  s.padded_depth = narrow(round_up(flat ? channels * taps : channels, tile.depth), "a filter");
  return product({s.groups, flat ? 1 : taps, s.padded_depth, s.padded_rows});
}

void pack_filters(Queue& queue, const ProductTile& tile, const Defines& defines, const ConvGather& s,
                  const FilterStrides& strides, const Tensor& weight, const Tensor& packed) {
  const std::int64_t words = std::int64_t{s.groups} * s.padded_rows * s.padded_depth;
  const bool as_vectors = tile.engine == ProductEngine::warp_groups && s.taps_h * s.taps_w == 1;
  queue.launch(queue.kernel(gather_file, as_vectors ? "pack_vectors" : "pack_filters", defines),
               Range::linear(as_vectors ? words / 4 : words, as_vectors ? 128 : 256), weight, packed, s,
               narrow(strides.row, "a filter"), narrow(strides.channel, "a filter"),
               narrow(words, "all filters"));
}

DepthSplit not_split(const ConvGather& s) {
  return {1, product_size(s).depth, 0};
}

void multiply_packed(Queue& queue, const ProductTile& tile, const DepthSplit& split, const Defines& defines,
                     const ConvGather& s, const Tensor& source, const Tensor& packed, const Tensor* bias,
                     const Tensor& result) {
  Tensor partials;
  int part_depth = s.padded_depth;
  if (split.parts > 1) {
    partials = queue.scratch({1, split.parts, result.numel()}, compute_dtype(result.dtype));
    part_depth = narrow(split.depth / (std::int64_t{s.taps_h} * s.taps_w), "a filter");
  }
  const PhasesMet h = phases_met(s.start_h, s.taps_h, s.tap_h, s.phases_h),
                  w = phases_met(s.start_w, s.taps_w, s.tap_w, s.phases_w);
  const int lone = lone_phase(s, h, w), phases = lone < 0 ? s.phases_h * s.phases_w : 1;
  if (lone < 0 && h.count * w.count < phases) queue.zero(result);
  const ProductSize size = product_size(s);
  const Range range = Range::groups(
      tile.items, ceil_div(size.columns, tile.columns) * ceil_div(size.rows, tile.rows) * phases, 1,
      s.groups * split.parts);
  queue.launch(queue.kernel(gather_file, "conv_gather", defines), range, source, packed, Optional{bias},
               result, Optional{partials.defined() ? &partials : nullptr}, s, bias ? 1 : 0,
               static_cast<int>(split.parts), part_depth, lone);
  if (partials.defined())
    join_products(queue, partials, result, {bias, std::int64_t{s.result_h} * s.result_w});
}

void multiply_gradients(Queue& queue, const Defines& defines, const Range& range, const DepthSplit& split,
                        const ConvShape& shape, const Tensor& dy, const Tensor& x, const Tensor& sums) {
  queue.launch(queue.kernel(weight_file, "conv_weight", defines), range, dy, x, sums, shape,
               static_cast<int>(split.parts), kernel_int(split.depth, "conv2d", "a sum"));
}

void join_gradient(Queue& queue, std::int64_t parts, const Tensor& dw,
                   const std::function<void(const Tensor& sums)>& multiply) {
  const DType sum_dtype = compute_dtype(dw.dtype);
  if (parts == 1 && dw.dtype == sum_dtype) return multiply(dw);
  const Tensor sums = queue.scratch({1, parts, dw.numel()}, sum_dtype);
  multiply(sums);
  join_products(queue, sums, dw);
}

std::vector<ConvForward> conv2d_forward_products() {
  return implementations_of_tiles<ConvForwardProblem, Gather>(takes_as_it_lies);
}
std::vector<ConvBackwardData> conv2d_backward_data_products() {
  return implementations_of_tiles<ConvBackwardDataProblem, Gather>(takes_as_it_lies);
}
std::vector<ConvBackwardWeight> conv2d_backward_weight_products() {
  return implementations_of_tiles<ConvBackwardWeightProblem, BackwardWeight>(takes_as_it_lies);
}

}  // namespace dlprim
