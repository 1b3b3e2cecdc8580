#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/gemm_implementations.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/gemm/gemm_simt.cl";

ProductSize size_of(const GemmProblem& p) {
  return {p.m, p.n, p.k, p.batches};
}

/** How the depth is split among work groups. */
struct Splits {
  std::int64_t count, depth;
};

Splits in_parts(const ProductTile& tile, const GemmProblem& p, std::int64_t count) {
  if (count == 1) return {1, p.k};
  const std::int64_t depth = round_up(ceil_div(p.k, count), tile.depth);
  return {ceil_div(p.k, depth), depth};
}

ProductSize size_of(const GemmProblem& p, const Splits& splits) {
  return {p.m, p.n, splits.depth, p.batches * splits.count};
}

double cost_of(const ProductTile& tile, const DeviceInfo& device, const GemmProblem& p,
               const Splits& splits) {
  constexpr double per_partial = 48;  // multiply-adds that writing and reading one takes as long as
  const double joining =
      splits.count == 1 ? 0 : per_partial * static_cast<double>(p.m * p.n * p.batches * splits.count);
  return tile.cost(device, size_of(p, splits)) + joining;
}

/** So that the device is full, some rounds of it: where one round is not, the more there are, the less is
 * left empty in the last. Parts are deep enough that joining them stays cheap. */
Splits splits_of(const ProductTile& tile, const DeviceInfo& device, const GemmProblem& p) {
  constexpr std::int64_t least = 256, most_rounds = 4;
  const std::int64_t room = std::int64_t{device.compute_units} * tile.resident;
  const std::int64_t groups = std::max<std::int64_t>(tile.groups(size_of(p)), 1);
  Splits best = in_parts(tile, p, 1);
  if (groups >= 2 * room || p.k < 2 * least) return best;
  double least_cost = cost_of(tile, device, p, best);
  for (std::int64_t rounds = 1; rounds <= most_rounds; ++rounds) {
    const std::int64_t count = std::clamp<std::int64_t>(rounds * room / groups, 1, p.k / least);
    const Splits splits = in_parts(tile, p, count);
    const double cost = cost_of(tile, device, p, splits);
    if (cost < least_cost) best = splits, least_cost = cost;
  }
  return best;
}

/** Of lines whose neighbours are `stride` apart. */
int width_of(const Tensor& t, std::int64_t stride, std::initializer_list<std::int64_t> distances) {
  return stride == 1 ? piece_width(t, distances) : 1;
}

Defines layout_defines(const ProductTile& tile, const GemmProblem& p, Defines defines) {
  const bool left = p.a_column == 1, right = p.b_column != 1;                    // along the depth
  const bool left_in_rows = !left && tile.engine == ProductEngine::warp_groups;  // LEFT_IN_ROWS
  const int left_width = left           ? piece_width(p.a, {p.k, p.a_row, p.a_batch})
                         : left_in_rows ? 1
                                        : width_of(p.a, p.a_row, {p.m, p.a_column, p.a_batch});
  const int right_width = right ? width_of(p.b, p.b_row, {p.k, p.b_column, p.b_batch})
                                : piece_width(p.b, {p.n, p.b_row, p.b_batch});
  return defines.set("LEFT_BY_DEPTH", left ? 1 : 0)
      .set("RIGHT_BY_DEPTH", right ? 1 : 0)
      .set("LEFT_WIDTH", left_width)
      .set("RIGHT_WIDTH", right_width);
}

template <std::size_t index>
struct Product {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    return tile.can_take(device, p.c.dtype, p.precision);
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    return cost_of(tile, device, p, splits_of(tile, device, p));
  }
  static void run(Queue& queue, const GemmProblem& p) {
    const Splits splits = splits_of(tile, queue.device().info(), p);
    const Defines defines = layout_defines(
        tile, p,
        p.chain ? tile.defines_in_chains(p.c.dtype, p.chain) : tile.defines(p.c.dtype, splits.depth));
    Tensor partials;
    if (splits.count > 1)
      partials = queue.scratch({p.batches * splits.count, p.m, p.n}, compute_dtype(p.c.dtype));
    const int count = static_cast<int>(splits.count);
    with_real(p.c.dtype, [&](auto zero) {
      using Real = decltype(zero);
      const auto alpha = static_cast<Real>(p.alpha), beta = static_cast<Real>(p.beta);
      queue.launch(queue.kernel(file, "gemm", defines), tile.range(size_of(p, splits)), p.a, p.b,
                   Optional{p.bias}, p.c, static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k),
                   p.a_batch, p.a_row, p.a_column, p.b_batch, p.b_row, p.b_column, alpha, beta,
                   p.bias ? 1 : 0, Optional{partials.defined() ? &partials : nullptr}, count,
                   static_cast<int>(splits.depth));
      if (!partials.defined()) return;
      const cl_long results = p.m * p.n, all = results * p.batches;
      queue.launch(queue.kernel(file, "gemm_join", defines),
                   Range::linear(all, std::min(64, queue.device().info().max_work_group)), partials,
                   Optional{p.bias}, p.c, static_cast<int>(p.n), results, all, alpha, beta, p.bias ? 1 : 0,
                   count);
    });
  }
};

}  // namespace

std::array<GemmImplementation, product_tile_count> gemm_products() {
  return implementations_by_tile<GemmProblem, Product>();
}

}  // namespace dlprim
