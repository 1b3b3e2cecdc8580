#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// x [batch, channels, plane]; `parts`: partial results of a channel.
typedef struct {
  cl_int batch, channels, plane, parts;
} BatchNormExtents;

enum { BATCH_NORM_LANES = 16 };  // items of a line of a GPU's group that takes rows of channels

REAL_STRUCT(StatisticsOptions) {
  REAL eps, momentum;
};

// `weights` consecutive entries of weight and bias belong to a row, each to n / weights neighbouring
// elements; after `period` rows they start again.
typedef struct {
  cl_long rows;
  cl_int n, period;
  cl_long weights;  // no padding at the end, which rusticl does not count (docs/driver-faults.md)
} RowNormExtents;

typedef struct {
  cl_long elements;
  cl_int channels, plane;
  cl_int before, after;  // neighbours on either side
} LocalResponseExtents;

REAL_STRUCT(LocalResponseOptions) {
  REAL share, beta, k;  // base = k + share * sum of squares
};

END_SHARED
