#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm_implementations.h"

// On a CPU, windows of one element at a stride of 1: planes are matrices as they lie, so a convolution is a
// product for each image, whose panels stay in nearer caches than those of an implicit product
// (conv_tiles_cpu.cl) and are asked for before they are needed.

namespace dlprim {
namespace {

constexpr char products_name[] = "cpu_products";

/** Whether results and the elements that they meet are the same planes. A stride of 1 does not say so: sizes
 * have it where there is one result. */
bool is_pointwise(const ConvSizes& s) {
  for (int i = 0; i < 2; ++i)
    if (s.kernel[i] != 1 || s.stride[i] != 1 || s.padding[i] != 0 || s.size[i] != s.out_size[i]) return false;
  return s.groups == 1;
}

bool can_take(const DeviceInfo& device, const ConvSizes& s, DType dtype) {
  return device.runs_cpu_kernels() && is_floating(dtype) && is_compute_dtype(dtype) && is_pointwise(s);
}

/** The cost of products of `rows` results in each pixel. Measured on two Zen 4 cores, beside cpu_tiles. */
double cost(const ConvSizes& s, std::int64_t rows, std::int64_t depth, DType dtype) {
  constexpr double of_multiply_add = 0.85;
  const std::int64_t columns = cpu_tile::tile_columns(dtype), pixels = s.out_pixels();
  const std::int64_t whole = std::min(round_up(rows, TILE_ROWS) * round_up(pixels, columns),
                                      round_up(pixels, TILE_ROWS) * round_up(rows, columns));
  return of_multiply_add * static_cast<double>(s.images * depth) * static_cast<double>(whole);
}

/** result [images, rows, pixels] = filters [rows, depth], whose elements are so far apart, times source
 * [images, depth, pixels], plus bias [rows], and what the epilogue makes of that. */
void multiply(Queue& queue, const ConvSizes& s, const Tensor& filters, const FilterStrides& apart,
              const Tensor& source, const Tensor* bias, const Epilogue& epilogue, const Tensor& result,
              std::int64_t rows, std::int64_t depth) {
  static const GemmImplementation& products = gemm_implementation("cpu_tiles");
  const std::int64_t pixels = s.out_pixels();
  products.run(queue, {filters,
                       source,
                       result,
                       bias,
                       1,
                       0,
                       MatmulPrecision::highest,
                       s.images,
                       rows,
                       pixels,
                       depth,
                       0,
                       apart.row,
                       apart.channel,
                       depth * pixels,
                       pixels,
                       1,
                       0,
                       bias != nullptr,
                       epilogue.any() ? &epilogue : nullptr});
}

}  // namespace

ConvForward conv2d_forward_cpu_products() {
  return {products_name,
          [](const DeviceInfo& device, const ConvForwardProblem& p) {
            return can_take(device, p.sizes, p.y.dtype);
          },
          [](const DeviceInfo&, const ConvForwardProblem& p) {
            return cost(p.sizes, p.sizes.out_channels, p.sizes.in_channels, p.y.dtype);
          },
          [](Queue& queue, const ConvForwardProblem& p) {
            const ConvSizes& s = p.sizes;
            multiply(queue, s, p.weight, {s.in_channels, 1}, p.x, p.bias, p.epilogue, p.y, s.out_channels,
                     s.in_channels);
          }};
}

ConvBackwardData conv2d_backward_data_cpu_products() {
  return {products_name,
          [](const DeviceInfo& device, const ConvBackwardDataProblem& p) {
            return can_take(device, p.sizes, p.dx.dtype);
          },
          [](const DeviceInfo&, const ConvBackwardDataProblem& p) {
            return cost(p.sizes, p.sizes.in_channels, p.sizes.out_channels, p.dx.dtype);
          },
          [](Queue& queue, const ConvBackwardDataProblem& p) {
            const ConvSizes& s = p.sizes;
            multiply(queue, s, p.weight, {1, s.in_channels}, p.dy, nullptr, {}, p.dx, s.in_channels,
                     s.out_channels);
          }};
}

}  // namespace dlprim
