#include <algorithm>
#include <limits>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_winograd.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/runtime/constant_forms.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

using namespace winograd;

constexpr const char* file = "ops/conv/conv_winograd_cpu.cl";
constexpr const char* weight_file = "ops/conv/conv_winograd_weight_cpu.cl";
constexpr char winograd_name[] = "winograd_cpu_tiles";

constexpr std::int64_t lanes = 16;
/** APART of the files. */
constexpr std::int64_t apart(std::int64_t numbers) {
  return numbers + lanes;
}
constexpr std::int64_t lines =
    (WINOGRAD_ELEMENTS + 1) * (WINOGRAD_RESULTS + 1) * lanes;  // LINES of the files
constexpr std::int64_t job_tiles = 32, pitch = job_tiles + lanes;
constexpr std::int64_t least_panels = 8;  // of rows that a job has, where it shares its tiles with others
constexpr std::int64_t most_scratch = 512 << 20;  // bytes that work items have together
constexpr PieceLimits weight_limits{16 << 20, lanes};

/** Rows of tiles, in vectors. */
std::int64_t segments(const Extent& e, const ConvWinograd& s) {
  return e.tiles / s.tiles_w * ceil_div(s.tiles_w, lanes);
}

// Multiply-adds that take as long, measured on two Zen 4 cores: of a segment in one plane, and of a filter.
constexpr double of_source = 14000, of_result = 11000;
constexpr double of_filter = 900, of_gradient_filter = 600;
constexpr double margin = 1.15;  // of two that take as long, the one with smaller errors

/** How a convolution is dealt out to work items. */
struct Deal {
  std::int64_t tile_blocks, row_blocks, items, slice;

  Deal(const DeviceInfo& device, const Extent& e) {
    constexpr std::int64_t jobs_a_core = 8;
    const std::int64_t row_panels = ceil_div(e.rows, TILE_ROWS), cores = device.compute_units;
    tile_blocks = ceil_div(e.tiles, job_tiles);
    row_blocks = std::clamp<std::int64_t>(ceil_div(jobs_a_core * cores, tile_blocks), 1,
                                          std::max<std::int64_t>(1, row_panels / least_panels));
    slice = lines + WINOGRAD_COMPONENTS * (apart(e.channels * pitch) +
                                           apart(TILE_ROWS * ceil_div(row_panels, row_blocks) * pitch));
    const std::int64_t affordable = most_scratch / static_cast<std::int64_t>(sizeof(float)) / slice;
    const std::int64_t useful = tile_blocks < jobs_a_core * cores ? cores : 4 * cores;
    items = std::max<std::int64_t>(1, std::min({useful, tile_blocks * row_blocks, affordable}));
  }
};

template <class Problem>
double cost(const DeviceInfo& device, const Problem& p) {
  if (is_too_small(p)) return std::numeric_limits<double>::max();
  const Extent e = extent_of(p);
  const auto in_rows = static_cast<double>(segments(e, shape_of(p)));
  const double rows = static_cast<double>(round_up(e.rows, TILE_ROWS)),
               channels = static_cast<double>(e.channels);
  const Deal deal(device, e);
  const double products =
      WINOGRAD_COMPONENTS * rows * channels * static_cast<double>(deal.tile_blocks * job_tiles);
  const auto times_made =
      static_cast<double>(std::min(deal.row_blocks, ceil_div(deal.items, deal.tile_blocks)));
  return margin * (products + of_source * channels * in_rows * times_made + of_result * rows * in_rows +
                   of_filter * rows * channels);
}

template <class Problem>
bool can_take_on_cpu(const DeviceInfo& device, const Problem& p, DType dtype) {
  return device.runs_cpu_kernels() && dtype == DType::float32 && can_take(p) &&
         extent_of(p).tiles <= max_kernel_int;
}

void convolve(Queue& queue, const Extent& e, const ConvWinograd& s, const Tensor& source,
              const Tensor& weight, const Tensor* bias, const Epilogue& epilogue, const Tensor& result) {
  constexpr const char* op = "conv2d";
  const std::int64_t depth = round_up(e.channels, 2), row_panels = ceil_div(e.rows, TILE_ROWS);
  constexpr std::int64_t depth_of_group = 64;
  Defines defines = cpu_tile::defines(DType::float32, &epilogue);
  defines.set("TILES", job_tiles).set("WINOGRAD_CHAIN", chain);
  const Tensor packed = form_of(
      queue, weight, "winograd_filters", {s.rows, s.channels, s.row_filters, s.channel_filters, s.are_turned},
      {WINOGRAD_COMPONENTS, apart(row_panels * depth * TILE_ROWS)}, DType::float32, [&](const Tensor& form) {
        queue.launch(queue.kernel(file, "winograd_filters", defines),
                     Range::groups(1, row_panels, ceil_div(depth, depth_of_group)), weight, form, s,
                     kernel_int(depth, op, "a number of channels"), static_cast<int>(depth_of_group));
      });
  const Deal deal(queue.device().info(), e);
  const Tensor scratch = queue.scratch({deal.items, deal.slice});
  queue.launch(queue.kernel(file, "winograd_conv", defines), Range::groups(1, deal.items), packed, source,
               weight, Optional{bias}, Optional{epilogue.addend}, result, scratch, s, bias ? 1 : 0,
               epilogue.addend ? 1 : 0, static_cast<int>(depth), static_cast<int>(deal.row_blocks),
               deal.slice);
}

double cost_of_weight(const DeviceInfo&, const ConvBackwardWeightProblem& p) {
  if (is_too_small(p)) return std::numeric_limits<double>::max();
  const Extent e = extent_of(p);
  const auto in_rows = static_cast<double>(segments(e, shape_of(p)));
  const double rows = static_cast<double>(round_up(e.rows, TILE_ROWS)),
               channels = static_cast<double>(round_up(e.channels, 2 * lanes));
  return margin * (WINOGRAD_COMPONENTS * rows * channels * static_cast<double>(e.tiles) +
                   of_source * in_rows * (rows + channels) + of_gradient_filter * rows * channels);
}

void backward_weight(Queue& queue, const ConvBackwardWeightProblem& p) {
  const Extent e = extent_of(p);
  ConvWinograd s = shape_of(p);
  const std::int64_t piece = weight_limits.tiles_of_piece(e), line = round_up(piece, lanes) + lanes;
  s.pitch = kernel_int(line, "conv2d", "a line of tiles");
  const std::int64_t items = 4 * queue.device().info().compute_units;
  const Tensor elements = queue.scratch({WINOGRAD_COMPONENTS, apart(e.channels * line)}),
               gradients = queue.scratch({WINOGRAD_COMPONENTS, apart(e.rows * line)}),
               sums = queue.scratch({WINOGRAD_COMPONENTS * e.rows * e.channels + lanes}),
               scratch = queue.scratch({items, lines});
  static const GemmImplementation& products = gemm_implementation("cpu_tiles");
  for (std::int64_t first = 0; first < e.tiles; first += piece) {
    s.first = static_cast<cl_int>(first);
    s.count = static_cast<cl_int>(std::min(piece, e.tiles - first));
    queue.launch(queue.kernel(weight_file, "winograd_source", cpu_tile::defines(DType::float32)),
                 Range::groups(1, std::min(items, e.channels)), p.x, elements, scratch, s);
    queue.launch(queue.kernel(weight_file, "winograd_gradients", cpu_tile::defines(DType::float32)),
                 Range::groups(1, std::min(items, e.rows)), p.dy, gradients, scratch, s);
    products.run(queue, weight_products(e, s.count, line, apart(0), gradients, elements, sums, first == 0));
  }
  queue.launch(queue.kernel(weight_file, "winograd_weight", cpu_tile::defines(DType::float32)),
               Range::groups(1, e.rows), sums, p.dy, p.x, p.dw, s);
}

}  // namespace

ConvForward conv2d_forward_winograd_cpu() {
  return {winograd_name,
          [](const DeviceInfo& device, const ConvForwardProblem& p) {
            return can_take_on_cpu(device, p, p.y.dtype);
          },
          cost<ConvForwardProblem>,
          [](Queue& queue, const ConvForwardProblem& p) {
            convolve(queue, extent_of(p), shape_of(p), p.x, p.weight, p.bias, p.epilogue, p.y);
          }};
}
ConvBackwardData conv2d_backward_data_winograd_cpu() {
  return {winograd_name,
          [](const DeviceInfo& device, const ConvBackwardDataProblem& p) {
            return can_take_on_cpu(device, p, p.dx.dtype);
          },
          cost<ConvBackwardDataProblem>,
          [](Queue& queue, const ConvBackwardDataProblem& p) {
            convolve(queue, extent_of(p), shape_of(p), p.dy, p.weight, nullptr, {}, p.dx);
          }};
}
ConvBackwardWeight conv2d_backward_weight_winograd_cpu() {
  return {winograd_name,
          [](const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
            return can_take_on_cpu(device, p, p.dw.dtype) && weight_limits.most_tiles(extent_of(p)) > 0;
          },
          cost_of_weight, backward_weight};
}

}  // namespace dlprim
