// Gradient of a convolution's input on a CPU, the other way round than conv_tiles: the product of the transposed
// weights and dy gives every tap's contribution, rows (channel, tap), columns pixels of dy; then they are added where
// they belong. No multiplication by padding zeros, and full register tiles for few input channels; but additions that
// conv_tiles does not have. conv2d_backward_data_cpu.cpp weighs the two.
//
// A job is one image and a block of input channels of one group. Its slice of the scratch buffer holds the packed
// pixels, the contributions of a chunk of rows of dy, and the sums as padded planes, so that no bound is checked.
// Measured against conv_tiles (2 Zen 4 cores, shared; median CPU time over 2, three alternating runs): MNIST's second
// convolution at batch 128 3.8 to 4.0 ms against 5.4 to 6.0, its first 0.8 to 1.2 against 5.1 to 5.5, a 7x7 stem of
// stride 2 24 to 25 against 96 to 102.
#include "ops/conv/conv_cpu.cl"

// sums[j * stride] += row[j]; whole vectors may be read, and written unchanged, beyond the row.
inline void add_row(__global const REAL *restrict row, const int count, const int stride, const MASK keep_tail,
                    __global REAL *restrict sums) {
  int j = 0;
  if (stride == 1) {
    for (; j + LANES < count; j += LANES) VSTORE(VLOAD(0, sums + j) + VLOAD(0, row + j), 0, sums + j);
    VSTORE(VLOAD(0, sums + j) + select((VEC)(0), VLOAD(0, row + j), keep_tail), 0, sums + j);
  } else if (stride == 2) {
    for (; j + LANES <= count; j += LANES) {
      const VEC values = VLOAD(0, row + j);
      VEC low = (VEC)(0), high = (VEC)(0);
      low.even = values.lo;
      high.even = values.hi;
      VSTORE(VLOAD(0, sums + 2 * j) + low, 0, sums + 2 * j);
      VSTORE(VLOAD(1, sums + 2 * j) + high, 1, sums + 2 * j);
    }
    for (; j < count; ++j) sums[2 * j] += row[j];
  } else {
    for (; j < count; ++j) sums[j * stride] += row[j];
  }
}

inline void add_contributions(const Scatter *s, __global const REAL *restrict contributions, const int channels,
                              const int first_row, const int rows, const MASK keep_tail, __global REAL *restrict sums) {
  const int out_w = s->out_w, taps_h = s->taps_h, taps_w = s->taps_w, stride_w = s->stride_w;
  for (int c = 0; c < channels; ++c, sums += s->plane_rows * s->row_length)
    for (int th = 0; th < taps_h; ++th)
      for (int tw = 0; tw < taps_w; ++tw, contributions += s->chunk_columns) {
        __global REAL *to = sums + (first_row * s->stride_h + th * s->dilation_h) * s->row_length + tw * s->dilation_w;
        for (int h = 0; h < rows; ++h)
          add_row(contributions + h * out_w, out_w, stride_w, keep_tail, to + h * s->stride_h * s->row_length);
      }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void conv_scatter(BUFFER(const REAL, weights), BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx),
                           BUFFER(REAL, scratch), const Scatter scatter) {
  BIND(const STORAGE, dy);
  const Scatter s = scatter;
  const int depth = s.out_channels, taps = s.taps_h * s.taps_w, out_w = s.out_w;
  const long plane = s.out_h * s.out_w, row_panels = (s.in_channels * taps + MR - 1) / MR;
  const long blocks = (s.in_channels + s.block_channels - 1) / s.block_channels, jobs = s.images * s.groups * blocks;
  const long padded_plane = s.plane_rows * s.row_length;
  __global REAL *panel = scratch_buffer + scratch_start + get_group_id(0) * s.slice;
  __global REAL *contributions = panel + depth * NR, *sums = panel + s.sums_at;
  const MASK keep_tail = EACH_LANE < (MASK)(out_w - (out_w - 1) / LANES * LANES);
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const long plane_set = job / blocks, block = REMAINDER(job, blocks);  // plane_set = image * groups + group
    const long group = REMAINDER(plane_set, s.groups), first_channel = block * s.block_channels;
    const int channels = min(s.block_channels, s.in_channels - first_channel);
    const int block_panels = (channels * taps + MR - 1) / MR;
    __global const REAL *left = weights_buffer + weights_start +
                                (group * row_panels + first_channel * taps / MR) * MR * depth;
    __global const STORAGE *gradients = dy + plane_set * depth * plane;
    for (long i = 0; i < channels * padded_plane; ++i) sums[i] = 0;
    for (int first_row = 0; first_row < s.out_h; first_row += s.chunk_rows) {
      const int rows = min(s.chunk_rows, s.out_h - first_row), pixels = rows * out_w;
      for (int first = 0; first < pixels; first += NR) {
        pack_panel(gradients + (long)first_row * out_w + first, plane, 1, depth, min(NR, pixels - first), panel);
        for (int r = 0; r < block_panels; ++r) {
          const Tile tile = multiply_panels(left + (long)r * MR * depth, panel, depth);
          __global REAL *to = contributions + (long)r * MR * s.chunk_columns + first;
#pragma unroll
          for (int i = 0; i < MR; ++i) {
            VSTORE(tile.v[i][0], 0, to + i * s.chunk_columns);
            VSTORE(tile.v[i][1], 1, to + i * s.chunk_columns);
          }
        }
      }
      add_contributions(&s, contributions, channels, first_row, rows, keep_tail, sums);
    }
    __global STORAGE *out = dx_buffer + dx_start + (plane_set * s.in_channels + first_channel) * s.height * s.width;
    for (int c = 0; c < channels; ++c)
      for (int h = 0; h < s.height; ++h, out += s.width) {
        __global const REAL *row = sums + c * padded_plane + (h + s.pad_h) * s.row_length + s.pad_w;
        for (int w = 0; w < s.width; ++w) STORE(out, w, row[w]);
      }
  }
}
