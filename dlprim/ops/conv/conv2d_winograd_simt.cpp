#include <algorithm>
#include <limits>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_winograd.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

using namespace winograd;

constexpr char prefix[] = "winograd_";
constexpr const char* file = "ops/conv/conv_winograd_simt.cl";
constexpr const char* filters_file = "ops/conv/conv_winograd_filters_simt.cl";

// Bytes of scratch memory: components of elements and results are made for a piece of the tiles at a time,
// those of the filters as a whole. Pieces of 64 MB took a tenth more on an H100, of 24 MB half more: what is
// gained in its cache is less than what the ends of the products cost.
// Tiles of a piece lie in lines of a multiple of them, for the sake of aligned access.
constexpr std::int64_t line = 32;
constexpr PieceLimits limits{176 << 20, 4 * line};

/** The products of all components. */
ConvGather products_of(const Extent& e, std::int64_t tiles) {
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "conv2d", "a size"); };
  const int columns = narrow(tiles);
  return {1,
          WINOGRAD_COMPONENTS,
          narrow(e.rows),
          narrow(e.channels),
          1,
          columns,
          1,
          columns,
          1,
          1,
          1,
          1,
          1,
          1,
          0,
          0,
          1,
          1,
          0,
          0};
}

bool can_take_extent(const ProductTile& tile, const DeviceInfo& device, const Extent& e, DType dtype) {
  const std::int64_t filters = round_up(e.rows, tile.rows) * round_up(e.channels, tile.depth);
  return dtype == DType::float32 && tile.can_take(device, dtype, MatmulPrecision::highest) &&
         e.tiles <= max_kernel_int && limits.most_tiles(e) > 0 &&
         filters <=
             most_filter_bytes / (WINOGRAD_COMPONENTS * tile.packed_parts() * std::int64_t{sizeof(float)});
}

/** The cost of `products` with everything around them, where products wait for the components if they are
 * few.
 */
double cost_with_moving(const ProductTile& tile, const Extent& e, double products) {
  constexpr double per_element = 34;  // multiply-adds that one takes as long as, to or from memory
  constexpr double margin = 1.15;     // of two that take as long, the one with smaller errors
  const auto planes = static_cast<double>(e.tiles * (e.channels + e.rows));
  const auto filters = static_cast<double>(e.rows * e.channels * WINOGRAD_COMPONENTS * tile.packed_parts());
  const double components = per_element * WINOGRAD_COMPONENTS * planes,
               elements = per_element * WINOGRAD_RESULTS * WINOGRAD_RESULTS * planes;
  return margin * (std::max(products, components) + components + elements + 2 * per_element * filters);
}

double cost_of(const ProductTile& tile, const DeviceInfo& device, const Extent& e) {
  const double of_piece =
      tile.cost(device, {e.rows, limits.tiles_of_piece(e), e.channels, WINOGRAD_COMPONENTS});
  return cost_with_moving(tile, e, of_piece * static_cast<double>(limits.pieces(e)));
}

void convolve(Queue& queue, const ProductTile& tile, const Extent& e, ConvWinograd s, const Tensor& source,
              const Tensor& weight, const Tensor* bias, const Tensor& result) {
  const std::int64_t piece = limits.tiles_of_piece(e);
  ConvGather products = products_of(e, round_up(piece, line));
  const std::int64_t filters = pad_filters(tile, false, e.channels, products) / WINOGRAD_COMPONENTS;
  Defines tile_defines = tile.defines_in_chains(DType::float32, e.channels > chain ? chain : 0);
  tile_defines.set("FLAT", 0).set("RIGHT_WIDTH", vector_width);  // lines are multiples of it
  const Tensor packed = queue.scratch({WINOGRAD_COMPONENTS * tile.packed_parts() * filters});
  queue.launch(queue.kernel(filters_file, "winograd_filters", tile_defines), Range::linear(filters, 64),
               weight, packed, s, products.padded_depth, kernel_int(filters, "conv2d", "all filters"));

  const Defines defines = dtype_defines(DType::float32);
  Kernel& to_components = queue.kernel(file, "winograd_source", defines);
  Kernel& to_results = queue.kernel(file, "winograd_results", defines);
  const Tensor elements = queue.scratch({WINOGRAD_COMPONENTS, e.channels, round_up(piece, line)});
  const Tensor sums = queue.scratch({WINOGRAD_COMPONENTS, e.rows, round_up(piece, line)});
  const int in_vectors = s.result_w % 4 == 0 && is_aligned_to(4, result) ? 1 : 0;
  for (std::int64_t first = 0; first < e.tiles; first += piece) {
    s.first = static_cast<int>(first);
    s.count = static_cast<int>(std::min(piece, e.tiles - first));
    s.pitch = products.source_w = products.result_w = static_cast<int>(round_up(s.count, line));
    queue.launch(to_components, Range::linear(e.channels * s.pitch, 128), source, elements, s);
    multiply_packed(queue, tile, not_split(products), tile_defines, products, elements, packed, nullptr,
                    sums);
    queue.launch(to_results, Range::linear(e.rows * s.pitch, 128), sums, source, weight, Optional{bias},
                 result, s, bias ? 1 : 0, in_vectors);
  }
}

// ---- the gradient by the weight: its components are products of deep sums, over all tiles

double cost_of_weight(const ProductTile& tile, const GemmImplementation& products, const DeviceInfo& device,
                      const Extent& e, const Tensor& any) {
  const std::int64_t piece = limits.tiles_of_piece(e);
  const double of_piece =
      products.expected_cost(device, weight_products(e, piece, piece, 0, any, any, any, true));
  return cost_with_moving(tile, e, of_piece * static_cast<double>(limits.pieces(e)));
}

void weight_gradient(Queue& queue, const GemmImplementation& products, const Extent& e,
                     const ConvBackwardWeightProblem& p) {
  ConvWinograd s = shape_of(p);
  const Defines defines = dtype_defines(DType::float32);
  Kernel& of_elements = queue.kernel(file, "winograd_source", defines);
  Kernel& of_gradients = queue.kernel(file, "winograd_gradients", defines);
  const std::int64_t piece = limits.tiles_of_piece(e);
  const Tensor elements = queue.scratch({WINOGRAD_COMPONENTS, e.channels, round_up(piece, line)});
  const Tensor gradients = queue.scratch({WINOGRAD_COMPONENTS, e.rows, round_up(piece, line)});
  const Tensor sums = queue.scratch({WINOGRAD_COMPONENTS, e.rows, e.channels});
  for (std::int64_t first = 0; first < e.tiles; first += piece) {
    s.first = static_cast<int>(first);
    s.count = static_cast<int>(std::min(piece, e.tiles - first));
    s.pitch = static_cast<int>(round_up(s.count, line));
    queue.launch(of_elements, Range::linear(e.channels * s.pitch, 128), p.x, elements, s);
    queue.launch(of_gradients, Range::linear(e.rows * s.pitch, 128), p.dy, gradients, s);
    products.run(queue, weight_products(e, s.pitch, s.pitch, 0, gradients, elements, sums, first == 0));
  }
  queue.launch(queue.kernel(file, "winograd_weight", defines), Range::linear(e.rows * e.channels, 128), sums,
               p.dy, p.x, p.dw, s);
}

template <std::size_t index>
struct Winograd {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const GemmImplementation& products() {
    static const GemmImplementation& of_tile = gemm_implementation(tile.name);
    return of_tile;
  }
  static const char* name() { return name_with<prefix, index>(); }
  template <class Problem>
  static double cost(const DeviceInfo& device, const Problem& p) {
    return is_too_small(p) ? std::numeric_limits<double>::max() : cost_of(tile, device, extent_of(p));
  }
  template <class Problem>
  static bool can_take(const DeviceInfo& device, const Problem& p, DType dtype) {
    return winograd::can_take(p) && can_take_extent(tile, device, extent_of(p), dtype);
  }
  static bool can_take_forward(const DeviceInfo& device, const ConvForwardProblem& p) {
    return can_take(device, p, p.y.dtype);
  }
  static bool can_take_backward_data(const DeviceInfo& device, const ConvBackwardDataProblem& p) {
    return can_take(device, p, p.dx.dtype);
  }
  static void forward(Queue& queue, const ConvForwardProblem& p) {
    convolve(queue, tile, extent_of(p), shape_of(p), p.x, p.weight, p.bias, p.y);
  }
  static void backward_data(Queue& queue, const ConvBackwardDataProblem& p) {
    convolve(queue, tile, extent_of(p), shape_of(p), p.dy, p.weight, nullptr, p.dx);
  }
  static bool can_take_backward_weight(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    return can_take(device, p, p.dw.dtype);
  }
  static double cost_of_backward_weight(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    if (is_too_small(p)) return std::numeric_limits<double>::max();
    return cost_of_weight(tile, products(), device, extent_of(p), p.dw);
  }
  static void backward_weight(Queue& queue, const ConvBackwardWeightProblem& p) {
    weight_gradient(queue, products(), extent_of(p), p);
  }
  static void add_to(std::vector<ConvBackwardWeight>& list) {
    list.push_back({name(), can_take_backward_weight, cost_of_backward_weight, backward_weight});
  }
  static void add_to(std::vector<ConvForward>& list) {
    list.push_back({name(), can_take_forward, cost<ConvForwardProblem>, forward});
  }
  static void add_to(std::vector<ConvBackwardData>& list) {
    list.push_back({name(), can_take_backward_data, cost<ConvBackwardDataProblem>, backward_data});
  }
};

/** The implementations of the tiles that are as precise as float32. */
template <class Problem, std::size_t... tiles>
std::vector<Implementation<Problem>> implementations(std::index_sequence<tiles...>) {
  std::vector<Implementation<Problem>> list;
  ((product_tiles[tiles].tf32_products == 1 ? void() : Winograd<tiles>::add_to(list)), ...);
  return list;
}

}  // namespace

std::vector<ConvForward> conv2d_forward_winograd_simt() {
  return implementations<ConvForwardProblem>(std::make_index_sequence<product_tile_count>());
}
std::vector<ConvBackwardWeight> conv2d_backward_weight_winograd_simt() {
  return implementations<ConvBackwardWeightProblem>(std::make_index_sequence<product_tile_count>());
}
std::vector<ConvBackwardData> conv2d_backward_data_winograd_simt() {
  return implementations<ConvBackwardDataProblem>(std::make_index_sequence<product_tile_count>());
}

}  // namespace dlprim
