#include "dlprim/ops/attention/attention.h"

#include <algorithm>
#include <array>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention_shared.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/softmax/softmax.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/row_implementations.h"

namespace dlprim {
namespace {

constexpr const char* op = "attention";

// ---- the softmax of scores

AttentionExtents extents_of(Queue& queue, const Tensor& scores, bool is_causal, const AttentionPart& part) {
  require_floating(scores.dtype, queue.device(), op);
  require(scores.rank() == 3, op, ": expected scores of shape [batch, queries, keys], got ", scores.shape);
  require_contiguous(op, "scores", scores);
  require(part.batch >= 0 && part.query >= 0, op, ": a part cannot begin at item ", part.batch, ", query ",
          part.query);
  return {scores.shape[0] * scores.shape[1],
          part.batch,
          part.query,
          kernel_int(scores.shape[1], op, "a number of queries"),
          kernel_int(scores.shape[2], op, "a number of keys"),
          is_causal};
}

void require_mask_dtype(const Tensor& mask, DType dtype) {
  require<TypeError>(mask.dtype == DType::boolean || mask.dtype == dtype, op,
                     ": expected a mask of dtype bool or ", name(dtype), ", got ", name(mask.dtype));
}

MaskStrides mask_strides(const Tensor* mask, const Tensor& scores, const AttentionPart& part) {
  if (!mask) return {0, 0, 0, 0, 1};
  require(mask->rank() == 4 && mask->shape[0] * mask->shape[1] >= part.batch + scores.shape[0] &&
              mask->shape[2] >= part.query + scores.shape[1] && mask->shape[3] >= scores.shape[2],
          op, ": a mask of shape ", mask->shape, " does not fit scores of shape ", scores.shape,
          " from item ", part.batch, ", query ", part.query, " on");
  require_mask_dtype(*mask, scores.dtype);
  const Dims& s = mask->strides;
  return {s[0], s[1], s[2], s[3], mask->shape[1]};
}

struct SoftmaxProblem {
  AttentionExtents e;
  const Tensor& scores;
  double scale;
  const Tensor* mask;
  MaskStrides strides;

  std::int64_t rows() const { return e.rows; }
  std::int64_t row_length() const { return e.keys; }
  void launch(Queue& queue, const Range& range) const {
    const bool hides = mask && mask->dtype == DType::boolean;
    Kernel& kernel =
        queue.kernel("ops/attention/attention.cl", "attention_softmax", dtype_defines(scores.dtype));
    with_real(scores.dtype, [&](auto zero) {
      queue.launch(kernel, range, scores, e, static_cast<decltype(zero)>(scale),
                   Optional{hides ? mask : nullptr}, Optional{hides ? nullptr : mask}, strides);
    });
  }
};

const ImplementationList<SoftmaxProblem> softmax_implementations("attention_softmax",
                                                                 row_implementations<SoftmaxProblem>());

// ---- attention in parts

struct Sizes {
  std::int64_t batch, queries, keys, columns, value_columns;

  std::int64_t operands() const { return (queries + keys) * (columns + value_columns); }
};

Sizes sizes_of(const Tensor& query, const Tensor& key, std::int64_t value_columns) {
  return {query.shape[0], query.shape[1], key.shape[1], query.shape[2], value_columns};
}

/** Scores that are there at once: of some items, of some of their queries, and of the first keys. */
struct Part {
  std::int64_t batch, batches, query, queries, keys;
  std::uint64_t drawn;  // random numbers of those before, in counters

  std::int64_t scores() const { return batches * queries * keys; }
};

/** Scores of a part: what a core's cache holds, or enough to fill a large GPU with products while its cache
 * holds a good part of them. On two cores a quarter of a million was 1.5 to 2 times as fast as eight million.
 */
std::int64_t part_scores(const DeviceInfo& device) {
  return device.runs_cpu_kernels() ? 256 << 10 : 8 << 20;
}
// Queries of a part of a causal matrix, of which the keys after the last are left out.
constexpr std::int64_t causal_queries = 128;
constexpr std::int64_t least_queries = 16;

/** The one part that is everything, or parts in an order in which the first of an item's sees all keys. */
std::vector<Part> parts_of(const DeviceInfo& device, const Sizes& s, bool is_whole, bool leaves_keys_out) {
  if (is_whole || s.batch * s.queries * s.keys == 0) return {{0, s.batch, 0, s.queries, s.keys, 0}};
  const std::int64_t wanted = leaves_keys_out ? causal_queries : s.queries;
  const std::int64_t most = part_scores(device);
  const std::int64_t queries = std::min({s.queries, wanted, std::max(least_queries, most / s.keys)});
  const std::int64_t batches = std::clamp<std::int64_t>(most / (queries * s.keys), 1, s.batch);
  std::vector<Part> parts;
  std::uint64_t drawn = 0;
  for (std::int64_t batch = 0; batch < s.batch; batch += batches) {
    bool is_first = true;
    for (std::int64_t query = (s.queries - 1) / queries * queries; query >= 0; query -= queries) {
      const std::int64_t end = std::min(query + queries, s.queries);
      const std::int64_t keys = leaves_keys_out && !is_first ? std::min(end, s.keys) : s.keys;
      parts.push_back({batch, std::min(batches, s.batch - batch), query, end - query, keys, drawn});
      drawn += philox_increment(parts.back().scores());
      is_first = false;
    }
  }
  return parts;
}

Tensor rows_of(Tensor t, std::int64_t batch, std::int64_t batches, std::int64_t row, std::int64_t rows) {
  t.offset += batch * t.strides[0] + row * t.strides[1];
  t.shape = {batches, rows, t.shape[2]};
  return t;
}
Tensor queries_of(const Tensor& t, const Part& part) {
  return rows_of(t, part.batch, part.batches, part.query, part.queries);
}
Tensor keys_of(const Tensor& t, const Part& part) {
  return rows_of(t, part.batch, part.batches, 0, part.keys);
}
/** Of the [batch, queries, keys] that `t` is. */
Tensor scores_of(const Tensor& t, const Dims& shape, const Part& part) {
  Tensor scores = queries_of(t.reshaped(shape), part);
  scores.shape[2] = part.keys;
  return scores;
}

/** What all parts of a call have in common. */
class Attention {
 public:
  Attention(Queue& queue, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
            const AttentionSettings& settings, const Tensor* probabilities)
      : queue_(queue),
        query_(query),
        key_(key),
        value_(value),
        mask_(mask),
        settings_(settings),
        probabilities_(probabilities),
        sizes_(checked_sizes()) {}

  const Sizes& sizes() const { return sizes_; }
  Dims scores_shape() const { return {sizes_.batch, sizes_.queries, sizes_.keys}; }
  const Tensor* probabilities() const { return probabilities_; }
  const Tensor& query() const { return query_; }
  const Tensor& key() const { return key_; }
  const Tensor& value() const { return value_; }
  double scale() const { return settings_.scale; }
  std::vector<Part> parts(bool is_whole) const {
    return parts_of(queue_.device().info(), sizes_, is_whole, settings_.is_causal && !mask_);
  }

  /** What the softmax gives, into the probabilities if they are kept. */
  Tensor likely(const Part& part) const {
    const Tensor scores = probabilities_ ? *probabilities_ : scratch(part);
    multiply(queries_of(query_, part), keys_of(key_, part).transposed(), scores);
    attention_softmax(queue_, scores, settings_.scale, mask_, settings_.is_causal, {part.batch, part.query});
    return scores;
  }

  bool drops() const { return settings_.dropout_p > 0; }
  /** Dropped the same way each time. */
  void drop(const Tensor& scores, const Part& part, const Tensor& result) const {
    PhiloxState state = settings_.dropout;
    state.offset += part.drawn;
    dropout(queue_, scores, settings_.dropout_p, state, result);
  }
  Tensor dropped(const Tensor& scores, const Part& part) const {
    if (!drops()) return scores;
    const Tensor result = scratch(part);
    drop(scores, part, result);
    return result;
  }

  Tensor scratch(const Part& part) const {
    return queue_.scratch({part.batches, part.queries, part.keys}, query_.dtype);
  }

  void multiply(const Tensor& a, const Tensor& b, const Tensor& c, double alpha = 1, double beta = 0) const {
    gemm(queue_, a, b, c, alpha, beta, nullptr, settings_.precision);
  }
  /** target = alpha * a @ b, or target += it; a target of any strides. */
  void multiply_into(const Tensor& target, bool adds, const Tensor& a, const Tensor& b, double alpha) const {
    if (target.is_contiguous()) return multiply(a, b, target, alpha, adds ? 1 : 0);
    const Tensor product = queue_.scratch(target.shape, target.dtype);
    multiply(a, b, product, alpha);
    if (!adds) return copy(queue_, product, target);
    add(target, product);
  }
  /** What the softmax' result leaves of dy @ value^T. */
  Tensor gradient_by_scores(const Part& part, const Tensor& likely, const Tensor& dy,
                            const Tensor* grad_weights) const {
    const Tensor by_weights = scratch(part), by_scores = scratch(part);
    multiply(dy, keys_of(value_, part).transposed(), by_weights);
    if (grad_weights) add(by_weights, *grad_weights);
    if (drops()) drop(by_weights, part, by_weights);
    softmax_backward(queue_, by_weights, likely, -1, by_scores);
    return by_scores;
  }
  /** a += b */
  void add(const Tensor& a, const Tensor& b) const {
    static const PointwiseExpression& sum = lone_expression("attention_sum", {"a", "b"}, {}, {"a + b"});
    pointwise(queue_, sum, a.dtype, {a, b}, {}, {a});
  }

 private:
  Sizes checked_sizes() const {
    for (const Tensor* t : {&query_, &key_, &value_})
      require(t->rank() == 3, op, ": expected query, key and value of shape [batch, rows, columns], got ",
              t->shape);
    require_floating(query_.dtype, queue_.device(), op);
    for (const Tensor* t : {&key_, &value_})
      require<TypeError>(t->dtype == query_.dtype, op, ": expected ", name(query_.dtype), ", got ",
                         name(t->dtype));
    const Sizes s = sizes_of(query_, key_, value_.shape[2]);
    require(key_.shape == Dims{s.batch, s.keys, s.columns} && value_.shape[0] == s.batch &&
                value_.shape[1] == s.keys,
            op, ": expected query [B, L, E], key [B, S, E] and value [B, S, Ev], got ", query_.shape, ", ",
            key_.shape, " and ", value_.shape);
    if (mask_) {
      require(mask_->rank() == 4 && mask_->shape[0] * mask_->shape[1] == s.batch &&
                  mask_->shape[2] == s.queries && mask_->shape[3] == s.keys,
              op, ": a mask of shape ", mask_->shape, " does not fit scores of shape ",
              Dims{s.batch, s.queries, s.keys});
      require_mask_dtype(*mask_, query_.dtype);
    }
    require(settings_.dropout_p >= 0 && settings_.dropout_p <= 1, op,
            ": dropout probability has to be between 0 and 1, but got ", settings_.dropout_p);
    require_like(op, "the probabilities", probabilities_, {s.batch, s.queries, s.keys}, query_.dtype);
    return s;
  }

  Queue& queue_;
  const Tensor &query_, &key_, &value_;
  const Tensor* mask_;
  const AttentionSettings& settings_;
  const Tensor* probabilities_;
  const Sizes sizes_;
};

/** The output. */
struct ForwardProblem {
  const Attention& attention;
  const Tensor& output;

  void run(Queue&, const Part& part) const {
    const Tensor weights = attention.dropped(attention.likely(part), part);
    attention.multiply_into(queries_of(output, part), false, weights, keys_of(attention.value(), part), 1);
  }
};

/** The gradients. */
struct BackwardProblem {
  const Attention& attention;
  const Tensor& grad_output;
  const Tensor* grad_weights;
  const AttentionGradients& gradients;

  void run(Queue& queue, const Part& part) const {
    // To what the item's parts before it gave.
    const bool adds = part.query + part.queries < attention.sizes().queries;
    const Tensor likely = attention.probabilities() ? *attention.probabilities() : attention.likely(part);
    const Tensor dy = queries_of(grad_output, part);
    if (gradients.value.defined())
      attention.multiply_into(keys_of(gradients.value, part), adds,
                              attention.dropped(likely, part).transposed(), dy, 1);
    if (!gradients.query.defined() && !gradients.key.defined() && !gradients.mask.defined()) return;
    const Tensor by_scores = attention.gradient_by_scores(part, likely, dy, grad_weights);
    if (gradients.mask.defined())
      copy(queue, by_scores, scores_of(gradients.mask, attention.scores_shape(), part));
    if (gradients.query.defined())
      attention.multiply_into(queries_of(gradients.query, part), false, by_scores,
                              keys_of(attention.key(), part), attention.scale());
    if (gradients.key.defined())
      attention.multiply_into(keys_of(gradients.key, part), adds, by_scores.transposed(),
                              queries_of(attention.query(), part), attention.scale());
  }
};

template <class Problem, bool is_whole>
void run_parts(Queue& queue, const Problem& p) {
  for (const Part& part : p.attention.parts(is_whole)) p.run(queue, part);
}

template <class Problem>
double cost_by_scores(const DeviceInfo&, const Problem& p) {
  return static_cast<double>(product(p.attention.scores_shape()));
}

/** Without probabilities the matrix of scores is not to be there as a whole, though it could: dropout, which
 * draws part by part, has to draw alike in both directions. */
template <class Problem>
std::array<Implementation<Problem>, 2> whole_or_in_parts() {
  return {{{"whole_matrix",
            [](const DeviceInfo&, const Problem& p) {
              return p.attention.probabilities() || !p.attention.drops();
            },
            [](const DeviceInfo& device, const Problem& p) { return 2 * cost_by_scores(device, p); },
            run_parts<Problem, true>},
           {"in_parts", [](const DeviceInfo&, const Problem& p) { return !p.attention.probabilities(); },
            cost_by_scores<Problem>, run_parts<Problem, false>}}};
}

const ImplementationList<ForwardProblem> forward_implementations("attention_forward",
                                                                 whole_or_in_parts<ForwardProblem>());
const ImplementationList<BackwardProblem> backward_implementations("attention_backward",
                                                                   whole_or_in_parts<BackwardProblem>());

void require_gradient(const char* what, const Tensor& gradient, const Dims& shape, DType dtype) {
  if (gradient.defined()) require_like(op, what, gradient, shape, dtype);
}

}  // namespace

void attention_softmax(Queue& queue, const Tensor& scores, double scale, const Tensor* mask, bool is_causal,
                       const AttentionPart& part) {
  ENTER(attention_softmax, queue, scores, scale, mask, is_causal, part);
  const AttentionExtents e = extents_of(queue, scores, is_causal, part);
  const MaskStrides strides = mask_strides(mask, scores, part);
  if (scores.numel() == 0) return;
  softmax_implementations.run(queue, {e, scores, scale, mask, strides});
}

bool attention_keeps_probabilities(const Tensor& query, const Tensor& key, const Tensor& value) {
  const Sizes s = sizes_of(query, key, value.shape[2]);
  return s.queries * s.keys <= s.operands();
}

std::int64_t attention_random_numbers(const Tensor& query, const Tensor& key, const Tensor* mask,
                                      const AttentionSettings& settings, bool has_probabilities) {
  if (settings.dropout_p == 0) return 0;
  constexpr std::int64_t any_columns = 0;  // parts are of scores
  const Part last = parts_of(query.device().info(), sizes_of(query, key, any_columns), has_probabilities,
                             settings.is_causal && !mask)
                        .back();
  constexpr std::int64_t of_a_counter = 2;  // philox_increment
  return static_cast<std::int64_t>(last.drawn) * of_a_counter + last.scores();
}

void attention_forward(Queue& queue, const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor* mask, const AttentionSettings& settings, const Tensor& output,
                       const Tensor* probabilities) {
  ENTER(attention_forward, queue, query, key, value, mask, settings, output, probabilities);
  const Attention attention(queue, query, key, value, mask, settings, probabilities);
  const Sizes& s = attention.sizes();
  require_like(op, "the output", output, {s.batch, s.queries, s.value_columns}, query.dtype);
  forward_implementations.run(queue, {attention, output});
}

void attention_backward(Queue& queue, const Tensor& grad_output, const Tensor* grad_weights,
                        const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
                        const AttentionSettings& settings, const Tensor* probabilities,
                        const AttentionGradients& gradients) {
  ENTER(attention_backward, queue, grad_output, grad_weights, query, key, value, mask, settings,
        probabilities, gradients);
  const Attention attention(queue, query, key, value, mask, settings, probabilities);
  const Sizes& s = attention.sizes();
  const DType dtype = query.dtype;
  const Dims all_scores = attention.scores_shape();
  require_like(op, "the output's gradient", grad_output, {s.batch, s.queries, s.value_columns}, dtype);
  require(!grad_weights || probabilities, op, ": a gradient of the weights needs the probabilities");
  require_like(op, "the weights' gradient", grad_weights, all_scores, dtype);
  require_gradient("the query's gradient", gradients.query, query.shape, dtype);
  require_gradient("the key's gradient", gradients.key, key.shape, dtype);
  require_gradient("the value's gradient", gradients.value, value.shape, dtype);
  require(!gradients.mask.defined() || mask, op, ": there is no mask to have a gradient");
  if (mask) require_gradient("the mask's gradient", gradients.mask, mask->shape, dtype);

  backward_implementations.run(queue, {attention, grad_output, grad_weights, gradients});
}

}  // namespace dlprim
