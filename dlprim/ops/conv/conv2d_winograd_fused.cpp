#include <algorithm>
#include <iterator>
#include <limits>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_winograd.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

using namespace winograd;

constexpr const char* file = "ops/conv/conv_winograd_fused_simt.cl";
constexpr const char* op = "conv2d";

/** Sums of more channels (tiles) are made of chains of so many: with one of 256 channels the error was four
 * times that of PyTorch's convolution on CPUs, with these it is twice that. A tile's gradient by the weight
 * is itself a sum of four. */
constexpr int chain_of_channels = 64, chain_of_tiles = 256;
constexpr bool is_in_chains(std::int64_t depth, int chain) {
  return depth > 2 * chain;
}

/** The results of a work group, of which a compute unit holds one: its rows, and its speed to that of the
 * first product tile, measured on an H200. */
struct FusedTile {
  const char* name;
  int rows;
  double speed, speed_in_chains, speed_by_weight;

  std::uint64_t local_bytes() const {
    return std::uint64_t{2} * FUSED_DEPTH * FUSED_COMPONENTS *
           static_cast<std::uint64_t>(rows + FUSED_COLUMNS) * sizeof(float);
  }
  bool can_take(const DeviceInfo& device, DType dtype) const {
    return !device.runs_cpu_kernels() && dtype == DType::float32 && device.max_work_group >= FUSED_ITEMS &&
           local_bytes() <= device.usable_local_memory();
  }
  /** The cost of work groups that each sum `depth` channels (tiles). */
  double cost(const DeviceInfo& device, std::int64_t groups, std::int64_t depth, double at_speed) const {
    constexpr std::int64_t ends = 16;  // of a group, which take as long as so much of its depth
    constexpr double margin = 1.05;    // of two that take as long, the one with smaller errors
    const std::int64_t rounds = ceil_div(groups, device.compute_units);
    return margin * static_cast<double>(rounds * device.compute_units * (depth + ends)) *
           (FUSED_COMPONENTS * rows * FUSED_COLUMNS) / at_speed;
  }
  Defines defines(bool by_weight, std::int64_t depth) const {
    const int chain = by_weight ? chain_of_tiles : chain_of_channels;
    Defines defines = dtype_defines(DType::float32);
    defines.set("TILE_ROWS", rows).set("BY_WEIGHT", by_weight ? 1 : 0);
    return defines.set("CHAIN", is_in_chains(depth, chain) ? chain : 0);
  }
};
constexpr FusedTile fused_tiles[] = {{"winograd_simt_fused_64x32", 64, 0.77, 0.67, 0.57},
                                     {"winograd_simt_fused_32x32", 32, 0.66, 0.66, 0.42}};

std::int64_t groups_of(const FusedTile& tile, const Extent& e) {
  return ceil_div(e.tiles, FUSED_COLUMNS) * ceil_div(e.rows, tile.rows);
}

bool can_take_extent(const FusedTile& tile, const Extent& e) {
  const std::int64_t filters = round_up(e.rows, tile.rows) * round_up(e.channels, FUSED_COLUMNS);
  return e.tiles <= max_kernel_int && groups_of(tile, e) <= max_kernel_int &&
         filters <= most_filter_bytes / (FUSED_COMPONENTS * std::int64_t{sizeof(float)});
}

// ---- forward, and the gradient by the input

double cost_of(const FusedTile& tile, const DeviceInfo& device, const Extent& e) {
  constexpr double per_component = 68;  // multiply-adds that take as long as making, and storing, one
  const double speed = is_in_chains(e.channels, chain_of_channels) ? tile.speed_in_chains : tile.speed;
  return tile.cost(device, groups_of(tile, e), e.channels, speed) +
         per_component * FUSED_COMPONENTS * static_cast<double>(e.rows * e.channels);
}

void convolve(Queue& queue, const FusedTile& tile, const Extent& e, const ConvWinograd& s,
              const Tensor& source, const Tensor& weight, const Tensor* bias, const Tensor& result) {
  const Defines defines = tile.defines(false, e.channels);
  const std::int64_t channels = round_up(e.channels, FUSED_DEPTH), rows = round_up(e.rows, tile.rows);
  const Tensor packed = queue.scratch({FUSED_COMPONENTS * rows * channels});
  const int padded_channels = kernel_int(channels, op, "a number of channels");
  queue.launch(queue.kernel(file, "winograd_filters", defines), Range::linear(rows * channels, 64), weight,
               packed, s, padded_channels, kernel_int(rows * channels, op, "all filters"));
  const int in_vectors = s.result_w % 2 == 0 && is_aligned_to(2, result) ? 1 : 0;
  queue.launch(queue.kernel(file, "winograd_fused", defines), Range::groups(FUSED_ITEMS, groups_of(tile, e)),
               packed, source, weight, Optional{bias}, result, s, static_cast<int>(e.tiles),
               static_cast<int>(rows / tile.rows), padded_channels, bias ? 1 : 0, in_vectors);
}

// ---- the gradient by the weight: its sums run over all tiles, in parts that fill the device

struct Parts {
  std::int64_t count, tiles;  // of a part; the last may have fewer
};

std::int64_t groups_of_part(const FusedTile& tile, const Extent& e) {
  return ceil_div(e.rows, tile.rows) * ceil_div(e.channels, FUSED_COLUMNS);
}

Parts parts_of(const FusedTile& tile, const DeviceInfo& device, const Extent& e) {
  constexpr std::int64_t least = 64;  // tiles
  const std::int64_t wanted =
      std::clamp<std::int64_t>(device.compute_units / groups_of_part(tile, e), 1, ceil_div(e.tiles, least));
  const std::int64_t tiles = round_up(ceil_div(e.tiles, wanted), FUSED_DEPTH);
  return {ceil_div(e.tiles, tiles), tiles};
}

double cost_of_weight(const FusedTile& tile, const DeviceInfo& device, const Extent& e) {
  constexpr double per_partial = 48;  // multiply-adds that writing and reading one takes as long as
  const Parts parts = parts_of(tile, device, e);
  return tile.cost(device, groups_of_part(tile, e) * parts.count, parts.tiles, tile.speed_by_weight) +
         per_partial * 9 * static_cast<double>(e.rows * e.channels * parts.count);
}

void weight_gradient(Queue& queue, const FusedTile& tile, const Extent& e, const ConvWinograd& s,
                     const ConvBackwardWeightProblem& p) {
  const Parts parts = parts_of(tile, queue.device().info(), e);
  const Defines defines = tile.defines(true, parts.tiles);
  join_gradient(queue, parts.count, p.dw, [&](const Tensor& sums) {
    queue.launch(queue.kernel(file, "winograd_fused_weight", defines),
                 Range::groups(FUSED_ITEMS, ceil_div(e.rows, tile.rows), ceil_div(e.channels, FUSED_COLUMNS),
                               parts.count),
                 p.dy, p.x, sums, s, static_cast<int>(e.tiles), static_cast<int>(parts.tiles));
  });
  queue.launch(queue.kernel(file, "winograd_fused_mend", defines),
               Range::linear(9 * e.rows * e.channels, 128), p.dy, p.x, p.dw, s);
}

// ---- the three directions

template <class P>
struct Convolution {  // forward, or the gradient by the input
  using Problem = P;
  static constexpr auto cost = cost_of;
  static DType dtype(const Problem& p) { return p.weight.dtype; }
  static void run(Queue& queue, const FusedTile& tile, const Extent& e, const ConvWinograd& s,
                  const Problem& p) {
    const GatherProblem g = as_gather(p);
    convolve(queue, tile, e, s, g.source, g.weight, g.bias, g.result);
  }
};
struct BackwardWeight {
  using Problem = ConvBackwardWeightProblem;
  static constexpr auto cost = cost_of_weight;
  static DType dtype(const Problem& p) { return p.dw.dtype; }
  static constexpr auto run = weight_gradient;
};

template <class Direction, std::size_t index>
Implementation<typename Direction::Problem> fused() {
  using Problem = typename Direction::Problem;
  static constexpr const FusedTile& tile = fused_tiles[index];
  return {tile.name,
          [](const DeviceInfo& device, const Problem& p) {
            return tile.can_take(device, Direction::dtype(p)) && can_take(p) &&
                   can_take_extent(tile, extent_of(p, FUSED_RESULTS));
          },
          [](const DeviceInfo& device, const Problem& p) {
            return is_too_small(p) ? std::numeric_limits<double>::max()
                                   : Direction::cost(tile, device, extent_of(p, FUSED_RESULTS));
          },
          [](Queue& queue, const Problem& p) {
            Direction::run(queue, tile, extent_of(p, FUSED_RESULTS), shape_of(p, FUSED_RESULTS), p);
          }};
}
template <class Direction>
std::vector<Implementation<typename Direction::Problem>> all_fused() {
  static_assert(std::size(fused_tiles) == 2);
  return {fused<Direction, 0>(), fused<Direction, 1>()};
}

}  // namespace

std::vector<ConvForward> conv2d_forward_winograd_fused() {
  return all_fused<Convolution<ConvForwardProblem>>();
}
std::vector<ConvBackwardData> conv2d_backward_data_winograd_fused() {
  return all_fused<Convolution<ConvBackwardDataProblem>>();
}
std::vector<ConvBackwardWeight> conv2d_backward_weight_winograd_fused() {
  return all_fused<BackwardWeight>();
}

}  // namespace dlprim
