// The slices that a convolution of volumes reads along the depth, as channels of planes: with the taps of the depth
// among the channels it is a convolution of planes. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines).
#include "core/common.cl"
#include "ops/conv/conv_shared.h"
#include "ops/resample/rows.cl"

// unfolded [images, out, channels, taps, plane] of x [images, channels, size, plane], with zeros for slices that are
// not there; a row is one of `plane` elements.
__kernel void unfold_depth(BUFFER(const STORAGE, x), BUFFER(STORAGE, unfolded), const long rows,
                           const ConvDepth given) {
  BIND(const STORAGE, x);
  BIND(STORAGE, unfolded);
  const ConvDepth g = given;
  FOR_ROWS(row, rows) {
    const long filter = row / g.taps, slice = filter / g.channels, image = slice / g.out;
    const int k = (int)(row - filter * g.taps), channel = (int)(filter - slice * g.channels);
    const int at = g.start + (int)(slice - image * g.out) * g.stride + k * g.tap;
    const int inside = at >= 0 && at < g.size;
    const __global STORAGE *from = x + ((image * g.channels + channel) * g.size + (inside ? at : 0)) * g.plane;
    FOR_COLUMNS(column, g.plane) {
      REAL value = 0;
      if (inside) value = LOAD(from, column);
      STORE(unfolded, row * g.plane + column, value);
    }
  }
}
