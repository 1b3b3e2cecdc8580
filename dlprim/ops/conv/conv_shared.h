#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// ---- simt

// Sizes of a convolution.
typedef struct {
  cl_int images, groups, in_channels, out_channels;  // channels of one group
  cl_int height, width, out_h, out_w, kernel_h, kernel_w;
  cl_int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
} ConvShape;

// Work items that sum weights of a narrow group, and how many weights each.
enum { CONV_WEIGHT_ITEMS = 128, CONV_WEIGHT_TAPS = 9 };

// A convolution of narrow groups, or its gradient by the input: an item computes a block of STRIP_ROWS *
// STRIP_COLUMNS results of a plane.
typedef struct {
  cl_int images, groups, rows, channels;  // rows: results of a group; channels: of a group, to sum over
  cl_int source_h, source_w, result_h, result_w;
  cl_int row_filters, channel_filters;          // from a result's filters to the next one's, and a channel's
  cl_int blocks_h, blocks_w, first_h, first_w;  // of a plane; the first block's first result, and
  cl_int start_h, start_w;                      // the place in the source that offset 0 of its window means
} ConvStrip;

// A convolution as a product that gathers its right operand. A result at (h, w) of phase (p, q) lies at h *
// phases_h + p of its plane. At tap kh it meets row h * step_h + (start_h + p + kh * tap_h) / phases_h of the
// source, if that division leaves nothing. Columns follow by the same formula. A convolution has one phase;
// its gradient by the input as many as the stride.
typedef struct {
  cl_int images, groups, rows, channels;  // rows: results of a group; channels: of a group, to sum over
  cl_int source_h, source_w, result_h, result_w;
  cl_int taps_h, taps_w, tap_h, tap_w;
  cl_int step_h, step_w, start_h, start_w, phases_h, phases_w;
  cl_int padded_rows, padded_depth;  // of packed filters: of all rows, of a tap's channels (flat: all taps')
} ConvGather;

// A gradient by the weight, for windows one element wide, as a product whose operands the device brings
// (conv_weight_mapped_simt.cl). Its depth is boxes of neighbours in a row, `boxes` of them a row. Row h of dy
// meets, at tap k, row h * step_h + start_h + k * tap_h of x.
typedef struct {
  cl_int images, groups, rows, channels;  // of a group: results, and channels of x
  cl_int taps, tap_h, step_h, start_h, start_w;
  cl_int out_h, boxes;
  cl_int parts, part_boxes;  // of the depth; the last part may have fewer
} ConvMappedWeight;

// A convolution of 3x3 windows at a stride of 1 (or its gradient by the input: then the taps are turned) by
// Winograd's F(4x4, 3x3). A tile is a block of 4x4 results of an image, in `rows` planes, with the 6x6
// elements of each channel's plane that they meet. Tiles are counted through all images; a launch does
// `count` of them, from `first` on. (By F(2x2, 3x3), of 2x2 results and 4x4 elements, it does all.)
typedef struct {
  cl_int images, channels, rows;
  cl_int source_h, source_w, result_h, result_w;
  cl_int start_h, start_w;  // the place in the source that the first result's window begins at
  cl_int row_filters, channel_filters,
      are_turned;              // elements from a result's filters to the next one's, and a channel's
  cl_int tiles_h, tiles_w;     // of a plane
  cl_int first, count, pitch;  // pitch: tiles from a line of components to the next
} ConvWinograd;

// Components of a tile, which are as many products.
enum { WINOGRAD_RESULTS = 4, WINOGRAD_ELEMENTS = 6, WINOGRAD_COMPONENTS = 36 };
// Extents of F(2x2, 3x3) in one launch (conv_winograd_fused_simt.cl), and its work groups: items, right
// operands' lines, and channels (tiles) of a step.
enum { FUSED_RESULTS = 2, FUSED_ELEMENTS = 4, FUSED_COMPONENTS = 16 };
enum { FUSED_ITEMS = 256, FUSED_COLUMNS = 32, FUSED_DEPTH = 4 };

// ---- cpu

// The extents of a convolution. Lengths and strides are in elements.
typedef struct {
  cl_long images, groups;
  cl_long rows, channels;                  // results and inputs of one group: rows and depth of the product
  cl_long taps_h, taps_w, step_h, step_w;  // taps and their distance in the padded input
  cl_long stride_h, stride_w, phases_w;    // of the padded input
  cl_long row_length, phase_size;          // of the phased input, and
  cl_long channel_stride, group_stride, image_stride, base, limit;
  cl_long out_h, out_w;  // results of one plane
  cl_long y_image, y_channel, y_row, y_column, y_base;
} Stencil;

// Planes as a walk over them reads them: padded (cropped, where that is negative) and split by stride.
typedef struct {
  cl_int height, width;  // of a plane
  cl_int phases_h, phases_w, rows, row_length;
  cl_int stride_h, stride_w, pad_h, pad_w;
} Phases;

// Where the contributions of all taps to an input's gradient are added up.
typedef struct {
  cl_long images, groups, in_channels, out_channels;  // channels of one group
  cl_long height, width, out_h, out_w;
  cl_long taps_h, taps_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  cl_long plane_rows, row_length;  // of a padded plane of sums
  // Of a job; rows of dy at once and their pixels rounded up to whole tiles.
  cl_long block_channels, chunk_rows, chunk_columns;
  cl_long sums_at, slice;  // in elements
} Scatter;

// Limits: panels of pixels that a job packs; weights of one result that are looked up once a plane. Then taps
// that share one load of a gradient, and numbers that vectors may touch behind phased planes.
enum { CONV_MAX_PANELS = 8, CONV_MAX_TERMS = 64, CONV_TAPS = 3, CONV_SLACK = 32 };

// ---- volumes

// The slices that a convolution of volumes reads along the depth: for slice o of a result, at tap k, slice
// start + o * stride + k * tap of `size`.
typedef struct {
  cl_long plane;  // elements of a slice
  cl_int channels, size, out, taps;
  cl_int start, stride, tap;
} ConvDepth;

END_SHARED
