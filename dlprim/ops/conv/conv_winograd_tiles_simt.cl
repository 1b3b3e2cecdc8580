// Where the tiles of Winograd's convolutions on GPUs lie.
#include "core/common.cl"
#include "ops/conv/conv_shared.h"
#include "ops/gemm/remainder.cl"

// An image, and the first result of a tile in its planes.
typedef struct {
  int image, h, w;
} Tile;

// The place of a tile among tiles of tile_results by tile_results.
inline Tile tile_at(const ConvWinograd s, const int tile, const int tile_results) {
  const int of_image = s.tiles_h * s.tiles_w, place = REMAINDER(tile, of_image);
  const Tile t = {tile / of_image, place / s.tiles_w * tile_results, REMAINDER(place, s.tiles_w) * tile_results};
  return t;
}
