// Convolution of int8 on a CPU as an implicit matrix product. Its rows are a group's output channels, its columns
// places of a result, and its depth the elements of a filter.
//   NEIGHBOURS   along the depth that share a lane: 4 bytes with AVX-512 VNNI, else 2 of int16
//
// Places run over the rows of the padded input: those between the rows of the result are computed and dropped. So the
// places that one element of a filter meets are neighbours, whatever stride, dilation and padding are.
#include "ops/int8/int8.cl"
#include "ops/int8/int8_madd.cl"

#define VECTORS (INT8_PLACES / 16)
#define UNROLL _Pragma("unroll")
#define ROWS INT8_ROWS

inline long first_of(const long jobs, const long item, const long items) { return jobs * item / items; }
inline int ceil_from_zero(const int a, const int b) { return a <= 0 ? 0 : (a + b - 1) / b; }

// The padded planes, split by stride, with the zero of the format around them.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void int8_planes(BUFFER(const char, x), const Int8Conv conv,
                                                                         const Int8Planes planes, const char zero,
                                                                         BUFFER(char, y)) {
  const Int8Conv c = conv;
  const Int8Planes p = planes;
  const long all = (long)c.images * c.groups * c.channels;
  const long last = first_of(all, get_group_id(0) + 1, get_num_groups(0));
  long plane = first_of(all, get_group_id(0), get_num_groups(0));
  __global const char *x = x_buffer + x_start;
  __global char *to = y_buffer + y_start + plane * p.plane;
  for (; plane < last; ++plane)
    for (int a = 0; a < p.phases_h; ++a)
      for (int b = 0; b < p.phases_w; ++b) {
        const int begin = min(ceil_from_zero(c.pad_w - b, c.stride_w), p.row_length);
        const int end = max(begin, min(ceil_from_zero(c.width + c.pad_w - b, c.stride_w), p.row_length));
        for (int r = 0; r < p.rows; ++r, to += p.row_length) {
          const int row = r * c.stride_h + a - c.pad_h, is_inside = row >= 0 && row < c.height;
          __global const char *from = x + plane * c.height * c.width + (is_inside ? row : 0) * c.width + b - c.pad_w;
          const int stop = is_inside ? end : begin;
          for (int j = 0; j < begin; ++j) to[j] = zero;
          if (c.stride_w == 1)
            for (int j = begin; j < stop; ++j) to[j] = from[j];
          else
            for (int j = begin; j < stop; ++j) to[j] = from[j * c.stride_w];
          for (int j = stop; j < p.row_length; ++j) to[j] = zero;
        }
      }
  if (last == all)
    for (int i = 0; i < INT8_SLACK; ++i) to[i] = zero;
}

// Filters as words of NEIGHBOURS: [groups][panels of ROWS][words][ROWS], missing ones as zeros. A line of the filters'
// sums follows the words of a panel.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void int8_filters(BUFFER(const char, weight), const int groups,
                                                                          const int rows, const int depth,
                                                                          BUFFER(int, packed)) {
  const int panels = (rows + ROWS - 1) / ROWS, words = (depth + NEIGHBOURS - 1) / NEIGHBOURS;
  const long all = (long)groups * panels, last = first_of(all, get_group_id(0) + 1, get_num_groups(0));
  for (long panel = first_of(all, get_group_id(0), get_num_groups(0)); panel < last; ++panel) {
    const long group = panel / panels;
    const int first = panel % panels * ROWS, count = min(ROWS, rows - first);
    __global const char *from = weight_buffer + weight_start + (group * rows + first) * depth;
    __global int *to = packed_buffer + packed_start + panel * (words + 1) * ROWS;
    int block[ROWS][16], totals[ROWS];
    for (int r = 0; r < ROWS; ++r) totals[r] = 0;
    for (int r = count; r < ROWS; ++r) vstore16((int16)(0), 0, block[r]);
    for (int at = 0; at < words; at += 16) {
      const int some = min(16, words - at);
      for (int r = 0; r < count; ++r) {
        const int begin = NEIGHBOURS * at, whole = begin + NEIGHBOURS * 16 <= depth;
        __global const char *line = from + (long)r * depth + begin;
        char numbers[NEIGHBOURS * 16];
        for (int i = 0; i < NEIGHBOURS * 16; ++i) numbers[i] = whole || begin + i < depth ? line[i] : 0;
        int total = 0;
        for (int i = 0; i < NEIGHBOURS * 16; ++i) total += numbers[i];
        totals[r] += total;
#if NEIGHBOURS == 4
        for (int i = 0; i < 16; ++i) block[r][i] = as_int(vload4(i, numbers));
#else
        for (int i = 0; i < 16; ++i) block[r][i] = pair_of(numbers[2 * i], numbers[2 * i + 1]);
#endif
      }
      for (int i = 0; i < some; ++i, to += ROWS)
        vstore8((int8)(block[0][i], block[1][i], block[2][i], block[3][i], block[4][i], block[5][i], block[6][i],
                       block[7][i]),
                0, to);
    }
    for (int r = 0; r < ROWS; ++r) to[r] = totals[r];
  }
}

// Where the elements of a filter lie in the planes of their group; returns the greatest.
inline int find_places(const Int8Conv *c, const Int8Planes *p, __global int *places) {
  int furthest = 0;
  for (int channel = 0; channel < c->channels; ++channel)
    for (int th = 0; th < c->taps_h; ++th)
      for (int tw = 0; tw < c->taps_w; ++tw) {
        const int h = th * c->dilation_h, w = tw * c->dilation_w;
        const int place = channel * (int)p->plane + (h % c->stride_h * p->phases_w + w % c->stride_w) * (int)p->phase +
                          h / c->stride_h * p->row_length + w / c->stride_w;
        *places++ = place;
        furthest = max(furthest, place);
      }
  return furthest;
}

inline int16 load_numbers(__global const char *from, const int readable) {
  if (readable >= 16) return convert_int16(vload16(0, from));
  int lanes[16];
  for (int i = 0; i < 16; ++i) lanes[i] = i < readable ? from[i] : 0;
  return vload16(0, lanes);
}

// Element `k` of the filters meets these; beyond the depth filters are zeros, and any numbers will do.
#define NUMBERS(k, READABLE) \
  load_numbers(from + places[min(k, depth - 1)] + 16 * v, READABLE(places[min(k, depth - 1)] + 16 * v))

// READABLE(place): how many numbers from a place on may be read. Bytes are without a sign, 128 more than the numbers.
#if NEIGHBOURS == 4
#define WORDS(k, READABLE)                                                                                   \
  (NUMBERS(k, READABLE) & 255) | ((NUMBERS(k + 1, READABLE) & 255) << 8) | ((NUMBERS(k + 2, READABLE) & 255) << 16) | \
      (NUMBERS(k + 3, READABLE) << 24)
#define TO_UNSIGNED ^ (int16)(0x80808080)
#else
#define WORDS(k, READABLE) \
  ((NUMBERS(k, READABLE) - zero) & 0xffff) | ((NUMBERS(k + 1, READABLE) - zero) << 16)
#define TO_UNSIGNED
#endif
#define PACK(READABLE)                              \
  for (int k = 0; k < depth; k += NEIGHBOURS)       \
    UNROLL for (int v = 0; v < VECTORS; ++v, to += 16) vstore16((WORDS(k, READABLE)) TO_UNSIGNED, 0, to);
#define WHOLE(place) 16
#define AS_FAR_AS_IT_GOES(place) (int)clamp(readable - (place), 0l, 16l)

inline void pack_panel(__global const char *from, __global const int *places, const int depth, const int furthest,
                       const long readable, const int zero, __global int *to) {
  if (readable >= furthest + INT8_PLACES) {
    PACK(WHOLE)
  } else {
    PACK(AS_FAR_AS_IT_GOES)
  }
}

// Visits the pieces of a panel's places that lie in a row of the result. PIECE(at, to, count) is for `count`
// neighbours: they are places from `at` on of the panel, and elements from `to` on of the result's plane.
#define FOR_PIECES(c, row_length, first, PIECE)                                    \
  for (int at_ = 0, h_ = (first) / (row_length), w_ = (first) - h_ * (row_length); \
       at_ < INT8_PLACES && h_ < (c)->out_h; ++h_, w_ = 0) {                       \
    const int count_ = min(INT8_PLACES - at_, (c)->out_w - w_);                    \
    if (count_ > 0) PIECE(at_, h_ * (c)->out_w + w_, count_)                       \
    at_ += (row_length) - w_;                                                      \
  }

// Copies up to INT8_PLACES neighbours.
#define COPY(from, to, count)                                         \
  {                                                                   \
    int i = 0;                                                        \
    for (; i + 16 <= count; i += 16) vstore16(vload16(0, from + i), 0, to + i); \
    if (count & 8) vstore8(vload8(0, from + i), 0, to + i), i += 8;   \
    if (count & 4) vstore4(vload4(0, from + i), 0, to + i), i += 4;   \
    for (; i < count; ++i) (to)[i] = (from)[i];                       \
  }
#define GATHER(at, from, count) COPY((addend + from), (addends + at), count)
#define SCATTER(at, to, count) COPY((results + at), (y + to), count)

inline void store_row(const Int8Conv *c, const Int8Finish *f, const int row_length, const int first, const int *sums,
                      const float scale, const float bias, __global const char *addend, __global char *y) {
  char results[INT8_PLACES], addends[INT8_PLACES];
  const int is_whole = row_length == c->out_w && first + INT8_PLACES <= c->out_h * c->out_w;
  if (f->has_addend) {
    if (is_whole)
      UNROLL for (int v = 0; v < VECTORS; ++v) vstore16(vload16(v, addend + first), v, addends);
    else
      FOR_PIECES(c, row_length, first, GATHER)
  }
  UNROLL for (int v = 0; v < VECTORS; ++v) {
    float16 t = convert_float16(vload16(v, sums)) * scale;
    t += bias;
    if (f->has_addend) t += of_addend16(vload16(v, addends), f);
    const char16 result = finished16(t, f);
    if (is_whole)
      vstore16(result, v, y + first);
    else
      vstore16(result, v, results);
  }
  if (!is_whole) FOR_PIECES(c, row_length, first, SCATTER)
}

// An item has some jobs: panels of places of one image and group, which it packs, and multiplies with all filters.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void int8_products(
    BUFFER(const int, filters), BUFFER(const char, planes), BUFFER(const float, scales), BUFFER(const float, bias),
    BUFFER(const char, addend), BUFFER(char, y), BUFFER(int, scratch), const Int8Conv conv, const Int8Planes shape,
    const Int8Finish finish, const int per_job, const long slice, const long limit) {
  const Int8Conv c = conv;
  const Int8Planes p = shape;
  const Int8Finish f = finish;
  const int depth = c.channels * c.taps_h * c.taps_w, words = (depth + NEIGHBOURS - 1) / NEIGHBOURS;
  const int panels = (c.out_h * p.row_length + INT8_PLACES - 1) / INT8_PLACES,
            chunks = (panels + per_job - 1) / per_job;
  const int row_panels = (c.rows + ROWS - 1) / ROWS;
  const long pixels = (long)c.out_h * c.out_w;
  __global int *places = scratch_buffer + scratch_start + get_group_id(0) * slice,
               *packed = places + (depth + 15) / 16 * 16;
  const int furthest = find_places(&c, &p, places);
  const long jobs = (long)c.images * c.groups * chunks, last = first_of(jobs, get_group_id(0) + 1, get_num_groups(0));
  for (long job = first_of(jobs, get_group_id(0), get_num_groups(0)); job < last; ++job) {
    const long plane = job / chunks, group = plane % c.groups;
    const int first_panel = job % chunks * per_job, count = min(per_job, panels - first_panel);
    const long start = plane * c.channels * p.plane + (long)first_panel * INT8_PLACES;
    for (int i = 0; i < count; ++i)
      pack_panel(planes_buffer + planes_start + start + i * INT8_PLACES, places, depth, furthest,
                 limit - start - i * INT8_PLACES, f.x_zero,
                 packed + (long)i * words * INT8_PLACES);
    for (int rows = 0; rows < row_panels; ++rows) {
      __global const int *left = filters_buffer + filters_start + (group * row_panels + rows) * (words + 1) * ROWS;
      for (int i = 0; i < count; ++i) {
        __global const int *right = packed + (long)i * words * INT8_PLACES;
        int16 sums[ROWS][VECTORS];
        UNROLL for (int r = 0; r < ROWS; ++r) UNROLL for (int v = 0; v < VECTORS; ++v)
          sums[r][v] = (int16)(NEIGHBOURS == 4 ? left[words * ROWS + r] * -(f.x_zero + 128) : 0);
        for (int k = 0; k < words; ++k) {
          int16 numbers[VECTORS];
          UNROLL for (int v = 0; v < VECTORS; ++v) numbers[v] = vload16(k * VECTORS + v, right);
          UNROLL for (int r = 0; r < ROWS; ++r) {
            const int16 weight = (int16)(left[k * ROWS + r]);
            UNROLL for (int v = 0; v < VECTORS; ++v) ADD_PRODUCTS(sums[r][v], numbers[v], weight);
          }
        }
        int spilled[ROWS][INT8_PLACES];  // so that sums stay in registers
        UNROLL for (int r = 0; r < ROWS; ++r) UNROLL for (int v = 0; v < VECTORS; ++v)
            vstore16(sums[r][v], v, spilled[r]);
        for (int r = 0; r < min(ROWS, c.rows - rows * ROWS); ++r) {
          const long channel = group * c.rows + rows * ROWS + r;
          const long at = (plane / c.groups * c.groups * c.rows + channel) * pixels;
          store_row(&c, &f, p.row_length, (first_panel + i) * INT8_PLACES, spilled[r],
                    scales_buffer[scales_start + channel] * f.ratio,
                    f.has_bias ? bias_buffer[bias_start + channel] * f.inverse : 0.0f,
                    addend_buffer + addend_start + at, y_buffer + y_start + at);
        }
      }
    }
  }
}
