#include <algorithm>
#include <array>
#include <vector>

#include "dlprim/ops/attention/attention_problem.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/softmax/softmax.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

/** Scores that are there at once: of some items, of some of their queries, and of the first keys. */
struct Part {
  std::int64_t batch, batches, query, queries, keys;
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
std::vector<Part> parts_of(const DeviceInfo& device, const AttentionSizes& s, bool is_whole,
                           bool leaves_keys_out) {
  if (is_whole || s.scores() == 0) return {{0, s.batch, 0, s.queries, s.keys}};
  const std::int64_t wanted = leaves_keys_out ? causal_queries : s.queries;
  const std::int64_t most = part_scores(device);
  const std::int64_t queries = std::min({s.queries, wanted, std::max(least_queries, most / s.keys)});
  const std::int64_t batches = std::clamp<std::int64_t>(most / (queries * s.keys), 1, s.batch);
  std::vector<Part> parts;
  for (std::int64_t batch = 0; batch < s.batch; batch += batches) {
    bool is_first = true;
    for (std::int64_t query = (s.queries - 1) / queries * queries; query >= 0; query -= queries) {
      const std::int64_t end = std::min(query + queries, s.queries);
      const std::int64_t keys = leaves_keys_out && !is_first ? std::min(end, s.keys) : s.keys;
      parts.push_back({batch, std::min(batches, s.batch - batch), query, end - query, keys});
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
/** The scores of a part, in `t` [batch, queries, keys]. */
Tensor scores_of(const Tensor& t, const Dims& shape, const Part& part) {
  Tensor scores = queries_of(t.reshaped(shape), part);
  scores.shape[2] = part.keys;
  return scores;
}

/** The common part of all parts of a call. */
class PartMaker {
 public:
  PartMaker(Queue& queue, const Attention& attention) : queue_(queue), a_(attention) {}

  std::vector<Part> parts(bool is_whole) const {
    return parts_of(queue_.device().info(), a_.sizes, is_whole, a_.settings.is_causal && !a_.mask);
  }

  /** The result of the softmax, into the probabilities if they are kept. */
  Tensor likely(const Part& part, const Tensor* log_sums) const {
    const Tensor scores = a_.probabilities ? *a_.probabilities : scratch(part);
    multiply(queries_of(a_.query, part), keys_of(a_.key, part).transposed(), scores);
    attention_softmax(queue_, scores, a_.settings.scale, a_.mask, a_.settings.is_causal,
                      {part.batch, part.query}, log_sums);
    return scores;
  }

  /** Dropped the same way each time. */
  void drop(const Tensor& scores, const Part& part, const Tensor& result) const {
    const AttentionSizes& s = a_.sizes;
    dropout_part(queue_, scores, a_.settings.dropout_p, a_.settings.dropout,
                 {(part.batch * s.queries + part.query) * s.keys, s.queries * s.keys, s.keys}, result);
  }
  Tensor dropped(const Tensor& scores, const Part& part) const {
    if (!a_.drops()) return scores;
    const Tensor result = scratch(part);
    drop(scores, part, result);
    return result;
  }

  Tensor scratch(const Part& part) const {
    return queue_.scratch({part.batches, part.queries, part.keys}, a_.query.dtype);
  }

  void multiply(const Tensor& a, const Tensor& b, const Tensor& c, double alpha = 1, double beta = 0) const {
    gemm(queue_, a, b, c, alpha, beta, nullptr, a_.settings.precision);
  }
  /** target = alpha * a @ b, or target += it; a target of any strides. */
  void multiply_into(const Tensor& target, bool adds, const Tensor& a, const Tensor& b, double alpha) const {
    if (target.is_contiguous()) return multiply(a, b, target, alpha, adds ? 1 : 0);
    const Tensor product = queue_.scratch(target.shape, target.dtype);
    multiply(a, b, product, alpha);
    if (!adds) return copy(queue_, product, target);
    add(target, product);
  }
  /** The part of dy @ value^T that the softmax' result leaves. */
  Tensor gradient_by_scores(const Part& part, const Tensor& likely, const Tensor& dy,
                            const Tensor* grad_weights) const {
    const Tensor by_weights = scratch(part), by_scores = scratch(part);
    multiply(dy, keys_of(a_.value, part).transposed(), by_weights);
    if (grad_weights) add(by_weights, *grad_weights);
    if (a_.drops()) drop(by_weights, part, by_weights);
    softmax_backward(queue_, by_weights, likely, -1, by_scores);
    return by_scores;
  }

 private:
  /** a += b */
  void add(const Tensor& a, const Tensor& b) const {
    static const PointwiseExpression& sum = lone_expression("attention_sum", {"a", "b"}, {}, {"a + b"});
    pointwise(queue_, sum, a.dtype, {a, b}, {}, {a});
  }

  Queue& queue_;
  const Attention& a_;
};

/** With an output of the operands' dtype, which products make. */
template <class Run>
void with_output_of_operands(Queue& queue, const AttentionForward& p, const Run& run) {
  const DType dtype = p.attention.query.dtype;
  if (p.output.dtype == dtype) return run(p);
  const Tensor output = queue.scratch(p.output.shape, dtype);
  run(AttentionForward{p.attention, output, p.log_sums});
  copy(queue, output, p.output);
}
template <class Run>
void with_output_of_operands(Queue&, const AttentionBackward& p, const Run& run) {
  run(p);
}

void run_part(Queue&, const AttentionForward& p, const PartMaker& maker, const Part& part) {
  const Tensor weights = maker.dropped(maker.likely(part, p.log_sums), part);
  maker.multiply_into(queries_of(p.output, part), false, weights, keys_of(p.attention.value, part), 1);
}

void run_part(Queue& queue, const AttentionBackward& p, const PartMaker& maker, const Part& part) {
  const Attention& a = p.attention;
  const AttentionGradients& gradients = p.gradients;
  // To what the item's parts before it gave.
  const bool adds = part.query + part.queries < a.sizes.queries;
  const Tensor likely = a.probabilities ? *a.probabilities : maker.likely(part, nullptr);
  const Tensor dy = queries_of(p.grad_output, part);
  if (gradients.value.defined())
    maker.multiply_into(keys_of(gradients.value, part), adds, maker.dropped(likely, part).transposed(), dy,
                        1);
  if (!gradients.query.defined() && !gradients.key.defined() && !gradients.mask.defined()) return;
  const Tensor by_scores = maker.gradient_by_scores(part, likely, dy, p.grad_weights);
  if (gradients.mask.defined()) copy(queue, by_scores, scores_of(gradients.mask, a.scores_shape(), part));
  if (gradients.query.defined())
    maker.multiply_into(queries_of(gradients.query, part), false, by_scores, keys_of(a.key, part),
                        a.settings.scale);
  if (gradients.key.defined())
    maker.multiply_into(keys_of(gradients.key, part), adds, by_scores.transposed(), queries_of(a.query, part),
                        a.settings.scale);
}

template <class Problem, bool is_whole>
void run_parts(Queue& queue, const Problem& p) {
  const PartMaker maker(queue, p.attention);
  with_output_of_operands(queue, p, [&](const Problem& own) {
    for (const Part& part : maker.parts(is_whole)) run_part(queue, own, maker, part);
  });
}

template <class Problem>
double cost_by_scores(const DeviceInfo&, const Problem& p) {
  return static_cast<double>(p.attention.sizes.scores());
}

/** Without probabilities the matrix of scores is not to be there as a whole, though it could. */
template <class Problem>
std::array<Implementation<Problem>, 2> whole_or_in_parts() {
  return {{{"whole_matrix", [](const DeviceInfo&, const Problem&) { return true; },
            [](const DeviceInfo& device, const Problem& p) { return 2 * cost_by_scores(device, p); },
            run_parts<Problem, true>},
           {"in_parts", [](const DeviceInfo&, const Problem& p) { return !p.attention.probabilities; },
            cost_by_scores<Problem>, run_parts<Problem, false>}}};
}

}  // namespace

std::array<Implementation<AttentionForward>, 2> attention_forward_by_products() {
  return whole_or_in_parts<AttentionForward>();
}
std::array<Implementation<AttentionBackward>, 2> attention_backward_by_products() {
  return whole_or_in_parts<AttentionBackward>();
}

}  // namespace dlprim
