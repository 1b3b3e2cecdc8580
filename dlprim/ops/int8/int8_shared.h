#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// How a sum becomes a result (int8.h).
typedef struct {
  float ratio, inverse, addend_ratio;  // x_scale / y_scale, 1 / y_scale, addend_scale / y_scale
  cl_int x_zero, addend_zero, y_zero, low, high;
  cl_int has_bias, has_addend;
} Int8Finish;

// The extents of a convolution; rows and channels are results and inputs of one group.
typedef struct {
  cl_int images, groups, rows, channels;
  cl_int height, width, out_h, out_w;
  cl_int taps_h, taps_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
} Int8Conv;

// The input of a convolution as its kernels for CPUs read it: planes with their padding, split by stride. So
// the places of a result's row are neighbours for each tap. `is_plain`: it is the input itself.
typedef struct {
  cl_int phases_h, phases_w, rows, row_length;
  cl_long phase, plane;  // elements
  cl_int is_plain;
} Int8Planes;

// Windows of pooling.
typedef struct {
  cl_int height, width, out_h, out_w;
  cl_int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
} Int8Windows;

// The tile of products: results' channels, places, and what vectors may touch behind planes.
enum { INT8_ROWS = 8, INT8_PLACES = 32, INT8_SLACK = 64 };

// The most taps of a depthwise window on CPUs: as many products of int8, with zeros taken off, are exact in
// float32.
enum { INT8_TAPS = 512 };

END_SHARED
