#include "dlprim/ops/conv/conv2d_winograd.h"

#include <algorithm>

#include "dlprim/core/checked.h"

namespace dlprim::winograd {
namespace {

Extent extent_of(std::int64_t images, const std::int64_t (&results)[2], std::int64_t channels,
                 std::int64_t rows, int tile_results) {
  return {images * ceil_div(results[0], tile_results) * ceil_div(results[1], tile_results), channels, rows};
}

bool has_winograd_geometry(const ConvSizes& s) {
  for (int i = 0; i < 2; ++i)
    if (s.kernel[i] != 3 || s.stride[i] != 1 || s.dilation[i] != 1) return false;
  return s.groups == 1;
}

constexpr std::int64_t least_channels = 64, least_summed_tiles = 32, most_padding = 1;

bool is_well_filled(const std::int64_t (&source)[2], std::int64_t padding_h, std::int64_t padding_w) {
  return std::min(source[0], source[1]) >= 3 && std::max(padding_h, padding_w) <= most_padding;
}

ConvWinograd with_tiles(ConvWinograd s, int tile_results) {
  s.tiles_h = ceil_div(s.result_h, tile_results);
  s.tiles_w = ceil_div(s.result_w, tile_results);
  return s;
}

ConvWinograd forward_shape(const ConvSizes& sizes, int tile_results) {
  const ConvShape s = conv_shape(sizes);
  ConvWinograd shape{};
  shape.images = s.images, shape.channels = s.in_channels, shape.rows = s.out_channels;
  shape.source_h = s.height, shape.source_w = s.width;
  shape.result_h = s.out_h, shape.result_w = s.out_w;
  shape.start_h = -s.pad_h, shape.start_w = -s.pad_w;
  shape.row_filters = 9 * s.in_channels, shape.channel_filters = 9;
  return with_tiles(shape, tile_results);
}

}  // namespace

Extent extent_of(const ConvForwardProblem& p, int tile_results) {
  const ConvSizes& s = p.sizes;
  return extent_of(s.images, s.out_size, s.in_channels, s.out_channels, tile_results);
}
Extent extent_of(const ConvBackwardDataProblem& p, int tile_results) {
  const ConvSizes& s = p.sizes;
  return extent_of(s.images, s.size, s.out_channels, s.in_channels, tile_results);
}
Extent extent_of(const ConvBackwardWeightProblem& p, int tile_results) {
  const ConvSizes& s = p.sizes;
  return extent_of(s.images, s.out_size, s.in_channels, s.out_channels, tile_results);
}

std::int64_t PieceLimits::most_tiles(const Extent& e) const {
  return bytes / (WINOGRAD_COMPONENTS * std::int64_t{sizeof(float)} * (e.channels + e.rows)) / step * step;
}
std::int64_t PieceLimits::pieces(const Extent& e) const {
  return ceil_div(e.tiles, most_tiles(e));
}
std::int64_t PieceLimits::tiles_of_piece(const Extent& e) const {
  return std::min(e.tiles, round_up(ceil_div(e.tiles, pieces(e)), step));
}

bool can_take(const ConvForwardProblem& p) {
  const ConvSizes& s = p.sizes;
  return has_winograd_geometry(s) && s.in_channels >= least_channels &&
         is_well_filled(s.size, s.padding[0], s.padding[1]);
}
bool can_take(const ConvBackwardDataProblem& p) {
  const ConvSizes& s = p.sizes;
  return has_winograd_geometry(s) && s.out_channels >= least_channels &&
         is_well_filled(s.out_size, 2 - s.padding[0], 2 - s.padding[1]);
}
bool can_take(const ConvBackwardWeightProblem& p) {
  const ConvSizes& s = p.sizes;
  return has_winograd_geometry(s) && extent_of(p).tiles >= least_summed_tiles &&
         is_well_filled(s.size, s.padding[0], s.padding[1]);
}

ConvWinograd shape_of(const ConvForwardProblem& p, int tile_results) {
  return forward_shape(p.sizes, tile_results);
}
ConvWinograd shape_of(const ConvBackwardDataProblem& p, int tile_results) {
  const ConvShape s = conv_shape(p.sizes);
  ConvWinograd shape{};
  shape.images = s.images, shape.channels = s.out_channels, shape.rows = s.in_channels;
  shape.source_h = s.out_h, shape.source_w = s.out_w;
  shape.result_h = s.height, shape.result_w = s.width;
  shape.start_h = s.pad_h - 2, shape.start_w = s.pad_w - 2;
  shape.row_filters = 9, shape.channel_filters = 9 * s.in_channels;
  shape.are_turned = 1;
  return with_tiles(shape, tile_results);
}
ConvWinograd shape_of(const ConvBackwardWeightProblem& p, int tile_results) {
  return forward_shape(p.sizes, tile_results);
}

GemmProblem weight_products(const Extent& e, std::int64_t tiles, std::int64_t pitch, std::int64_t padding,
                            const Tensor& gradients, const Tensor& elements, const Tensor& sums,
                            bool is_first) {
  return {gradients,
          elements,
          sums,
          nullptr,
          1,
          is_first ? 0.0 : 1.0,
          MatmulPrecision::highest,
          WINOGRAD_COMPONENTS,
          e.rows,
          e.channels,
          tiles,
          e.rows * pitch + padding,
          pitch,
          1,
          e.channels * pitch + padding,
          1,
          pitch,
          chain};
}

}  // namespace dlprim::winograd
