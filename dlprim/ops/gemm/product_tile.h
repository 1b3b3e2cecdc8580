#pragma once

#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "dlprim/core/dtype.h"
#include "dlprim/core/precision.h"
#include "dlprim/runtime/device_info.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/program.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Rows, columns, depth and number of products, of matrices with their sizes known. */
struct ProductSize {
  std::int64_t rows, columns, depth, batches;
};

/** With three TF32 products each, a sum's error is that of a plain sum of 32 terms, for fewer up to 2.3
 * times as large (emulated: 1.5 to 1.65 for 4 to 32 normal numbers, where plain float32 has 0.66 to 1.7). */
constexpr std::int64_t fewest_terms_of_three_products = 32;

/** Elements of an operand, or words, that an item may bring at once (LEFT_WIDTH, RIGHT_WIDTH of product.cl).
 */
constexpr int vector_width = 4;

/** The engine that multiplies: plain OpenCL C, tensor cores by warps (NVIDIA, compute capability 8.0 and up)
 * or by groups of four warps (9.0). */
enum class ProductEngine { registers, warps, warp_groups };

/** The macros that make words of panels (product_copies.cl) from elements of one dtype: of one number, or of
 * two if `numbers` is a dtype of 16 bits. */
Defines word_defines(DType dtype, DType numbers);

/**
 * One way to run the products of dlprim/ops/gemm/product.cl: what a work group makes, and how. The host reads
 * it to lay out a launch, kernels get it as macros.
 */
struct ProductTile {
  const char* name;                 // of the implementations that use it
  int rows, columns, depth, items;  // of a work group; depth: in words
  ProductEngine engine;
  int part_rows, part_columns;  // results of an item in registers, of a warp of 32 or a group of 128 items
  int tf32_products;            // that make one product on tensor cores; 0: not there
  int stages;                   // pairs of panels in local memory, of what is not converted on its way
  int resident;                 // work groups that a compute unit holds at once, and
  double speed;                 // of one that holds them, to the first tile's: of matrix products,
  double speed_gathering;       // of convolutions and their gradients by the input, and
  double speed_by_weight;       // by the weight; measured on an H100 (this one since scaled by an H200's)
  double speed_of_rounded = 0;  // of operands that are rounded as they are brought, or before; 0: not there
  int numbers_in_word = 1;      // of 32 bits of a panel: two of 16 bits, which are brought so alone

  /** Elements of the depth of a panel. */
  int depth_elements() const { return depth * numbers_in_word; }
  /** Elements that 16 bytes of a panel hold. */
  int elements_of_vector() const { return vector_width * numbers_in_word; }
  /** The dtype that tensor cores multiply: float32 stands for TF32. */
  DType panel_dtype(DType dtype) const;

  /** Whether the device can, and the numbers are as precise as asked for. */
  bool can_take(const DeviceInfo& device, DType dtype, MatmulPrecision precision) const;
  /** See Implementation::expected_cost. At one of the speeds above. */
  double cost(const DeviceInfo& device, const ProductSize& size, double at_speed) const;
  double cost(const DeviceInfo& device, const ProductSize& size) const { return cost(device, size, speed); }
  /** The macros that make words of panels from elements of that dtype. */
  Defines word_defines(DType dtype) const { return dlprim::word_defines(dtype, panel_dtype(dtype)); }
  /** A part of its speeds: of elements that are converted on their way to a panel. */
  double ease_of_bringing(DType dtype) const;
  /** The macros of a kernel of that depth. */
  Defines defines(DType dtype, std::int64_t depth) const;
  /** The same, with sums made of chains of so many steps of the depth, a multiple of the tile's (accuracy);
   * 0: of one. Sums on tensor cores are made of shorter ones in any case. */
  Defines defines_in_chains(DType dtype, int chain) const;
  Range range(const ProductSize& size) const;
  /** Numbers that stand for an element of a packed left operand. */
  int packed_parts() const;
  /** Work groups of one product without its depth split. */
  std::int64_t groups(const ProductSize& size) const;
};

/** In multiply-adds of the first tile that take as long: one more small launch. */
constexpr double cost_per_launch = 6e7;

/** How the depth of products is split among work groups, whose sums are joined afterwards. */
struct DepthSplit {
  std::int64_t parts, depth;  // of a part; the last may have less
  double cost;                // with the joining

  ProductSize of(const ProductSize& whole) const {
    return {whole.rows, whole.columns, depth, whole.batches * parts};
  }
};

/** So that the device is full, some rounds of it: where one round is not, the more there are, the less is
 * left empty in the last. Parts are deep enough that joining them stays cheap; all but the last are multiples
 * of `step`, itself one of the tile's depth. */
DepthSplit split_depth(const ProductTile& tile, const DeviceInfo& device, const ProductSize& size,
                       double at_speed, std::int64_t step);

/** vector_width where `distances`, the length of what lies side by side and those between such lines, are
 * multiples, else 1. */
int piece_width(const Tensor& operand, std::initializer_list<std::int64_t> distances);

/** Large tiles are the fastest where there are enough of them, and lines enough to fill them. Those of warps
 * declare no more than 48 KiB of local memory, which is all that NVIDIA's driver grants before Hopper. */
inline constexpr ProductTile product_tiles[] = {
    {"simt_128x64", 128, 64, 16, 128, ProductEngine::registers, 8, 8, 0, 2, 3, 1.0, 1.0, 0.8},
    {"simt_64x128", 64, 128, 16, 128, ProductEngine::registers, 8, 8, 0, 2, 3, 1.0, 1.0, 0.8},
    {"simt_64x64", 64, 64, 8, 64, ProductEngine::registers, 8, 8, 0, 2, 8, 0.85, 0.85, 0.67},
    {"tensor_tf32_128x128", 128, 128, 16, 128, ProductEngine::warps, 64, 64, 1, 2, 2, 3.1, 3.1, 2.6, 3.3},
    {"tensor_tf32_64x128", 64, 128, 16, 128, ProductEngine::warps, 32, 64, 1, 3, 3, 2.2, 2.2, 2.1},
    {"tensor_half_128x128", 128, 128, 16, 128, ProductEngine::warps, 64, 64, 1, 2, 2, 0, 0, 0, 2.8, 2},
    {"tensor_half_64x128", 64, 128, 16, 128, ProductEngine::warps, 32, 64, 1, 3, 3, 0, 0, 0, 2.3, 2},
    {"tensor_tf32x3_64x64", 64, 64, 16, 128, ProductEngine::warps, 32, 32, 3, 2, 4, 1.1, 1.1, 0.9},
    {"warpgroup_tf32_128x128", 128, 128, 16, 256, ProductEngine::warp_groups, 128, 64, 1, 4, 2, 4.4, 3.75,
     2.7, 5.2},
    {"warpgroup_tf32_128x128x32", 128, 128, 32, 256, ProductEngine::warp_groups, 128, 64, 1, 3, 2, 4.9, 3.6,
     1.75, 6.5},
    {"warpgroup_tf32_64x256", 64, 256, 16, 256, ProductEngine::warp_groups, 64, 128, 1, 3, 2, 4.0, 2.4, 1.4,
     3.7},
    {"warpgroup_tf32_64x128", 64, 128, 16, 256, ProductEngine::warp_groups, 64, 64, 1, 4, 3, 2.8, 2.5, 2.1,
     3.5},
    {"warpgroup_tf32x3_64x128", 64, 128, 16, 256, ProductEngine::warp_groups, 64, 64, 3, 3, 2, 1.75, 1.25,
     1.15},
    {"warpgroup_half_128x128x64", 128, 128, 32, 256, ProductEngine::warp_groups, 128, 64, 1, 3, 2, 0, 0, 0,
     6.5, 2},
};
constexpr std::size_t product_tile_count = std::size(product_tiles);

/** The name of an implementation that does something else around a tile's products: the tile's, behind a
 * prefix. */
template <const char* prefix, std::size_t tile>
const char* name_with() {
  static const std::string& name = *new std::string(std::string(prefix) + product_tiles[tile].name);
  return name.c_str();
}

// Which tiles have an implementation.
constexpr bool takes_as_it_lies(const ProductTile& tile) {
  return tile.speed > 0;
}
constexpr bool takes_rounded(const ProductTile& tile) {
  return tile.speed_of_rounded > 0;
}
/** Hopper's engine that copies boxes brings what warp groups multiply. */
constexpr bool takes_maps(const ProductTile& tile) {
  return takes_rounded(tile) && tile.engine == ProductEngine::warp_groups;
}
constexpr bool takes_maps_of_halves(const ProductTile& tile) {
  return takes_maps(tile) && tile.numbers_in_word > 1;
}
/** Where TF32 numbers lie they are not rounded, and warps do not: to round them before costs what it gains.
 */
constexpr bool takes_words_by_warps(const ProductTile& tile) {
  return takes_rounded(tile) && tile.engine == ProductEngine::warps && tile.numbers_in_word > 1;
}

/** Use<tile>, which has the four members of an Implementation for product_tiles[tile], for each that is
 * `wanted`. */
template <class Problem, template <std::size_t> class Use, std::size_t... tiles>
std::vector<Implementation<Problem>> implementations_of_tiles(bool (*wanted)(const ProductTile&),
                                                              std::index_sequence<tiles...>) {
  std::vector<Implementation<Problem>> list;
  ((wanted(product_tiles[tiles]) ? list.push_back({Use<tiles>::name(), Use<tiles>::can_take,
                                                   Use<tiles>::expected_cost, Use<tiles>::run})
                                 : void()),
   ...);
  return list;
}
template <class Problem, template <std::size_t> class Use>
std::vector<Implementation<Problem>> implementations_of_tiles(bool (*wanted)(const ProductTile&)) {
  return implementations_of_tiles<Problem, Use>(wanted, std::make_index_sequence<product_tile_count>());
}

}  // namespace dlprim
