// Gradient of a convolution's weights on a CPU, as the transposed product dw'(channel and tap, output channel) =
// sum over pixels of x(channel, pixel + tap) * dy(pixel, output channel). The left operand needs no packing: a row of
// it is a row of the phased input, shifted by the tap. The right one is dy transposed in registers, a chunk of pixels
// at a time.
#include "ops/conv/conv_cpu.cl"

// A chunk of pixels: whole images, or some rows of one image.
typedef struct {
  int images, rows;
} ChunkSize;

inline Tile multiply_rows(const Stencil *s, __global const REAL *restrict x, const long *row_start,
                          __global const REAL *restrict right, const int images, const int rows) {
  long start[MR];
#pragma unroll
  for (int i = 0; i < MR; ++i) start[i] = row_start[i];
  Tile tile = zero_tile();
  for (int image = 0; image < images; ++image)
    for (int h = 0; h < rows; ++h) {
      __global const REAL *left = x + image * s->image_stride + h * s->row_length;
      const int width = s->out_w;
      for (int w = 0; w < width; ++w, right += NR) {
#define ROW_LEFT(i) left[start[i] + w]
        TILE_STEP(tile, ROW_LEFT, right)
#undef ROW_LEFT
      }
    }
  return tile;
}

// Adds one chunk's products to the partial sums [row panels * MR][NR]; the first chunk sets them.
inline void add_chunk(const Stencil *s, __global const REAL *restrict x, __global const REAL *restrict right,
                      const int images, const int rows, const bool first, __global REAL *restrict sums) {
  const int taps = s->taps_h * s->taps_w, taps_w = s->taps_w, all = s->channels * taps;
  for (int m = 0; m < all; m += MR) {
    long start[MR];
    for (int i = 0; i < MR; ++i) {
      const int row = min(m + i, all - 1), tap = REMAINDER(row, taps);
      start[i] = row / taps * s->channel_stride + tap_offset(s, tap / taps_w, REMAINDER(tap, taps_w));
    }
    const Tile tile = multiply_rows(s, x, start, right, images, rows);
    __global REAL *sum = sums + (long)m * NR;
#pragma unroll
    for (int i = 0; i < MR; ++i) {
      VSTORE(first ? tile.v[i][0] : VLOAD(2 * i, sum) + tile.v[i][0], 2 * i, sum);
      VSTORE(first ? tile.v[i][1] : VLOAD(2 * i + 1, sum) + tile.v[i][1], 2 * i + 1, sum);
    }
  }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void weight_partials(BUFFER(const STORAGE, dy), BUFFER(const REAL, x), BUFFER(REAL, partials),
                              BUFFER(REAL, scratch), const Stencil stencil, const int chunk_images,
                              const int chunk_rows, const int parts, const long slice) {
  BIND(const STORAGE, dy);
  const Stencil s = stencil;
  const int column_panels = (s.rows + NR - 1) / NR;
  const long job = get_group_id(0), part = REMAINDER(job, parts), all_panels = job / parts;
  const long group = all_panels / column_panels, panel = REMAINDER(all_panels, column_panels);
  const int out_channels = s.rows, first_column = panel * NR, columns = min(NR, out_channels - first_column);
  const long sum_rows = (s.channels * s.taps_h * s.taps_w + MR - 1) / MR * MR;
  __global REAL *sums =
      partials_buffer + partials_start + ((part * s.groups + group) * column_panels + panel) * sum_rows * NR;
  __global REAL *right = scratch_buffer + scratch_start + job * slice;
  __global const REAL *x = x_buffer + x_start + s.base + group * s.group_stride;
  const long row_chunks = (s.out_h + chunk_rows - 1) / chunk_rows;
  const long chunks = (s.images + chunk_images - 1) / chunk_images * row_chunks;
  const long begin = first_job(chunks, part, parts), end = first_job(chunks, part + 1, parts);
  const long plane = s.out_h * s.out_w;
  for (long chunk = begin; chunk < end; ++chunk) {
    const long image = chunk / row_chunks * chunk_images, row = REMAINDER(chunk, row_chunks) * chunk_rows;
    const int images = min((long)chunk_images, s.images - image), rows = min((long)chunk_rows, s.out_h - row);
    const int pixels = rows * (int)s.out_w;
    for (int i = 0; i < images; ++i)
      pack_panel(dy + (((image + i) * s.groups + group) * out_channels + first_column) * plane + row * s.out_w, 1,
                 plane, pixels, columns, right + (long)i * pixels * NR);
    add_chunk(&s, x + image * s.image_stride + row * s.row_length, right, images, rows, chunk == begin, sums);
  }
}

// dw[output channel][channel and tap] = sum of the partial sums in order. One item a block of LANES rows of one panel.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void weight_sum(BUFFER(const REAL, partials), BUFFER(STORAGE, dw), const int groups, const int out_channels,
                         const int all, const int parts) {
  BIND(STORAGE, dw);
  const int column_panels = (out_channels + NR - 1) / NR;
  const long all_panels = get_group_id(1), group = all_panels / column_panels;
  const long panel = REMAINDER(all_panels, column_panels);
  const long sum_rows = (all + MR - 1) / MR * MR, part_size = (long)groups * column_panels * sum_rows * NR;
  const int row = get_group_id(0) * LANES, rows = min(LANES, all - row);
  const int columns = min((long)NR, out_channels - panel * NR);
  __global const REAL *from =
      partials_buffer + partials_start + ((group * column_panels + panel) * sum_rows + row) * NR;
  REAL sums[LANES * NR];
  for (int i = 0; i < rows; ++i) {
    VEC sum0 = VLOAD(2 * i, from), sum1 = VLOAD(2 * i + 1, from);
    for (int part = 1; part < parts; ++part) {
      sum0 += VLOAD(2 * i, from + part * part_size);
      sum1 += VLOAD(2 * i + 1, from + part * part_size);
    }
    VSTORE(sum0, 2 * i, sums);
    VSTORE(sum1, 2 * i + 1, sums);
  }
  __global STORAGE *to = dw + (group * out_channels + panel * NR) * all + row;
  for (int n = 0; n < columns; ++n)
    for (int i = 0; i < rows; ++i) STORE(to, (long)n * all + i, sums[i * NR + n]);
}
