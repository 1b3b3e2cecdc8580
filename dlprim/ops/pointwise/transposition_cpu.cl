// A Transposition on a CPU: a work item takes blocks, tile by tile in registers, so that each line of the caches is
// read or written once: where lines are a power of two apart, few stay in the nearest cache. ELEMENT: an unsigned type
// of the elements' size.
#include "ops/pointwise/transposition.cl"

// A tile's edge, so that its lines fill registers and no more.
#if ELEMENT_BYTES == 8
#define TILE 8
#define LOWER_HALVES(a, b) (VECTOR)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3)
#define UPPER_HALVES(a, b) (VECTOR)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#else
#define TILE 16
#define LOWER_HALVES(a, b) \
  (VECTOR)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define UPPER_HALVES(a, b) \
  (VECTOR)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)
#endif
#define VECTOR JOIN(ELEMENT, TILE)
typedef VECTOR UnalignedVector
    __attribute__((aligned(ELEMENT_BYTES)));  // stored at once, where vstore takes three stores
#define UNROLL _Pragma("unroll")

// Rounds, each of which puts rows together that are half a tile apart, element by element.
inline void transpose_tile(VECTOR *rows) {
  UNROLL for (int distance = 1; distance < TILE; distance *= 2) {
    VECTOR next[TILE];
    UNROLL for (int i = 0; i < TILE / 2; ++i) {
      const VECTOR a = rows[i], b = rows[i + TILE / 2];
      next[2 * i] = LOWER_HALVES(a, b);
      next[2 * i + 1] = UPPER_HALVES(a, b);
    }
    UNROLL for (int i = 0; i < TILE; ++i) rows[i] = next[i];
  }
}

__kernel void transposed_copy(BUFFER(const ELEMENT, source), BUFFER(ELEMENT, destination), const Transposition t) {
  const long end = (long)t.blocks * (get_global_id(0) + 1) / get_global_size(0);
  for (long number = (long)t.blocks * get_global_id(0) / get_global_size(0); number < end; ++number) {
    const block_t block = block_of(t, (int)number, TRANSPOSED_CPU_BLOCK);
    __global const ELEMENT *from = source_buffer + source_start + block.source;
    __global ELEMENT *to = destination_buffer + destination_start + block.destination;
    const int left_along = t.along - block.along, left_across = t.across - block.across;
    const int along = left_along < 2 * TRANSPOSED_CPU_BLOCK ? left_along : TRANSPOSED_CPU_BLOCK;
    const int across = left_across < 2 * TRANSPOSED_CPU_BLOCK ? left_across : TRANSPOSED_CPU_BLOCK;
    // The last tiles end with their block, and copy some elements again.
    for (int y = 0; y < along; y += TILE) {
      const int first_along = min(y, along - TILE);
      for (int x = 0; x < across; x += TILE) {
        const int first_across = min(x, across - TILE);
        __global const ELEMENT *lines = from + first_along * t.source_stride + first_across;
        __global ELEMENT *results = to + first_across * t.destination_stride + first_along;
        VECTOR rows[TILE];
        UNROLL for (int i = 0; i < TILE; ++i) rows[i] =
            *(__global const UnalignedVector *)(lines + i * t.source_stride);
        transpose_tile(rows);
        UNROLL for (int i = 0; i < TILE; ++i) * (__global UnalignedVector *)(results + i * t.destination_stride) =
            rows[i];
      }
    }
  }
}
