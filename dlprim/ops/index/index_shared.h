#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

typedef struct {
  cl_long size[3];               // of the index
  cl_long index[3], x[3], y[3];  // strides; x: what is read, y: what is written
  cl_long winner[3];
  cl_long bound;  // of the dimension that the index names places of
  cl_long wraps;  // whether negative indices count from the end
} Places;

// Rows that are added to the places that sorted keys name.
typedef struct {
  cl_long positions;             // of sorted keys
  cl_long outer, inner;          // columns: [outer, inner]
  cl_long source[3], target[3];  // strides of [outer, position or place, inner]
  cl_long none;                  // the key of what is left out
} KeySums;

// Positions that are summed in one go, and columns that a work item of shape cpu adds side by side.
enum { SUM_CHUNK = 32, CPU_SUM_COLUMNS = 64 };

// Elements of a line that a work item of shape simt joins, and that a group can at most.
enum { LINE_STRETCH = 4, LINE_ELEMENTS = LINE_STRETCH * MAX_GROUP };

// Bins that a work group of shape simt counts in local memory.
enum { MOST_LOCAL_BINS = 2048 };

// A bool tensor whose true elements are counted by stretches.
typedef struct {
  cl_long size[MAX_RANK];  // innermost dimension first
  cl_long rank, count_stride, dim_stride;
} TrueShape;

enum { CPU_TRUE_STRETCH = 128, SIMT_TRUE_STRETCH = 32 };

END_SHARED
