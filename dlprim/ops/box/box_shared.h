#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum {
  NMS_WORD = 32,      // boxes that a word of marks stands for
  ROI_CHANNELS = 8,   // of a pixel, that a work item of the gradient takes
  ROI_MOST = 1 << 30  // sampling points along an axis of a box, where their number follows from its size
};

// How boxes lie on planes. Axes: height, width.
REAL_STRUCT(KernelRegions) {
  REAL scale, offset;  // of coordinates: scale * coordinate - offset
  cl_int is_aligned;   // boxes may be smaller than an element
  cl_int samples;      // along each axis of a bin; 0 or less: as many as the bin has elements
  cl_int images, channels;
  cl_int size[2], out[2];
};

END_SHARED
