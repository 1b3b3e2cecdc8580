#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Scores [batch, classes, positions]; a row is one (batch, position).
typedef struct {
  cl_long rows, ignore_index;
  cl_int classes, positions;
} LossRows;

REAL_STRUCT(LossLabels) {
  REAL smoothing;
  cl_int has_probabilities;
};

// The reduction of the losses of rows.
enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

// The number of classes whose gradients an item of shape simt makes.
enum { CLASSES_OF_ITEM = 4 };

END_SHARED
