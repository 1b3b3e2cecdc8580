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

// What becomes of the losses of rows.
enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

// Of which an item of shape simt makes the gradients.
enum { CLASSES_OF_ITEM = 4 };

END_SHARED
