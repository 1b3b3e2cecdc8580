#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// The dimensions of the lines that a launch walks: a tensor's others, and one for each time that a length was
// split. The passes of a line.
enum { FFT_MAX_DIMS = 12, FFT_MAX_PASSES = 16 };
// Lines that a work group takes at once: those of shape cpu fill a vector of these bytes.
enum { FFT_VECTOR_BYTES = 64, FFT_MAX_GROUP_LINES = 16 };
// The form of a side's elements. FFT_REAL: they have no imaginary parts. FFT_HALF: they are the first half of
// a spectrum, read conjugated; the rest is mirrored. FFT_SWAP: both parts are exchanged.
enum { FFT_REAL = 1, FFT_HALF = 2, FFT_SWAP = 4 };

// One side of a launch. The element that element `j` of a line reads or writes has the number
//   index = (sum over dimensions of coordinate * index_strides) + j * step
// and stands at (sum of coordinate * strides) + index * unit, all in numbers of type REAL.
typedef struct {
  cl_long strides[FFT_MAX_DIMS], index_strides[FFT_MAX_DIMS];
  cl_long step, unit;
  cl_long imaginary;  // from a real part to its imaginary part
  cl_long limit;      // elements from here on are read as 0, and not written
  cl_long whole;      // of FFT_HALF: elements of the spectrum
  cl_int form, has_factors;
} FftSide;

// Transforms of length `n`, one a line.
typedef struct {
  FftSide in, out;
  cl_long sizes[FFT_MAX_DIMS];  // the last is walked first
  cl_long lines;                // the product of the sizes
  cl_int rank, n;
  cl_int passes, radices[FFT_MAX_PASSES];
  cl_int group_lines, reads_along_lines,
      writes_along_lines;  // shape simt: lines a group, how its items share them
} FftLines;

END_SHARED
