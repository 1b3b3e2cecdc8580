// Moving elements to and from places that an index names. Elements are moved as unsigned integers of their size, so
// that one program serves every dtype. An index [outer, along, inner] names for each of its elements (o, j, i) a place
// along the middle dimension of another tensor of three dimensions. Strides of 0 let one index serve whole rows.
#include "core/common.cl"
#include "ops/index/index_shared.h"
#include "ops/index/lines.cl"
#include "ops/index/place.cl"
#include "ops/sort/work.cl"

typedef struct {
  long o, j, i;
} element_t;

// Coordinates of element number `e`, in 32 bits where they fit: a GPU divides those much faster.
inline element_t coordinates(long e, const long *size) {
  element_t at;
  if (size[0] * size[1] * size[2] <= INT_MAX) {
    const uint row = (uint)e / (uint)size[2];
    at.i = (uint)e - row * (uint)size[2];
    at.o = row / (uint)size[1];
    at.j = row - (uint)at.o * (uint)size[1];
  } else {
    const long row = e / size[2];
    at.i = e - row * size[2];
    at.o = row / size[1];
    at.j = row - at.o * size[1];
  }
  return at;
}

// Runs ELEMENT(o, j, i) over the elements of the index. Shape cpu: rows (o, j) are shared out.
#if SHAPE_CPU
#define FOR_MY_ROWS(o, j)                                                                              \
  for (long row = p.size[0] * p.size[1] * (long)get_global_id(0) / (long)get_global_size(0),           \
            row_end = p.size[0] * p.size[1] * ((long)get_global_id(0) + 1) / (long)get_global_size(0), \
            o = row / p.size[1], j = row - o * p.size[1];                                              \
       row < row_end; ++row, o += j + 1 == p.size[1], j = j + 1 == p.size[1] ? 0 : j + 1)
// Rows of one element are taken together: a loop for each would take longer than its work.
#define FOR_MY_ELEMENTS(ELEMENT)                                                                               \
  if (p.size[2] == 1) {                                                                                        \
    const long all = p.size[0] * p.size[1], items = get_global_size(0), id = get_global_id(0);                 \
    for (long e = all * id / items, end = all * (id + 1) / items; e < end;) {                                  \
      const long o = e / p.size[1], first = e - o * p.size[1], last = min(p.size[1], first + end - e);         \
      for (long j = first; j < last; ++j) ELEMENT(o, j, 0L)                                                    \
      e += last - first;                                                                                       \
    }                                                                                                          \
  } else                                                                                                       \
    FOR_MY_ROWS(o, j) for (long i = 0; i < p.size[2]; ++i) ELEMENT(o, j, i)
#else
#define FOR_MY_ELEMENTS(ELEMENT)                 \
  FOR_MY(e, p.size[0] * p.size[1] * p.size[2]) { \
    const element_t at = coordinates(e, p.size); \
    ELEMENT(at.o, at.j, at.i)                    \
  }
#endif

// ---- reading: y[o, j, i] = x[o, index[o, j, i], i]

#define READ_ELEMENT(o, j, i)                                  \
  {                                                            \
    const long given = index[AT(index, o, j, i)];              \
    PLACE(place, given)                                        \
    y[AT(y, o, j, i)] = place < 0 ? 0 : x[AT(x, o, place, i)]; \
  }

#if SHAPE_CPU
// Rows that one index names whole are copied without asking it again.
#define READ_ALL                                                                 \
  if (p.index[2] == 0 && p.size[2] > 1) {                                        \
    FOR_MY_ROWS(o, j) {                                                          \
      const long given = index[AT(index, o, j, 0)];                              \
      PLACE(place, given)                                                        \
      const long from = AT(x, o, place, 0), to = AT(y, o, j, 0);                 \
      if (place < 0)                                                             \
        for (long i = 0; i < p.size[2]; ++i) y[to + i * p.y[2]] = 0;             \
      else if (p.x[2] == 1 && p.y[2] == 1)                                       \
        for (long i = 0; i < p.size[2]; ++i) y[to + i] = x[from + i];            \
      else                                                                       \
        for (long i = 0; i < p.size[2]; ++i) y[to + i * p.y[2]] = x[from + i * p.x[2]]; \
    }                                                                            \
  } else                                                                         \
    FOR_MY_ELEMENTS(READ_ELEMENT)
#else
#define READ_ALL FOR_MY_ELEMENTS(READ_ELEMENT)
#endif

// ---- writing: y[o, index[o, j, i], i] = x[o, j, i]

// Among several that name one place the last along j is written. Where it can happen, `winner` holds that j + 1, as
// mark_winners leaves it. The kernels write_last need no such memory.
#define WRITE_ELEMENT(o, j, i)                                                    \
  {                                                                               \
    const long given = index[AT(index, o, j, i)];                                 \
    PLACE(place, given)                                                           \
    if (place >= 0 && (!winner_buffer || winner[AT(winner, o, place, i)] == j + 1)) \
      y[AT(y, o, place, i)] = x[AT(x, o, j, i)];                                  \
  }

#if SHAPE_CPU
// Entries of an index that name whole rows are asked once a row.
#define WRITE_ALL                                                                       \
  if (p.index[2] == 0 && p.size[2] > 1 && !winner_buffer) {                             \
    FOR_MY_ROWS(o, j) {                                                                 \
      const long given = index[AT(index, o, j, 0)];                                     \
      PLACE(place, given)                                                               \
      if (place < 0) continue;                                                          \
      const long from = AT(x, o, j, 0), to = AT(y, o, place, 0);                        \
      if (p.x[2] == 1 && p.y[2] == 1)                                                   \
        for (long i = 0; i < p.size[2]; ++i) y[to + i] = x[from + i];                   \
      else if (p.x[2] == 0 && p.y[2] == 1)                                              \
        for (long i = 0; i < p.size[2]; ++i) y[to + i] = x[from];                       \
      else                                                                              \
        for (long i = 0; i < p.size[2]; ++i) y[to + i * p.y[2]] = x[from + i * p.x[2]]; \
    }                                                                                   \
  } else                                                                                \
    FOR_MY_ELEMENTS(WRITE_ELEMENT)
#else
#define WRITE_ALL FOR_MY_ELEMENTS(WRITE_ELEMENT)
#endif

#define MOVES_OF(bits, type)                                                                     \
  __kernel void read_##bits(BUFFER(const type, x), BUFFER(const long, index), BUFFER(type, y),   \
                            const Places given_places, CHECK_ARGS) {                             \
    BIND(const type, x);                                                                         \
    BIND(const long, index);                                                                     \
    BIND(type, y);                                                                               \
    const Places p = given_places;                                                               \
    READ_ALL                                                                                     \
  }                                                                                              \
  __kernel void write_##bits(BUFFER(const type, x), BUFFER(const long, index), BUFFER(type, y),  \
                             BUFFER(const int, winner), const Places given_places, CHECK_ARGS) { \
    BIND(const type, x);                                                                         \
    BIND(const long, index);                                                                     \
    BIND(type, y);                                                                               \
    BIND(const int, winner);                                                                     \
    const Places p = given_places;                                                               \
    WRITE_ALL                                                                                    \
  }

MOVES_OF(8, uchar)
MOVES_OF(16, ushort)
MOVES_OF(32, uint)
MOVES_OF(64, ulong)
MOVES_OF(128, ulong2)

#if SHAPE_CPU
#define WRITE_OWN(o, j, i, place) y[AT(y, o, place, i)] = x[AT(x, o, j, i)];
#define WRITE_LAST_OF(bits, type)                                                                          \
  __kernel void write_last_##bits(BUFFER(const type, x), BUFFER(const long, index), BUFFER(type, y),       \
                                  const Places given_places, CHECK_ARGS) {                                 \
    BIND(const type, x);                                                                                   \
    BIND(const long, index);                                                                               \
    BIND(type, y);                                                                                         \
    const Places p = given_places;                                                                         \
    FOR_MY_PLACES(WRITE_OWN)                                                                               \
  }
WRITE_LAST_OF(8, uchar)
WRITE_LAST_OF(16, ushort)
WRITE_LAST_OF(32, uint)
WRITE_LAST_OF(64, ulong)
WRITE_LAST_OF(128, ulong2)
#else
// A work group takes a line. `winner` has `bound` places in local memory.
#define WRITE_LAST_OF(bits, type)                                                                          \
  __kernel void write_last_##bits(BUFFER(const type, x), BUFFER(const long, index), BUFFER(type, y),       \
                                  const Places given_places, CHECK_ARGS, __local int *winner) {            \
    BIND(const type, x);                                                                                   \
    BIND(const long, index);                                                                               \
    BIND(type, y);                                                                                         \
    const Places p = given_places;                                                                         \
    const int item = get_local_id(0), group = get_local_size(0);                                           \
    const long o = get_group_id(0) / p.size[2], i = get_group_id(0) - o * p.size[2];                       \
    for (long place = item; place < p.bound; place += group) winner[place] = 0;                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
    for (long j = item; j < p.size[1]; j += group) {                                                       \
      const long given = index[AT(index, o, j, i)];                                                        \
      PLACE(place, given)                                                                                  \
      if (place >= 0) atomic_max(&winner[place], (int)(j + 1));                                            \
    }                                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
    for (long place = item; place < p.bound; place += group)                                               \
      if (winner[place] > 0) y[AT(y, o, place, i)] = x[AT(x, o, winner[place] - 1, i)];                    \
  }
WRITE_LAST_OF(8, uchar)
WRITE_LAST_OF(16, ushort)
WRITE_LAST_OF(32, uint)
WRITE_LAST_OF(64, ulong)
WRITE_LAST_OF(128, ulong2)
#endif

#define MARK_ELEMENT(o, j, i)                                                     \
  {                                                                               \
    const long given = index[AT(index, o, j, i)];                                 \
    const long place = p.wraps && given < 0 ? given + p.bound : given;            \
    if (place >= 0 && place < p.bound) atomic_max(&winner[AT(winner, o, place, i)], (int)(j + 1)); \
  }

__kernel void mark_winners(BUFFER(const long, index), BUFFER(int, winner), const Places given_places) {
  BIND(const long, index);
  BIND(int, winner);
  const Places p = given_places;
  FOR_MY_ELEMENTS(MARK_ELEMENT)
}

// ---- several indices as one

// Adds to places[j] what one of several indices contributes: its place times `step`, that of the later dimensions
// together.
__kernel void add_places(BUFFER(const long, index), BUFFER(long, places), const long count, const long bound,
                         const long step, const int first, CHECK_ARGS) {
  BIND(const long, index);
  BIND(long, places);
  FOR_MY(j, count) {
    const long given = index[j];
    long place = given < 0 ? given + bound : given;
    if (place < 0 || place >= bound) {
      FAIL(given);
      place = 0;
    }
    places[j] = place * step + (first ? 0 : places[j]);
  }
}

// The place that each element of an index names in a contiguous tensor, or `none` where it names none or `left_out`.
__kernel void keys_of_places(BUFFER(const long, index), BUFFER(int, keys), const Places given_places, const int none,
                             const long left_out, CHECK_ARGS) {
  BIND(const long, index);
  BIND(int, keys);
  const Places p = given_places;
#define KEY_ELEMENT(o, j, i)                                                                          \
  {                                                                                                   \
    const long given = index[AT(index, o, j, i)];                                                     \
    PLACE(place, given)                                                                               \
    keys[AT(x, o, j, i)] = place < 0 || place == left_out ? none : (int)AT(y, o, place, i);           \
  }
  FOR_MY_ELEMENTS(KEY_ELEMENT)
}

// ---- triangles

// y = x [matrices, rows, columns] with zeros above the diagonal (lower) or below it.
#define TRIANGLE_OF(bits, type)                                                                                       \
  __kernel void triangle_##bits(BUFFER(const type, x), BUFFER(type, y), const long all_rows, const long rows,         \
                                const long columns, const long diagonal, const int lower) {                           \
    BIND(const type, x);                                                                                              \
    BIND(type, y);                                                                                                    \
    const type zero = 0;                                                                                               \
    TRIANGLE_ROWS                                                                                                     \
  }

#define KEEPS(row, column) (lower ? (column) - (row) <= diagonal : (column) - (row) >= diagonal)
#if SHAPE_CPU
#define TRIANGLE_ROWS                                                                     \
  FOR_MY(line, all_rows) {                                                                \
    const long row = line % rows, start = line * columns;                                 \
    for (long c = 0; c < columns; ++c) y[start + c] = KEEPS(row, c) ? x[start + c] : zero;\
  }
#else
#define TRIANGLE_ROWS                                                                     \
  FOR_MY(e, all_rows * columns) {                                                         \
    const long line = e / columns, c = e - line * columns;                                \
    y[e] = KEEPS(line % rows, c) ? x[e] : zero;                                           \
  }
#endif

TRIANGLE_OF(8, uchar)
TRIANGLE_OF(16, ushort)
TRIANGLE_OF(32, uint)
TRIANGLE_OF(64, ulong)
TRIANGLE_OF(128, ulong2)
