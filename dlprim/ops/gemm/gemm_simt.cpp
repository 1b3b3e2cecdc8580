#include <algorithm>
#include <limits>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/gemm_operand.h"
#include "dlprim/ops/gemm/operand_pack.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/alignment.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/gemm/gemm_simt.cl";

ProductSize size_of(const GemmProblem& p) {
  return {p.m, p.n, p.k, p.batches};
}

/** Which operands lie along the depth. */
bool left_lies_along(const GemmProblem& p) {
  return p.a_column == 1;
}
bool right_lies_along(const GemmProblem& p) {
  return p.b_column != 1;
}

/** A part of a tile's speed. An operand that lies along the depth goes to its panel number by number where
 * items multiply: it is better the operand of fewer lines. Measured on an H100. */
double ease_of_placing(const ProductTile& tile, const GemmProblem& p) {
  const bool left = left_lies_along(p), right = right_lies_along(p);
  if (tile.engine != ProductEngine::registers) return 1;
  if (left && right) return 0.95;
  const bool has_more_lines = (left && tile.rows > tile.columns) || (right && tile.columns > tile.rows);
  return has_more_lines ? 0.92 : 1;
}

DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const GemmProblem& p) {
  const double speed = tile.speed * tile.ease_of_bringing(p.c.dtype) * ease_of_placing(tile, p);
  return split_depth(tile, device, size_of(p), speed, tile.depth);
}

/** The vector width of lines whose neighbours are `stride` apart. */
int width_of(const Tensor& t, std::int64_t stride, std::initializer_list<std::int64_t> distances) {
  return stride == 1 ? piece_width(t, distances) : 1;
}

Defines layout_defines(const ProductTile& tile, const GemmProblem& p, Defines defines) {
  const bool left = left_lies_along(p), right = right_lies_along(p);
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

/** An operand as the kernel meets it: strides in what it brings. */
struct Brought {
  const Tensor& tensor;
  std::int64_t batch, row, column;
};

void multiply(Queue& queue, const ProductTile& tile, const DepthSplit& split, const Defines& defines,
              const GemmProblem& p, const ProductSize& size, const Brought& a, const Brought& b) {
  Tensor partials;
  if (split.parts > 1)
    partials = queue.scratch({p.batches, split.parts, p.m * p.n}, compute_dtype(p.c.dtype));
  const int parts = static_cast<int>(split.parts);
  with_real(p.c.dtype, [&](auto zero) {
    using Real = decltype(zero);
    const auto alpha = static_cast<Real>(p.alpha), beta = static_cast<Real>(p.beta);
    queue.launch(queue.kernel(file, "gemm", defines), tile.range(split.of(size)), a.tensor, b.tensor,
                 Optional{p.bias}, p.c, static_cast<int>(size.rows), static_cast<int>(size.columns),
                 static_cast<int>(size.depth), a.batch, a.row, a.column, b.batch, b.row, b.column, alpha,
                 beta, p.bias ? 1 : 0, Optional{partials.defined() ? &partials : nullptr}, parts,
                 static_cast<int>(split.depth));
  });
  if (partials.defined()) join_products(queue, partials, p.c, {p.bias, 1, p.alpha, p.beta});
}

template <std::size_t index>
struct Product {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const char* name() { return tile.name; }

  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    const bool is_deep_enough =
        tile.tf32_products < 2 || p.c.dtype != DType::float32 || p.k >= fewest_terms_of_three_products;
    return is_deep_enough && tile.can_take(device, p.c.dtype, p.precision);
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    // A product of some microseconds is not worth the larger error of products that are put together.
    constexpr double small = 1e7;
    if (tile.tf32_products > 1 && p.multiply_adds() < small) return std::numeric_limits<double>::max();
    return split_of(tile, device, p).cost;
  }
  static void run(Queue& queue, const GemmProblem& p) {
    const DepthSplit split = split_of(tile, queue.device().info(), p);
    const Defines defines = layout_defines(
        tile, p, p.chain ? tile.defines_in_chains(p.c.dtype, p.chain) : tile.defines(p.c.dtype, split.depth));
    multiply(queue, tile, split, defines, p, size_of(p), {p.a, p.a_batch, p.a_row, p.a_column},
             {p.b, p.b_batch, p.b_row, p.b_column});
  }
};

// ---- with a right operand turned before, where both lie along the depth

constexpr char turned_prefix[] = "turned_";

/** True for the tile whose fewer lines are the left operand's, which stays as it is. */
constexpr bool takes_turned(const ProductTile& tile) {
  return tile.engine == ProductEngine::registers && tile.columns > tile.rows;
}

template <std::size_t index>
struct ProductOfTurned {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const char* name() { return name_with<turned_prefix, index>(); }

  static std::int64_t matrices(const GemmProblem& p) { return p.b_batch == 0 ? 1 : p.batches; }
  static std::int64_t elements(const GemmProblem& p) { return matrices(p) * p.k * p.n; }
  /** The problem with b as run() lays it out: [matrices, k, n]. */
  static GemmProblem with_turned(const GemmProblem& p, const Tensor& b) {
    return p.with_right(b, p.b_batch == 0 ? 0 : p.k * p.n, p.n, 1);
  }
  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    return Product<index>::can_take(device, p) && left_lies_along(p) && right_lies_along(p) &&
           elements(p) * static_cast<std::int64_t>(size_of(p.b.dtype)) <= most_packed_bytes;
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    return Product<index>::expected_cost(device, with_turned(p, p.b)) +
           pack_cost(tile, p.b.dtype, static_cast<double>(elements(p))) + cost_per_launch;
  }
  static void run(Queue& queue, const GemmProblem& p) {
    Tensor source = p.b;
    source.shape = {matrices(p), p.k, p.n};
    source.strides = {p.b_batch, p.b_row, p.b_column};
    const Tensor turned = queue.scratch(source.shape, p.b.dtype);
    copy(queue, source, turned);
    Product<index>::run(queue, with_turned(p, turned));
  }
};

// ---- in words along the depth, as tensor cores take them

/** Other operands are packed first. */
struct OperandOfWords : GemmOperand {
  bool is_brought_as_it_lies() const {
    const auto is_whole = [&](std::int64_t elements) { return elements % tile.elements_of_vector() == 0; };
    return lies_along_depth() && has_numbers_of_panels() && is_whole(depth) && is_whole(line_stride) &&
           is_whole(batch_stride) && is_aligned_to(tile.elements_of_vector(), tensor);
  }
  bool can_be_brought() const { return is_brought_as_it_lies() || can_pack(); }
  double cost() const { return is_brought_as_it_lies() ? 0 : cost_of_packing(); }
  Tensor words(Queue& queue) const {
    if (!is_brought_as_it_lies()) return pack(queue);
    Tensor as_words = tensor;
    as_words.dtype = DType::float32;
    as_words.offset /= tile.numbers_in_word;
    return as_words;
  }
  std::int64_t words_of_line() const {
    return (is_brought_as_it_lies() ? line_stride : packed_depth()) / tile.numbers_in_word;
  }
  std::int64_t words_of_matrix() const {
    if (is_brought_as_it_lies()) return batch_stride / tile.numbers_in_word;
    return matrices() == 1 ? 0 : lines * words_of_line();
  }
};

OperandOfWords left_of(const ProductTile& tile, const GemmProblem& p) {
  return {left_operand(tile, p)};
}
OperandOfWords right_of(const ProductTile& tile, const GemmProblem& p) {
  return {right_operand(tile, p)};
}

constexpr char packed_prefix[] = "packed_";

template <std::size_t index>
struct ProductOfWords {
  static constexpr const ProductTile& tile = product_tiles[index];

  static const char* name() { return name_with<packed_prefix, index>(); }

  static ProductSize size_in_words(const GemmProblem& p) {
    return {p.m, p.n, left_of(tile, p).packed_depth() / tile.numbers_in_word, p.batches};
  }
  static DepthSplit split_of(const DeviceInfo& device, const GemmProblem& p) {
    return split_depth(tile, device, size_in_words(p), tile.speed_of_rounded, tile.depth);
  }
  static std::optional<ProductSlabs> slabs_of(const GemmProblem& p) {
    const OperandOfWords a = left_of(tile, p), b = right_of(tile, p);
    return product_slabs(p, a, !a.is_brought_as_it_lies(), b, !b.is_brought_as_it_lies());
  }
  static bool can_take(const DeviceInfo& device, const GemmProblem& p) {
    return tile.can_take(device, p.c.dtype, p.precision) && p.k > 0 && left_of(tile, p).can_be_brought() &&
           right_of(tile, p).can_be_brought() && slabs_of(p);
  }
  static double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
    const ProductSlabs slabs = *slabs_of(p);
    const GemmProblem slab = slabs.first(p);
    const double cost =
        split_of(device, slab).cost + left_of(tile, slab).cost() + right_of(tile, slab).cost();
    return cost * static_cast<double>(slabs.count(p));
  }
  static void run(Queue& queue, const GemmProblem& p) {
    slabs_of(p)->each(p, [&](const GemmProblem& slab) { run_slab(queue, slab); });
  }
  static void run_slab(Queue& queue, const GemmProblem& p) {
    const OperandOfWords a = left_of(tile, p), b = right_of(tile, p);
    const DepthSplit split = split_of(queue.device().info(), p);
    Defines defines = tile.defines(p.c.dtype, split.depth);
    defines.set("LEFT_BY_DEPTH", 1).set("LEFT_WIDTH", vector_width);
    defines.set("RIGHT_BY_DEPTH", 1).set("RIGHT_WIDTH", vector_width).set("BOTH_ARE_ROUNDED", 1);
    const Tensor left = a.words(queue), right = b.words(queue);
    multiply(queue, tile, split, defines, p, size_in_words(p),
             {left, a.words_of_matrix(), a.words_of_line(), 1},
             {right, b.words_of_matrix(), 1, b.words_of_line()});
  }
};

}  // namespace

std::vector<GemmImplementation> gemm_products() {
  return implementations_of_tiles<GemmProblem, Product>(takes_as_it_lies);
}
std::vector<GemmImplementation> gemm_of_turned() {
  return implementations_of_tiles<GemmProblem, ProductOfTurned>(takes_turned);
}
std::vector<GemmImplementation> gemm_of_words() {
  return implementations_of_tiles<GemmProblem, ProductOfWords>(takes_words_by_warps);
}

}  // namespace dlprim
