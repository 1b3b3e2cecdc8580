#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/gemm_operand.h"
#include "dlprim/ops/gemm/tensor_map.h"
#include "dlprim/runtime/device.h"

// Products whose operands both lie along the depth, or are laid out so first, and are brought by tensor maps.
// 16-bit numbers may lie across it as well; where the tile multiplies such and an operand is none, it is
// rounded first.

namespace dlprim {
namespace {

constexpr char mapped_prefix[] = "mapped_";
constexpr const char* file = "ops/gemm/gemm_mapped_simt.cl";

/** 16-bit numbers may lie across the depth. */
struct MappedOperand : GemmOperand {
  int matrices_apart() const { return matrices() == 1 ? 0 : 1; }
  bool lies_across() const {
    return !lies_along_depth() && line_stride == 1 && tile.numbers_in_word > 1 && has_numbers_of_panels() &&
           across().can_map();
  }
  bool is_brought_as_it_lies() const {
    return lies_across() || (lies_along_depth() && has_numbers_of_panels() && along().can_map());
  }
  MappedTensor along() const {
    return {tensor.dtype, &tensor, {depth, lines, matrices(), 1}, {line_stride, batch_stride, 0}};
  }
  MappedTensor across() const {
    return {tensor.dtype, &tensor, {lines, depth, matrices(), 1}, {depth_stride, batch_stride, 0}};
  }
  MappedTensor mapped() const {
    if (lies_across()) return across();
    if (is_brought_as_it_lies()) return along();
    return {
        panel_dtype(), nullptr, {depth, lines, matrices(), 1}, {packed_depth(), lines * packed_depth(), 0}};
  }
  bool can_map() const { return is_brought_as_it_lies() || (can_pack() && mapped().can_map()); }
  /** So many lines at once. */
  std::array<int, TENSOR_MAP_RANK> box(int panel_lines) const {
    constexpr int lines_across = 64;
    return {lies_across() ? lines_across : tile.depth_elements(),
            lies_across() ? tile.depth_elements() : panel_lines, 1, 1};
  }
  double cost() const { return is_brought_as_it_lies() ? 0 : cost_of_packing(); }
  /** The size that the map counts. */
  Tensor laid_out(Queue& queue) const {
    if (is_brought_as_it_lies()) return tensor;
    Tensor words = pack(queue);
    words.dtype = panel_dtype();
    words.offset *= tile.numbers_in_word;
    return words;
  }
};

MappedOperand left_of(const ProductTile& tile, const GemmProblem& p) {
  return {left_operand(tile, p)};
}
MappedOperand right_of(const ProductTile& tile, const GemmProblem& p) {
  return {right_operand(tile, p)};
}

template <std::size_t index>
struct Mapped {
  static constexpr const ProductTile& tile = product_tiles[index];

  static std::int64_t boxes_of(const GemmProblem& p) { return ceil_div(p.k, tile.depth_elements()); }
  /** Its depth in words. */
  static ProductSize size_of_product(const GemmProblem& p) {
    return {p.m, p.n, boxes_of(p) * tile.depth, p.batches};
  }
  static DepthSplit split_of(const DeviceInfo& device, const GemmProblem& p) {
    return split_depth(tile, device, size_of_product(p), tile.speed_of_rounded, tile.depth);
  }

  static std::optional<ProductSlabs> slabs_of(const GemmProblem& p) {
    const MappedOperand a = left_of(tile, p), b = right_of(tile, p);
    return product_slabs(p, a, !a.is_brought_as_it_lies(), b, !b.is_brought_as_it_lies());
  }
  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    if (!tile.can_take(device, p.c.dtype, p.precision) || p.k == 0) return false;
    const auto slabs = slabs_of(p);
    if (!slabs) return false;
    const GemmProblem slab = slabs->first(p);
    return left_of(tile, slab).can_map() && right_of(tile, slab).can_map();
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    const ProductSlabs slabs = *slabs_of(p);
    const GemmProblem slab = slabs.first(p);
    const double cost = split_of(device, slab).cost + left_of(tile, slab).cost() +
                        right_of(tile, slab).cost() + cost_per_launch;
    return cost * static_cast<double>(slabs.count(p));
  }
  static void run(Queue& queue, const GemmProblem& p) {
    slabs_of(p)->each(p, [&](const GemmProblem& slab) { run_slab(queue, slab); });
  }
  static void run_slab(Queue& queue, const GemmProblem& p) {
    const MappedOperand a = left_of(tile, p), b = right_of(tile, p);
    const Tensor left = a.laid_out(queue), right = b.laid_out(queue);
    MappedTensor left_map = a.mapped(), right_map = b.mapped();
    left_map.tensor = &left;
    right_map.tensor = &right;
    const Tensor maps = describe_operands(queue, left_map, a.box(tile.rows), right_map, b.box(tile.columns));
    const DepthSplit split = split_of(queue.device().info(), p);
    Tensor partials;
    if (split.parts > 1) partials = queue.scratch({p.batches, split.parts, p.m * p.n});
    const MappedProduct sizes{gemm_dimension(p.m),
                              gemm_dimension(p.n),
                              a.matrices_apart(),
                              b.matrices_apart(),
                              gemm_dimension(boxes_of(p)),
                              gemm_dimension(split.parts),
                              gemm_dimension(split.depth / tile.depth)};
    Defines defines = tile.defines(p.c.dtype, split.depth);
    defines.set("LEFT_ACROSS", a.lies_across() ? 1 : 0).set("RIGHT_ACROSS", b.lies_across() ? 1 : 0);
    queue.launch(queue.kernel(file, "gemm_mapped", defines), tile.range(split.of(size_of_product(p))), maps,
                 Optional{p.bias}, p.c, sizes, static_cast<float>(p.alpha), static_cast<float>(p.beta),
                 p.bias ? 1 : 0, Optional{partials.defined() ? &partials : nullptr});
    if (partials.defined()) join_products(queue, partials, p.c, {p.bias, 1, p.alpha, p.beta});
  }
  static const char* name() { return name_with<mapped_prefix, index>(); }
};

}  // namespace

std::vector<GemmImplementation> gemm_mapped() {
  return implementations_of_tiles<GemmProblem, Mapped>(takes_maps);
}

}  // namespace dlprim
