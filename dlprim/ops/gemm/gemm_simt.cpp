#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/gemm_implementations.h"

namespace dlprim {
namespace {

ProductSize size_of(const GemmProblem& p) {
  return {p.m, p.n, p.k, p.batches};
}

template <std::size_t index>
struct Product {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    return tile.can_take(device, p.c.dtype, p.precision);
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    return tile.cost(device, size_of(p));
  }
  static void run(Queue& queue, const GemmProblem& p) {
    Defines defines = tile.defines(p.c.dtype, p.k);
    defines.set("LEFT_BY_DEPTH", p.a_column == 1 ? 1 : 0).set("RIGHT_BY_DEPTH", p.b_column == 1 ? 0 : 1);
    with_real(p.c.dtype, [&](auto zero) {
      using Real = decltype(zero);
      queue.launch(queue.kernel("ops/gemm/gemm_simt.cl", "gemm", defines), tile.range(size_of(p)), p.a, p.b,
                   Optional{p.bias}, p.c, static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k),
                   p.a_batch, p.a_row, p.a_column, p.b_batch, p.b_row, p.b_column, static_cast<Real>(p.alpha),
                   static_cast<Real>(p.beta), p.bias ? 1 : 0);
    });
  }
};

}  // namespace

std::array<GemmImplementation, product_tile_count> gemm_products() {
  return implementations_by_tile<GemmProblem, Product>();
}

}  // namespace dlprim
