#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum { TENSOR_MAP_RANK = 4, TENSOR_MAP_BYTES = 128 };

// A tensor of float32, which is rounded to TF32, or of 16-bit elements, and its boxes that the device brings.
// Elements in each dimension, the innermost first; bytes from one to the next in the other dimensions,
// multiples of 16.
typedef struct {
  cl_int element_bytes;
  cl_int size[TENSOR_MAP_RANK], box[TENSOR_MAP_RANK];
  cl_long bytes[TENSOR_MAP_RANK - 1];
} TensorMapShape;

// Products of matrices that tensor maps describe, [batch, line, depth]: batches are so many matrices apart, 0
// or 1. `boxes` of the depth, in parts; the last may have fewer.
typedef struct {
  cl_int rows, columns, left_matrices, right_matrices;
  cl_int boxes, parts, part_boxes;
} MappedProduct;

END_SHARED
