#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/ops/gemm/tensor_map.h"
#include "dlprim/runtime/device.h"

// Convolutions whose operands tensor maps bring. Gradients by the weight, of windows one element wide:
// products over the pixels of all images, along whose rows x and dy lie. The other directions, of windows of
// one element in 16-bit tensors: for each image the product of the weight and its planes, which lie across
// the depth.

namespace dlprim {
namespace {

constexpr char mapped_prefix[] = "mapped_";

int narrow(std::int64_t n) {
  return kernel_int(n, "conv2d", "a size");
}

/** Whether results meet the elements of their own places. Strides do not tell: one that is never taken is 1.
 */
bool meets_own_places(const ConvSizes& s) {
  return s.taps() == 1 && s.padding[0] == 0 && s.padding[1] == 0 &&
         std::equal(s.size, s.size + 2, s.out_size);
}

/** The convolution with each plane as one row, where results meet the elements of their own places. */
ConvSizes in_longest_rows(ConvSizes s) {
  if (!meets_own_places(s)) return s;
  for (std::int64_t* size : {s.size, s.out_size}) {
    size[1] *= size[0];
    size[0] = 1;
  }
  return s;
}

/** Whether results in a row meet neighbours, from a place on where a box can begin: at 16 bytes (the device
 * faults elsewhere). */
bool meets_boxes(const ProductTile& tile, const ConvSizes& s) {
  return s.kernel[1] == 1 && s.stride[1] == 1 && s.padding[1] % tile.elements_of_vector() == 0;
}

MappedTensor mapped(const ProductTile& tile, const Tensor& t, const ConvSizes& s, const std::int64_t* size,
                    std::int64_t channels) {
  const std::int64_t plane = size[0] * size[1], of_image = s.groups * channels;
  return {tile.panel_dtype(t.dtype),
          &t,
          {size[1], size[0], of_image, s.images},
          {size[1], plane, plane * of_image}};
}
MappedTensor mapped_dy(const ProductTile& tile, const ConvBackwardWeightProblem& p, const ConvSizes& s) {
  return mapped(tile, p.dy, s, s.out_size, s.out_channels);
}
MappedTensor mapped_x(const ProductTile& tile, const ConvBackwardWeightProblem& p, const ConvSizes& s) {
  return mapped(tile, p.x, s, s.size, s.in_channels);
}

std::int64_t tiles_across(const ProductTile& tile, const ConvSizes& s, int columns_of_tap) {
  return ceil_div(s.taps() * ceil_div(s.in_channels, columns_of_tap), tile.columns / columns_of_tap);
}

/** COLUMNS_OF_TAP: what fills the fewest tiles. */
int columns_of_tap(const ProductTile& tile, const ConvSizes& s) {
  constexpr int fewest = 32;
  int best = tile.columns;
  for (int columns = tile.columns / 2; columns >= fewest; columns /= 2)
    if (tiles_across(tile, s, columns) < tiles_across(tile, s, best)) best = columns;
  return best;
}

std::int64_t boxes_of_row(const ProductTile& tile, const ConvSizes& s) {
  return ceil_div(s.out_size[1], tile.depth_elements());
}

/** Its depth in words. */
ProductSize size_of(const ProductTile& tile, const ConvSizes& s) {
  return {s.out_channels, tiles_across(tile, s, columns_of_tap(tile, s)) * tile.columns,
          boxes_of_row(tile, s) * tile.depth * s.out_size[0] * s.images, s.groups};
}

DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ConvSizes& s) {
  return split_depth(tile, device, size_of(tile, s), tile.speed_of_rounded, tile.depth);
}

void multiply(Queue& queue, const ProductTile& tile, const ConvSizes& s, const DepthSplit& split,
              const ConvBackwardWeightProblem& p, const Tensor& sums) {
  const int columns = columns_of_tap(tile, s);
  const Tensor maps =
      describe_operands(queue, mapped_dy(tile, p, s), {tile.depth_elements(), 1, tile.rows, 1},
                        mapped_x(tile, p, s), {tile.depth_elements(), 1, columns, 1});
  const ConvMappedWeight sizes{narrow(s.images),
                               narrow(s.groups),
                               narrow(s.out_channels),
                               narrow(s.in_channels),
                               narrow(s.taps()),
                               narrow(s.dilation[0]),
                               narrow(s.stride[0]),
                               narrow(-s.padding[0]),
                               narrow(-s.padding[1]),
                               narrow(s.out_size[0]),
                               narrow(boxes_of_row(tile, s)),
                               narrow(split.parts),
                               narrow(split.depth / tile.depth)};
  Defines defines = tile.defines(p.dw.dtype, split.depth);
  defines.set("COLUMNS_OF_TAP", columns);
  queue.launch(queue.kernel("ops/conv/conv_weight_mapped_simt.cl", "conv_weight_mapped", defines),
               tile.range(split.of(size_of(tile, s))), maps, sums, sizes);
}

template <std::size_t index>
struct Mapped {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    if (!tile.can_take(device, p.dw.dtype, p.precision) || !meets_boxes(tile, p.sizes)) return false;
    const ConvSizes s = in_longest_rows(p.sizes);
    return mapped_dy(tile, p, s).can_map() && mapped_x(tile, p, s).can_map() &&
           size_of(tile, s).depth <= max_kernel_int;
  }
  static double expected_cost(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    return split_of(tile, device, in_longest_rows(p.sizes)).cost + cost_per_launch;
  }
  static void run(Queue& queue, const ConvBackwardWeightProblem& p) {
    const ConvSizes s = in_longest_rows(p.sizes);
    const DepthSplit split = split_of(tile, queue.device().info(), s);
    join_gradient(queue, split.parts, p.dw,
                  [&](const Tensor& sums) { multiply(queue, tile, s, split, p, sums); });
  }
  static const char* name() { return name_with<mapped_prefix, index>(); }
};

// ---- forward, backward data

/** True for no more images than a grid surely has groups in its third dimension. */
bool is_product_of_planes(const ConvSizes& s) {
  constexpr std::int64_t most_images = 65535;
  return s.images <= most_images && s.groups == 1 && meets_own_places(s);
}

GemmProblem product_of(const ConvForwardProblem& p) {
  const std::int64_t rows = p.sizes.out_channels, depth = p.sizes.in_channels, pixels = p.sizes.in_pixels();
  return {p.weight, p.x,   p.y, nullptr,        1,      0, p.precision, p.sizes.images, rows, pixels, depth,
          0,        depth, 1,   depth * pixels, pixels, 1};
}
GemmProblem product_of(const ConvBackwardDataProblem& p) {
  const std::int64_t rows = p.sizes.in_channels, depth = p.sizes.out_channels, pixels = p.sizes.in_pixels();
  return {p.weight, p.dy, p.dx, nullptr,        1,      0, p.precision, p.sizes.images, rows, pixels, depth,
          0,        1,    rows, depth * pixels, pixels, 1};
}
bool has_bias(const ConvForwardProblem& p) {
  return p.bias != nullptr;
}
bool has_bias(const ConvBackwardDataProblem&) {
  return false;
}

template <std::size_t index>
struct OfPlanes {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const GemmImplementation& products() {
    static const GemmImplementation& of_tile = gemm_implementation(name());
    return of_tile;
  }

  template <class Problem>
  static bool can_take(const DeviceInfo& device, const Problem& p) {
    return p.weight.dtype == tile.panel_dtype(p.weight.dtype) && is_product_of_planes(p.sizes) &&
           !has_bias(p) && products().can_take(device, product_of(p));
  }
  template <class Problem>
  static double expected_cost(const DeviceInfo& device, const Problem& p) {
    return products().expected_cost(device, product_of(p));
  }
  template <class Problem>
  static void run(Queue& queue, const Problem& p) {
    products().run(queue, product_of(p));
  }
  static const char* name() { return name_with<mapped_prefix, index>(); }
};

}  // namespace

std::vector<ConvForward> conv2d_forward_mapped() {
  return implementations_of_tiles<ConvForwardProblem, OfPlanes>(takes_maps_of_halves);
}
std::vector<ConvBackwardData> conv2d_backward_data_mapped() {
  return implementations_of_tiles<ConvBackwardDataProblem, OfPlanes>(takes_maps_of_halves);
}
std::vector<ConvBackwardWeight> conv2d_backward_weight_mapped() {
  return implementations_of_tiles<ConvBackwardWeightProblem, Mapped>(takes_maps);
}

}  // namespace dlprim
