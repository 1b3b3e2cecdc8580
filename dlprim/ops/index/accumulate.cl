// Adding rows of a source to the places that sorted keys name. Positions with one key stand together; they are cut in
// chunks of SUM_CHUNK, and the parts that a chunk has of keys that go on beyond it are joined afterwards. The order of
// the additions follows from the keys alone, so that every device and every run adds alike.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines), IS_FLOATING.
#include "core/common.cl"
#include "ops/index/index_shared.h"
#include "ops/index/lines.cl"
#include "ops/index/place.cl"
#include "ops/sort/work.cl"

// Columns that a work item adds side by side.
#if SHAPE_CPU
#define SUM_COLUMNS CPU_SUM_COLUMNS
#else
#define SUM_COLUMNS 1
#endif

#if IS_FLOATING && HAS_FP64
typedef double total_t;
#else
typedef REAL total_t;
#endif

// The columns of one part of the work: `width` neighbours from (o, i) on.
typedef struct {
  long chunk, o, i;
  int width;
} part_t;

#define TILES(s) (((s).inner + SUM_COLUMNS - 1) / SUM_COLUMNS)
#define CHUNKS(s) (((s).positions + SUM_CHUNK - 1) / SUM_CHUNK)

inline part_t part_of(long part, const KeySums *s) {
  const long tiles = TILES(*s), rows = s->outer * tiles;
  part_t result;
  result.chunk = part / rows;
  const long tile = part - result.chunk * rows;
  result.o = tile / tiles;
  result.i = (tile - result.o * tiles) * SUM_COLUMNS;
  result.width = min((long)SUM_COLUMNS, s->inner - result.i);
  return result;
}

// Sums of source rows order[first] … order[end - 1], at most SUM_CHUNK of them.
inline void sum_rows(REAL *sum, const __global STORAGE *source, const __global int *order, const KeySums *s, part_t at,
                     long first, long end) {
  for (int c = 0; c < SUM_COLUMNS; ++c) sum[c] = 0;
  const __global STORAGE *columns = source + at.o * s->source[0] + at.i * s->source[2];
  for (long position = first; position < end; ++position) {
    const __global STORAGE *row = columns + order[position] * s->source[1];
    if (s->source[2] == 1)
      for (int c = 0; c < at.width; ++c) sum[c] += (REAL)LOAD(row, c);
    else
      for (int c = 0; c < at.width; ++c) sum[c] += (REAL)LOAD(row, c * s->source[2]);
  }
}

#define ADD_TO_TARGET(column, value)                                                                           \
  {                                                                                                            \
    const long place = at.o * s.target[0] + (long)key * s.target[1] + (at.i + (column)) * s.target[2];         \
    STORE(target, place, LOAD(target, place) + alpha * (REAL)(value));                                         \
  }

// Keys whose positions all lie in the chunk are added to the target. A chunk's sum for a key that began before it
// goes to came_in [chunks, outer, inner], for one that goes on after it to goes_on.
__kernel void add_chunks(BUFFER(const STORAGE, source), BUFFER(const int, keys), BUFFER(const int, order),
                         BUFFER(STORAGE, target), BUFFER(REAL, came_in), BUFFER(REAL, goes_on),
                         const KeySums given_sums, const REAL alpha) {
  BIND(const STORAGE, source);
  BIND(const int, keys);
  BIND(const int, order);
  BIND(STORAGE, target);
  BIND(REAL, came_in);
  BIND(REAL, goes_on);
  const KeySums s = given_sums;
  FOR_MY(part, CHUNKS(s) * s.outer * TILES(s)) {
    const part_t at = part_of(part, &s);
    const long first = at.chunk * SUM_CHUNK, end = min(first + SUM_CHUNK, s.positions);
    const long column = (at.chunk * s.outer + at.o) * s.inner + at.i;
    for (long p = first, next; p < end; p = next) {
      const int key = keys[p];
      next = p + 1;
      while (next < end && keys[next] == key) ++next;
      if (key == s.none) break;
      REAL sum[SUM_COLUMNS];
      sum_rows(sum, source, order, &s, at, p, next);
      const int began_before = p > 0 && keys[p - 1] == key;
      const int continues = next < s.positions && keys[next] == key;
      if (began_before) {
        for (int c = 0; c < at.width; ++c) came_in[column + c] = sum[c];
      } else if (continues) {
        for (int c = 0; c < at.width; ++c) goes_on[column + c] = sum[c];
      } else {
        for (int c = 0; c < at.width; ++c) ADD_TO_TARGET(c, sum[c])
      }
    }
  }
}

// Adds up the keys that stretch over several chunks; the chunk where a key begins does it.
__kernel void join_chunks(BUFFER(const int, keys), BUFFER(STORAGE, target), BUFFER(const REAL, came_in),
                          BUFFER(const REAL, goes_on), const KeySums given_sums, const REAL alpha) {
  BIND(const int, keys);
  BIND(STORAGE, target);
  BIND(const REAL, came_in);
  BIND(const REAL, goes_on);
  const KeySums s = given_sums;
  const long columns = s.outer * s.inner, chunks = CHUNKS(s);
  FOR_MY(part, chunks * s.outer * TILES(s)) {
    const part_t at = part_of(part, &s);
    const long first = at.chunk * SUM_CHUNK, end = min(first + SUM_CHUNK, s.positions);
    const int key = keys[end - 1];
    const int began_before = first > 0 && keys[first - 1] == key;
    if (key == s.none || began_before || end == s.positions || keys[end] != key) continue;
    const long column = at.o * s.inner + at.i;
    total_t total[SUM_COLUMNS];
    for (int c = 0; c < at.width; ++c) total[c] = goes_on[at.chunk * columns + column + c];
    // The chunks that the key goes on in, summed in blocks.
    long last = at.chunk + 1;
    while (last + 1 < chunks && keys[(last + 1) * SUM_CHUNK] == key) ++last;
    for (long block = at.chunk + 1; block <= last; block += SUM_CHUNK) {
      total_t sum[SUM_COLUMNS];
      for (int c = 0; c < SUM_COLUMNS; ++c) sum[c] = 0;
      for (long chunk = block; chunk <= min(last, block + SUM_CHUNK - 1); ++chunk)
        for (int c = 0; c < at.width; ++c) sum[c] += came_in[chunk * columns + column + c];
      for (int c = 0; c < at.width; ++c) total[c] += sum[c];
    }
    for (int c = 0; c < at.width; ++c) ADD_TO_TARGET(c, total[c])
  }
}

#if SHAPE_CPU
// target[o, index[o, j, i], i] += alpha * source[o, j, i], but for the place `left_out`.
__kernel void add_lines(BUFFER(const STORAGE, source), BUFFER(const long, index), BUFFER(STORAGE, target),
                        const Places given_places, const long left_out, const REAL alpha, CHECK_ARGS) {
  BIND(const STORAGE, source);
  BIND(const long, index);
  BIND(STORAGE, target);
  const Places p = given_places;
#define ADD_OWN(o, j, i, place)                                                                  \
  if (place != left_out) {                                                                       \
    const long at = AT(y, o, place, i);                                                          \
    STORE(target, at, LOAD(target, at) + alpha * (REAL)LOAD(source, AT(x, o, j, i)));            \
  }
  FOR_MY_PLACES(ADD_OWN)
}
#endif
