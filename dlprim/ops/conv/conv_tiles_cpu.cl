// Convolution forward and backward-data on a CPU as an implicit GEMM: rows = output channels, columns = pixels of all
// images, depth = (tap row, tap column, channel). An item packs some panels of NR pixels and multiplies them by every
// panel of weights. Pixels of one output row are contiguous in the phased input, so packing is vector copies ("runs").
#include "ops/conv/conv_cpu.cl"
#include "ops/gemm/epilogue_cpu.cl"

// NR consecutive pixels: the runs they are made of, and where each result goes.
typedef struct {
  int count, runs;
  int run_start[NR], run_length[NR];
  long run_source[NR];
} PixelTile;

inline void find_runs(const Stencil *s, const long first_pixel, const int count, PixelTile *tile, long *target) {
  const long plane = s->out_h * s->out_w;
  const int pixel = REMAINDER(first_pixel, plane), width = s->out_w;
  long image = first_pixel / plane;
  int h = pixel / width, w = REMAINDER(pixel, width);
  tile->count = count;
  tile->runs = 0;
  for (int at = 0; at < count;) {
    const int length = min((int)s->out_w - w, count - at), r = tile->runs++;
    tile->run_start[r] = at;
    tile->run_length[r] = length;
    tile->run_source[r] = image * s->image_stride + h * s->row_length + w;
    const long out = image * s->y_image + h * s->y_row + w * s->y_column;
    for (int i = 0; i < length; ++i) target[at + i] = out + i * s->y_column;
    at += length;
    w = 0;
    if (++h == s->out_h) {
      h = 0;
      ++image;
    }
  }
}

// Copies whole vectors: what runs over the end of a run is overwritten by the next run, or by the next row.
// `x` is element `start` of the input.
inline void pack_pixels(const Stencil *s, __global const REAL *restrict x, const long start, const PixelTile *tile,
                        __global REAL *restrict panel) {
  const int channels = s->channels, runs = tile->runs;
  const long channel_stride = s->channel_stride;
  const long furthest = tile->run_source[runs - 1] + (channels - 1) * channel_stride + 2 * LANES;
  for (int th = 0; th < s->taps_h; ++th)
    for (int tw = 0; tw < s->taps_w; ++tw) {
      const long offset = tap_offset(s, th, tw);
      __global const REAL *from = x + offset;
      const bool whole_vectors = tile->count == NR && start + offset + furthest <= s->limit;
      for (int c = 0; c < channels; ++c, from += channel_stride, panel += NR) {
        if (whole_vectors) {
          for (int r = 0; r < runs; ++r) {
            VSTORE(VLOAD(0, from + tile->run_source[r]), 0, panel + tile->run_start[r]);
            if (tile->run_length[r] > LANES)
              VSTORE(VLOAD(1, from + tile->run_source[r]), 1, panel + tile->run_start[r]);
          }
        } else {
          for (int r = 0; r < runs; ++r)
            for (int i = 0; i < tile->run_length[r]; ++i)
              panel[tile->run_start[r] + i] = from[tile->run_source[r] + i];
          for (int i = tile->count; i < NR; ++i) panel[i] = 0;
        }
      }
    }
}

// `addend`: null, or of the results, and lies as they do.
inline void store_pixels(const Tile tile, __global STORAGE *restrict y, __global const STORAGE *restrict addend,
                         const long *target, const int count, const long y_channel, const int rows,
                         __global const STORAGE *restrict bias) {
  REAL values[MR * NR];
  spill_tile(tile, values);
  const bool contiguous = count == NR && target[NR - 1] - target[0] == NR - 1;
  for (int i = 0; i < rows; ++i) {
    const REAL shift = bias ? LOAD(bias, i) : (REAL)0;
    __global STORAGE *row = y + i * y_channel;
    __global const STORAGE *more = addend ? addend + i * y_channel : 0;
#if DIRECT
    if (contiguous) {
      row += target[0];
      if (more) more += target[0];
      for (int v = 0; v < TILE_VECTORS; ++v)
        VSTORE(finished_vector(VLOAD(v, values + i * NR) + shift, more ? more + v * LANES : 0), v, row);
      continue;
    }
#else
    if (contiguous && !more) {
      row += target[0];
      for (int n = 0; n < NR; ++n) STORE(row, n, activated(values[i * NR + n] + shift));
      continue;
    }
#endif
    for (int n = 0; n < count; ++n)
      STORE(row, target[n], finished(values[i * NR + n] + shift, more ? more + target[n] : 0));
  }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void conv_tiles(BUFFER(const REAL, weights), BUFFER(const REAL, x), BUFFER(const STORAGE, bias),
                         BUFFER(const STORAGE, addend), BUFFER(STORAGE, y), BUFFER(REAL, scratch),
                         const Stencil stencil, const int has_bias, const int has_addend, const int panels_per_job,
                         const long slice) {
  BIND(const REAL, weights);
  __global REAL *panels = scratch_buffer + scratch_start + get_group_id(0) * slice;
  const Stencil s = stencil;
  const int rows = s.rows, row_panels = (rows + MR - 1) / MR;
  const int depth = s.channels * s.taps_h * s.taps_w;
  const long pixels = s.images * s.out_h * s.out_w, column_panels = (pixels + NR - 1) / NR;
  const long blocks = (column_panels + panels_per_job - 1) / panels_per_job, jobs = blocks * s.groups;
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const long group = job / blocks, first_panel = REMAINDER(job, blocks) * panels_per_job;
    const int count = min((long)panels_per_job, column_panels - first_panel);
    const long start = s.base + group * s.group_stride;
    __global const REAL *x = x_buffer + x_start + start;
    __global const REAL *left = weights + group * row_panels * MR * depth;
    const long place = s.y_base + group * rows * s.y_channel;
    __global STORAGE *out = y_buffer + y_start + place;
    __global const STORAGE *more = has_addend ? addend_buffer + addend_start + place : 0;
    long target[CONV_MAX_PANELS][NR];
    int width[CONV_MAX_PANELS];
    for (int p = 0; p < count; ++p) {
      PixelTile tile;
      const long first = (first_panel + p) * NR;
      width[p] = min((long)NR, pixels - first);
      find_runs(&s, first, width[p], &tile, target[p]);
      if (depth > 0) pack_pixels(&s, x, start, &tile, panels + (long)p * depth * NR);
    }
    for (int r = 0; r < row_panels; ++r)
      for (int p = 0; p < count; ++p) {
        const Tile tile =
            multiply_panels(left + (long)r * depth * MR, panels + (long)p * depth * NR, depth);
        store_pixels(tile, out + r * MR * s.y_channel, more ? more + r * MR * s.y_channel : 0, target[p], width[p],
                     s.y_channel, min(MR, rows - r * MR),
                     has_bias ? bias_buffer + bias_start + group * rows + r * MR : 0);
      }
  }
}
