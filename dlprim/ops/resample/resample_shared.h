#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Planes have up to three axes; one that an operator leaves alone has size 1.

typedef struct {
  cl_int size[3], out[3], before[3];
  cl_int reflect;  // mirrored at the border, else the border's element again
} KernelPadding;

REAL_STRUCT(KernelInterpolation) {
  REAL scale[3];    // input positions to one output position
  REAL inverse[3];  // 1 / scale, or 0 where the scale is 0
  REAL center;      // 0.5 where positions are those of pixel centers, else 0
  cl_int size[3], out[3];
  cl_int linear[3];  // two taps, else the nearest element
};

// Sliding blocks over planes.
typedef struct {
  cl_int size[2], blocks[2];
  cl_int kernel_size[2], dilation[2], padding[2], stride[2];
} KernelBlocks;

// Values of planes or volumes at the points of a grid.
enum { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };  // what lies beyond the border
// Points that a work item takes on a CPU, channels of a point that it takes, and readers that are summed at once.
enum { GRID_LANES = 16, GRID_CHANNELS = 8, GRID_BLOCK = 64 };

typedef struct {
  cl_long points, channels;  // of an image
  cl_int size[3];            // of the input
  cl_int padding, align_corners;
  cl_int order[3];  // of the derivative along each axis
} KernelGrid;

END_SHARED
