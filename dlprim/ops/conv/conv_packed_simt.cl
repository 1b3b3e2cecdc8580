// How the packed filters of a convolution lie that is a product (conv_gather_simt.cl): as its left operand,
// packed[group][block of rows][step][tap][panel], with FLAT one tap; 0 where it is padded. Panels lie as they are
// brought: neighbouring vectors one after the other, by warps of words that are rounded along the depth.
#include "ops/conv/conv_shared.h"
#if defined(BOTH_ARE_ROUNDED) && !WARP_GROUPS
#define LEFT_BY_DEPTH 1
#else
#define LEFT_BY_DEPTH 0
#endif
#ifndef RIGHT_BY_DEPTH
#define RIGHT_BY_DEPTH 0
#endif
#define LEFT_BY_VECTORS 1
#include "ops/gemm/product.cl"

#define PANEL_ELEMENTS (TILE_ROWS * TILE_DEPTH)
#if WARP_GROUPS
#define PACKED_ROW(at) ((at) / TILE_DEPTH)
#define PACKED_DEPTH(at) (SWAPPED(PACKED_ROW(at), (at) % TILE_DEPTH / 4) * 4 + (at) % 4)
#else
#define PACKED_ROW(at) (LEFT_BY_DEPTH ? (at) / TILE_DEPTH : (at) % TILE_ROWS)
#define PACKED_DEPTH(at) (LEFT_BY_DEPTH ? (at) % TILE_DEPTH : (at) / TILE_ROWS)
inline void place_packed(__global REAL *panel, const int place, const REAL *numbers) {
#if BOTH_ARE_ROUNDED
  panel[place] = word_of(numbers);
#else
  panel[place] = *numbers;
#endif
}
#endif
