// Adding rows of a source to the places that sorted keys name, or reducing them in another way. Positions with one key
// stand together; they are cut in chunks of SUM_CHUNK, and the parts that a chunk has of keys that go on beyond it are
// joined afterwards. The order of the additions follows from the keys alone, so that every device and every run adds
// alike.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines), IS_FLOATING; JOIN_BY: SUM, PRODUCT, LARGEST or LEAST.
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

#if IS_FLOATING
#define IS_NAN(x) isnan(x)
#else
#define IS_NAN(x) 0
#endif
#define JOIN_SUM(a, b) ((a) + (b))
#define JOIN_PRODUCT(a, b) ((a) * (b))
#define JOIN_LARGEST(a, b) ((IS_NAN(a) | ((a) >= (b))) ? (a) : (b))
#define JOIN_LEAST(a, b) ((IS_NAN(a) | ((a) <= (b))) ? (a) : (b))
#define JOINED JOIN(JOIN_, JOIN_BY)
// A target is joined with a sum multiplied by `alpha`, and with other results as they are.
#define SCALED_SUM(value) (alpha * (REAL)(value))
#define SCALED_PRODUCT(value) ((REAL)(value))
#define SCALED_LARGEST(value) ((REAL)(value))
#define SCALED_LEAST(value) ((REAL)(value))
#define SCALED JOIN(SCALED_, JOIN_BY)

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

// Joins source rows order[first] … order[end - 1], at least one of them and at most SUM_CHUNK.
inline void sum_rows(REAL *sum, const __global STORAGE *source, const __global int *order, const KeySums *s, part_t at,
                     long first, long end) {
  const __global STORAGE *columns = source + at.o * s->source[0] + at.i * s->source[2];
  for (int c = 0; c < at.width; ++c) sum[c] = (REAL)LOAD(columns + order[first] * s->source[1], c * s->source[2]);
  for (long position = first + 1; position < end; ++position) {
    const __global STORAGE *row = columns + order[position] * s->source[1];
    if (s->source[2] == 1)
      for (int c = 0; c < at.width; ++c) sum[c] = JOINED(sum[c], (REAL)LOAD(row, c));
    else
      for (int c = 0; c < at.width; ++c) sum[c] = JOINED(sum[c], (REAL)LOAD(row, c * s->source[2]));
  }
}

#define ADD_TO(place, value) STORE(target, place, JOINED(LOAD(target, place), SCALED(value)))
#define ADD_TO_TARGET(column, value)                                                                           \
  {                                                                                                            \
    const long place = at.o * s.target[0] + (long)key * s.target[1] + (at.i + (column)) * s.target[2];         \
    ADD_TO(place, value);                                                                                      \
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
      for (int c = 0; c < at.width; ++c) sum[c] = came_in[block * columns + column + c];
      for (long chunk = block + 1; chunk <= min(last, block + SUM_CHUNK - 1); ++chunk)
        for (int c = 0; c < at.width; ++c) sum[c] = JOINED(sum[c], (total_t)came_in[chunk * columns + column + c]);
      for (int c = 0; c < at.width; ++c) total[c] = JOINED(total[c], sum[c]);
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
    ADD_TO(at, LOAD(source, AT(x, o, j, i)));                                                    \
  }
  FOR_MY_PLACES(ADD_OWN)
}
#else
// The marks of elements in a turn: the first along j has the highest.
#define MARK(turn, j) ((turn) * LINE_ELEMENTS + LINE_ELEMENTS - 1 - (j))

// Each work item has at most LINE_STRETCH elements of a line. A work group takes a line, and joins in local memory
// what each place gets: in each turn, for every place, the first of the elements that are left. `marks` are 0 before,
// [bound] as `sums`.
__kernel void add_lines(BUFFER(const STORAGE, source), BUFFER(const long, index), BUFFER(STORAGE, target),
                        const Places given_places, const long left_out, const REAL alpha, CHECK_ARGS,
                        __local total_t *sums, __local int *marks) {
  BIND(const STORAGE, source);
  BIND(const long, index);
  BIND(STORAGE, target);
  const Places p = given_places;
  __local int last_turn;  // after which elements were left
  const int item = get_local_id(0), group = get_local_size(0);
  const long o = get_group_id(0) / p.size[2], i = get_group_id(0) - o * p.size[2];
  int own[LINE_STRETCH];  // places of the elements that are left
  for (long place = item; place < p.bound; place += group) marks[place] = 0;
  if (item == 0) last_turn = 0;
  for (int k = 0; k < LINE_STRETCH; ++k) {
    const int j = k * group + item;
    own[k] = -1;
    if (j < p.size[1]) {
      const long given = index[AT(index, o, j, i)];
      PLACE(place, given)
      if (place != left_out) own[k] = (int)place;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int turn = 1;; ++turn) {
    for (int k = 0; k < LINE_STRETCH; ++k)
      if (own[k] >= 0) atomic_max(&marks[own[k]], MARK(turn, k * group + item));
    barrier(CLK_LOCAL_MEM_FENCE);
    int are_left = 0;
    for (int k = 0; k < LINE_STRETCH; ++k) {
      const int place = own[k], j = k * group + item;
      if (place < 0) continue;
      if (marks[place] == MARK(turn, j)) {
        const total_t value = LOAD(source, AT(x, o, j, i));
        sums[place] = turn == 1 ? value : JOINED(sums[place], value);
        own[k] = -1;
      } else {
        are_left = 1;
      }
    }
    if (are_left) atomic_max(&last_turn, turn);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last_turn < turn) break;
  }
  for (long place = item; place < p.bound; place += group)
    if (marks[place] > 0) ADD_TO(AT(y, o, place, i), sums[place]);
}
#endif
