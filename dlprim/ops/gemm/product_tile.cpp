#include "dlprim/ops/gemm/product_tile.h"

#include <algorithm>
#include <cmath>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr int first_with_tf32 = 80;  // compute capability 8.0
constexpr int with_warp_groups = 90;

bool is_precise_enough(const ProductTile& tile, DType dtype, MatmulPrecision precision) {
  // TF32 holds float16 and bfloat16.
  if (tile.tf32_products != 1 || dtype != DType::float32) return true;
  return tile.numbers_in_word > 1 ? precision == MatmulPrecision::medium
                                  : precision != MatmulPrecision::highest;
}

/** Pairs of panels in local memory: more than two serve copies that go on by themselves (product_copies.cl).
 */
int stages_of(const ProductTile& tile, DType dtype) {
  return tile.numbers_in_word > 1 || is_compute_dtype(dtype) ? tile.stages : 2;
}

/** Bytes of local memory, at least, with the padding of the engine's panels. */
std::uint64_t panel_bytes(const ProductTile& tile, DType dtype) {
  const bool is_padded = tile.engine != ProductEngine::warp_groups;
  const int depth = tile.depth + (is_padded && tile.tf32_products > 0 ? 4 : 0),
            line_padding = is_padded ? 4 : 0;
  const int lines = tile.packed_parts() * tile.rows + tile.columns + 2 * line_padding;
  return static_cast<std::uint64_t>(stages_of(tile, dtype) * depth * lines) * size_of(compute_dtype(dtype));
}

}  // namespace

bool ProductTile::can_take(const DeviceInfo& device, DType dtype, MatmulPrecision precision) const {
  if (device.runs_cpu_kernels() || !is_floating(dtype) || device.max_work_group < items ||
      panel_bytes(*this, dtype) > device.usable_local_memory())
    return false;
  switch (engine) {
    case ProductEngine::registers:
      return true;
    case ProductEngine::warps:
      return device.compute_capability >= first_with_tf32 && dtype != DType::float64 &&
             is_precise_enough(*this, dtype, precision);
    case ProductEngine::warp_groups:
      // Instructions of that architecture alone, on panels of words.
      return device.compute_capability == with_warp_groups &&
             (dtype == DType::float32 || (numbers_in_word > 1 && dtype != DType::float64)) &&
             is_precise_enough(*this, dtype, precision);
  }
  return false;
}

double ProductTile::ease_of_bringing(DType dtype) const {
  constexpr double converted = 0.95, not_by_copies = 0.65;  // measured on an H100
  if (is_compute_dtype(dtype)) return 1;
  return engine == ProductEngine::registers ? converted : not_by_copies;
}

int ProductTile::packed_parts() const {
  return engine == ProductEngine::warp_groups && tf32_products > 1 ? 2 : 1;
}

std::int64_t ProductTile::groups(const ProductSize& size) const {
  return ceil_div(size.rows, rows) * ceil_div(size.columns, columns) * size.batches;
}

int piece_width(const Tensor& operand, std::initializer_list<std::int64_t> distances) {
  const bool in_vectors = operand.dtype != DType::float64 && is_aligned_to(vector_width, operand) &&
                          std::all_of(distances.begin(), distances.end(),
                                      [](std::int64_t distance) { return distance % vector_width == 0; });
  return in_vectors ? vector_width : 1;
}

double ProductTile::cost(const DeviceInfo& device, const ProductSize& size, double at_speed) const {
  // The unit that has the most groups decides. With fewer than it holds, as in the last of its rounds, it
  // waits more, but not in proportion.
  const std::int64_t busiest = ceil_div(groups(size), device.compute_units), last = busiest % resident;
  const double rounds = static_cast<double>(busiest - last) + std::sqrt(static_cast<double>(last * resident));
  return rounds * device.compute_units * rows * columns * static_cast<double>(size.depth) / at_speed;
}

DepthSplit split_depth(const ProductTile& tile, const DeviceInfo& device, const ProductSize& size,
                       double at_speed, std::int64_t step) {
  constexpr std::int64_t least = 256, most_rounds = 4;
  constexpr double per_partial = 48;  // multiply-adds that writing and reading one takes as long as
  constexpr double ends = 128;        // of a part, which take as long as so much of its depth
  const std::int64_t room = std::int64_t{device.compute_units} * tile.resident;
  const std::int64_t groups = std::max<std::int64_t>(tile.groups(size), 1);
  DepthSplit best = {1, size.depth, tile.cost(device, size, at_speed)};
  if (groups >= 2 * room || size.depth < 2 * least) return best;
  const auto partials = static_cast<double>(size.rows * size.columns * size.batches);
  for (std::int64_t rounds = 1; rounds <= most_rounds; ++rounds) {
    const std::int64_t parts = std::clamp<std::int64_t>(rounds * room / groups, 1, size.depth / least);
    DepthSplit split;
    split.depth = round_up(ceil_div(size.depth, parts), step);
    split.parts = ceil_div(size.depth, split.depth);
    if (split.parts == 1) continue;
    const double with_ends =
        1 + ends / static_cast<double>(split.depth) - ends / static_cast<double>(size.depth);
    split.cost = tile.cost(device, split.of(size), at_speed) * with_ends +
                 per_partial * partials * static_cast<double>(split.parts);
    if (split.cost < best.cost) best = split;
  }
  return best;
}

DType ProductTile::panel_dtype(DType dtype) const {
  if (numbers_in_word == 1) return DType::float32;
  return dtype == DType::float16 ? DType::float16 : DType::bfloat16;
}

Defines word_defines(DType dtype, DType numbers) {
  const bool are_halves = size_of(numbers) == 2;
  Defines defines = dtype_defines(dtype);
  defines.set("NUMBERS_IN_WORD", are_halves ? 2 : 1);
  if (are_halves) defines.set("NUMBERS", numbers == DType::float16 ? "f16" : "bf16");
  return defines;
}

Defines ProductTile::defines(DType dtype, std::int64_t product_depth) const {
  constexpr int chain = 512;
  return defines_in_chains(dtype, product_depth > 2 * chain ? chain : 0);
}

Defines ProductTile::defines_in_chains(DType dtype, int chain) const {
  Defines defines = word_defines(dtype);
  defines.set("WARP_GROUPS", engine == ProductEngine::warp_groups ? 1 : 0);
  defines.set("TF32_PRODUCTS", tf32_products).set("TILE_ROWS", rows).set("TILE_COLUMNS", columns);
  defines.set("TILE_DEPTH", depth).set("TILE_ITEMS", items);
  defines.set("TILE_STAGES", stages_of(*this, dtype)).set("TILE_STAGES_AHEAD", stages_of(*this, dtype) - 2);
  defines.set("STORAGE_IS_REAL", is_compute_dtype(dtype) ? 1 : 0);
  if (engine == ProductEngine::warp_groups) defines.set("TILE_RESIDENT", resident);
  if (engine != ProductEngine::registers)
    defines.set("WARP_ROWS", part_rows).set("WARP_COLUMNS", part_columns);
  else
    defines.set("ITEM_ROWS", part_rows).set("ITEM_COLUMNS", part_columns).set("TILE_CHAIN", chain);
  return defines;
}

Range ProductTile::range(const ProductSize& size) const {
  return Range::groups(items, ceil_div(size.columns, columns), ceil_div(size.rows, rows), size.batches);
}

}  // namespace dlprim
