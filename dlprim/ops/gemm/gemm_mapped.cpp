#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/ops/gemm/operand_pack.h"
#include "dlprim/ops/gemm/tensor_map.h"
#include "dlprim/runtime/device.h"

// Products whose operands both lie along the depth, or are laid out so first, and are brought by tensor maps.

namespace dlprim {
namespace {

constexpr char mapped_prefix[] = "mapped_";
constexpr const char* file = "ops/gemm/gemm_mapped_simt.cl";

int narrow(std::int64_t n) {
  return kernel_int(n, "gemm", "a dimension");
}

/** A matrix of each batch, or one for all: so many lines, each along the depth. */
struct Operand {
  const Tensor& tensor;
  std::int64_t depth, lines, batches;
  std::int64_t depth_stride, line_stride, batch_stride;

  std::int64_t matrices() const { return batch_stride == 0 ? 1 : batches; }
  int matrices_apart() const { return matrices() == 1 ? 0 : 1; }
  bool lies_along_depth() const { return depth_stride == 1; }
  /** Of what is laid out along the depth first. */
  std::int64_t packed_depth() const { return round_up(depth, vector_width); }
  double packed() const {
    return lies_along_depth() ? 0
                              : static_cast<double>(matrices() * lines) * static_cast<double>(packed_depth());
  }
  bool can_pack() const {
    return line_stride == 1 && tensor.dtype == DType::float32 &&
           packed() * sizeof(float) <= static_cast<double>(most_packed_bytes);
  }
  MappedTensor mapped() const {
    if (lies_along_depth()) return {&tensor, {depth, lines, matrices(), 1}, {line_stride, batch_stride, 0}};
    return {nullptr, {depth, lines, matrices(), 1}, {packed_depth(), lines * packed_depth(), 0}};
  }
  bool can_map() const { return (lies_along_depth() || can_pack()) && mapped().can_map(); }
  double cost() const { return lies_along_depth() ? 0 : pack_cost_per_element * packed() + cost_per_launch; }
  Tensor laid_out(Queue& queue) const {
    if (lies_along_depth()) return tensor;
    const int width = narrow(lines);
    const OperandPack p{
        batch_stride, depth_stride, narrow(depth), narrow(packed_depth()), 1, width, 0, 0, 1, 1, 1, width};
    const Tensor result = queue.scratch({packed_elements(matrices(), p)});
    pack_operand(queue, tensor, matrices(), p, result);
    return result;
  }
};

Operand left_of(const GemmProblem& p) {
  return {p.a, p.k, p.m, p.batches, p.a_column, p.a_row, p.a_batch};
}
Operand right_of(const GemmProblem& p) {
  return {p.b, p.k, p.n, p.batches, p.b_row, p.b_column, p.b_batch};
}

template <std::size_t index>
struct Mapped {
  static constexpr const ProductTile& tile = product_tiles[index];

  static ProductSize size_of(const GemmProblem& p) {
    return {p.m, p.n, round_up(p.k, tile.depth), p.batches};
  }
  static DepthSplit split_of(const DeviceInfo& device, const GemmProblem& p) {
    return split_depth(tile, device, size_of(p), tile.speed_of_rounded, tile.depth);
  }

  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    return tile.can_take(device, p.c.dtype, p.precision) && p.k > 0 && left_of(p).can_map() &&
           right_of(p).can_map();
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    return split_of(device, p).cost + left_of(p).cost() + right_of(p).cost() + cost_per_launch;
  }
  static void run(Queue& queue, const GemmProblem& p) {
    const Operand a = left_of(p), b = right_of(p);
    const Tensor left = a.laid_out(queue), right = b.laid_out(queue);
    MappedTensor left_map = a.mapped(), right_map = b.mapped();
    left_map.tensor = &left;
    right_map.tensor = &right;
    const Tensor maps = describe_operands(queue, left_map, {tile.depth, tile.rows, 1, 1}, right_map,
                                          {tile.depth, tile.columns, 1, 1});
    const DepthSplit split = split_of(queue.device().info(), p);
    Tensor partials;
    if (split.parts > 1) partials = queue.scratch({p.batches, split.parts, p.m * p.n});
    const MappedProduct sizes{narrow(p.m),
                              narrow(p.n),
                              a.matrices_apart(),
                              b.matrices_apart(),
                              narrow(ceil_div(p.k, tile.depth)),
                              narrow(split.parts),
                              narrow(split.depth / tile.depth)};
    queue.launch(queue.kernel(file, "gemm_mapped", tile.defines(p.c.dtype, split.depth)),
                 tile.range(split.of(size_of(p))), maps, Optional{p.bias}, p.c, sizes,
                 static_cast<float>(p.alpha), static_cast<float>(p.beta), p.bias ? 1 : 0,
                 Optional{partials.defined() ? &partials : nullptr});
    if (partials.defined()) join_products(queue, partials, p.c, {p.bias, 1, p.alpha, p.beta});
  }
  static const char* name() { return name_with<mapped_prefix, index>(); }
};

}  // namespace

std::vector<GemmImplementation> gemm_mapped() {
  return implementations_of_rounded<GemmProblem, Mapped>();
}

}  // namespace dlprim
