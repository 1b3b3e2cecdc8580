// A result as rows of columns. Shape cpu: a work item takes a stretch of whole rows. Shape simt: it takes one element
// (more where there are more rows than a launch may have). Needs core/common.cl.
#if SHAPE_CPU
#define FOR_ROWS(row, rows)                                                                \
  for (long row = (rows) * (long)get_global_id(1) / (long)get_global_size(1),              \
            row##_end = (rows) * ((long)get_global_id(1) + 1) / (long)get_global_size(1);  \
       row < row##_end; ++row)
#define FOR_COLUMNS(column, columns) for (int column = 0; column < (columns); ++column)
#else
#define FOR_ROWS(row, rows) for (long row = get_global_id(1); row < (rows); row += get_global_size(1))
#define FOR_COLUMNS(column, columns) \
  for (int column = get_global_id(0); column < (columns); column += get_global_size(0))
#endif

// Which row of a plane of `depth` by `height` rows.
typedef struct {
  long plane;
  int d, h;
} row_t;

// In 32 bits where they do: a GPU divides those much faster.
inline long quotient_of_rows(long n, int d) { return n <= INT_MAX ? (int)((uint)n / (uint)d) : n / d; }

inline row_t row_of(long row, int depth, int height) {
  row_t r;
  const long slice = quotient_of_rows(row, height);
  r.h = (int)(row - slice * height);
  r.plane = quotient_of_rows(slice, depth);
  r.d = (int)(slice - r.plane * depth);
  return r;
}
