#include "tests/cpp/ops/layouts/cases.h"

// Along one dimension or several: softmax, attention, running sums, sorting, reductions.
namespace testing_support {

using namespace dlprim;

namespace {

int dim_of(Draw& d, const Dims& shape) {
  return shape.empty() ? 0 : d.number(0, shape.size() - 1);
}

/** For `function(queue, x, dim, y)`. */
template <auto function>
void draw_along(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const Tensor *x = d.input("x", shape), *y = d.output("y", shape);
  d.calls([=](Queue& queue) { function(queue, *x, dim, *y); });
}

/** For `function(queue, dy, saved, dim, dx)`. */
template <auto function>
void draw_back_along(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const Tensor *dy = d.input("dy", shape), *saved = d.input("saved", shape), *dx = d.output("dx", shape);
  d.calls([=](Queue& queue) { function(queue, *dy, *saved, dim, *dx); });
}

void draw_cumsum(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const bool reverse = d.coin();
  const Tensor *x = d.input("x", shape), *y = d.output("y", shape);
  d.calls([=](Queue& queue) { cumsum(queue, *x, dim, *y, reverse); });
}

void draw_running_extremes(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const bool least = d.coin();
  const Tensor *x = d.input("x", shape), *places = d.output("places", shape, DType::int64);
  d.calls([=](Queue& queue) { running_extremes(queue, *x, dim, least, *places); });
}

void draw_cumprod(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const Tensor *x = d.input("x", shape, d.between(0.75, 1.25)), *y = d.output("y", shape);
  d.calls([=](Queue& queue) { cumprod(queue, *x, dim, *y); });
}

void draw_cumprod_backward(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const Tensor *dy = d.input("dy", shape), *x = d.input("x", shape, d.between(0.75, 1.125)),
               *dx = d.output("dx", shape);
  d.calls([=](Queue& queue) { cumprod_backward(queue, *dy, *x, dim, *dx); });
}

void draw_logcumsumexp(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  const Tensor *x = d.input("x", shape), *y = d.output("y", shape);
  d.calls([=](Queue& queue) { logcumsumexp(queue, *x, dim, *y); });
}

void draw_logcumsumexp_backward(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  // Any result that is no less than the input will do.
  const Tensor *dy = d.input("dy", shape), *x = d.input("x", shape, d.between(-2, 0)),
               *y = d.input("y", shape, d.between(0, 2)), *dx = d.output("dx", shape);
  d.calls([=](Queue& queue) { logcumsumexp_backward(queue, *dy, *x, *y, dim, *dx); });
}

void draw_attention_softmax(Draw& d) {
  const std::int64_t outer = d.size_or_none(3), inner = d.size(3), queries = d.size_or_none(17),
                     keys = d.size_or_none(33);
  const Tensor* scores = d.updated("scores", {outer * inner, queries, keys});
  const DType dtype = d.one_of({DType::float32, DType::boolean});
  const Tensor* mask =
      d.coin() ? d.operand("mask", Role::input, dtype, {outer, inner, queries, keys}, d.whole(0, 1))
               : nullptr;
  const bool is_causal = d.coin();
  const Tensor* log_sums = d.coin() ? d.output("log_sums", {outer * inner, queries}) : nullptr;
  d.calls([=](Queue& queue) { attention_softmax(queue, *scores, 0.5, mask, is_causal, {}, log_sums); });
}

/** Operands of attention, and whether what the softmax gives is kept. */
struct DrawnAttention {
  explicit DrawnAttention(Draw& d)
      : outer(d.size_or_none(3)),
        inner(d.size(3)),
        queries(d.size_or_none(17)),
        keys(d.size_or_none(33)),
        columns(d.size_or_none(9)),
        value_columns(d.size(9)),
        query(d.input("query", of_queries())),
        key(d.input("key", of_keys())),
        value(d.input("value", of_values())) {
    settings.scale = 0.5;
    settings.is_causal = d.coin();
    mask_dtype = d.one_of({DType::float32, DType::boolean});
    if (d.coin()) mask = d.operand("mask", Role::input, mask_dtype, of_mask(), d.whole(0, 1));
  }

  Dims of_queries() const { return {outer * inner, queries, columns}; }
  Dims of_keys() const { return {outer * inner, keys, columns}; }
  Dims of_values() const { return {outer * inner, keys, value_columns}; }
  Dims of_mask() const { return {outer, inner, queries, keys}; }
  Dims result() const { return {outer * inner, queries, value_columns}; }
  Dims scores() const { return {outer * inner, queries, keys}; }
  Dims rows() const { return {outer * inner, queries}; }

  std::int64_t outer, inner, queries, keys, columns, value_columns;
  const Tensor *query, *key, *value, *mask = nullptr;
  DType mask_dtype = DType::float32;
  AttentionSettings settings;
};

void draw_attention_forward(Draw& d) {
  const DrawnAttention a(d);
  const Tensor* output = d.output("output", a.result());
  const Tensor* probabilities = d.coin() ? d.output("probabilities", a.scores()) : nullptr;
  const Tensor* log_sums = d.coin() ? d.output("log_sums", a.rows()) : nullptr;
  d.calls([=](Queue& queue) {
    attention_forward(queue, *a.query, *a.key, *a.value, a.mask, a.settings, *output, probabilities,
                      log_sums);
  });
}

void draw_attention_backward(Draw& d) {
  const DrawnAttention a(d);
  const Tensor* grad_output = d.input("grad_output", a.result());
  const bool keeps = d.coin();
  const Tensor* probabilities = keeps ? d.input("probabilities", a.scores()) : nullptr;
  const Tensor* grad_weights = keeps && d.coin() ? d.input("grad_weights", a.scores()) : nullptr;
  const bool is_given = d.coin();
  const Tensor* output = is_given ? d.input("output", a.result()) : nullptr;
  const Tensor* log_sums = is_given ? d.input("log_sums", a.rows()) : nullptr;
  const Tensor *by_query = d.output("by query", a.of_queries()), *by_key = d.output("by key", a.of_keys()),
               *by_value = d.output("by value", a.of_values());
  const Tensor* by_mask =
      a.mask && a.mask_dtype == DType::float32 && d.coin() ? d.output("by mask", a.of_mask()) : nullptr;
  d.calls([=](Queue& queue) {
    attention_backward(queue, *grad_output, grad_weights, *a.query, *a.key, *a.value, a.mask, a.settings,
                       probabilities, output, log_sums,
                       {*by_query, *by_key, *by_value, by_mask ? *by_mask : Tensor()});
  });
}

void draw_sort_order(Draw& d) {
  const std::int64_t columns = d.number(0, 3) ? d.size_or_none() : 300;  // a long row is sorted by digits
  const Dims shape{d.size_or_none(8), columns};
  const Tensor *x = d.input("x", shape),
               *order =
                   d.output("order", {shape[0], d.coin() ? columns : d.number(0, columns)}, DType::int32);
  const bool descending = d.coin();
  d.calls([=](Queue& queue) { sort_order(queue, *x, descending, *order); });
}

void draw_sort_keys(Draw& d) {
  const Tensor* keys = d.operand("keys", Role::spoiled, DType::int32, {d.size_or_none()}, d.whole(0, 40));
  d.calls([=, &d](Queue& queue) {
    const SortedKeys sorted = sort_keys(queue, *keys, 41);
    d.returned(sorted.keys);
    d.returned(sorted.order);
  });
}

/** An input to be reduced, and the shape of what it gives. */
struct Reduced {
  explicit Reduced(Draw& d) : shape(d.shape(0, 5)), keepdim(d.coin()) {
    for (int dim = 0; dim < shape.size(); ++dim)
      if (d.coin()) mask |= 1u << dim;
    result = reduced_shape(shape, mask, keepdim);
  }
  Dims shape, result;
  bool keepdim;
  DimMask mask = 0;
};

void draw_reduce(Draw& d) {
  const Reduced r(d);
  const Tensor* shift = d.number(0, 3) == 0 ? d.input("shift", r.result) : nullptr;
  const ReductionOp& row = shift ? reduction("shifted_exp") : reduction(d.coin() ? "sum" : "amax");
  const Tensor *input = d.input("input", r.shape), *output = d.output("output", r.result);
  d.calls([=, &row](Queue& queue) { reduce(queue, row, *input, r.mask, *output, {shift}); });
}

void draw_variance(Draw& d) {
  const Reduced r(d);
  const Tensor *input = d.input("input", r.shape), *mean = d.output("mean", r.result),
               *output = d.output("output", r.result);
  d.calls([=](Queue& queue) { variance(queue, *input, r.mask, 1, *mean, *output); });
}

void draw_logsumexp(Draw& d) {
  const Reduced r(d);
  const Tensor *input = d.input("input", r.shape), *largest = d.output("largest", r.result),
               *rest = d.output("rest", r.result);
  d.calls([=](Queue& queue) { logsumexp(queue, *input, r.mask, *largest, *rest); });
}

void draw_reduce_backward(Draw& d) {
  const Reduced r(d);
  const ReductionOp& row =
      reduction(d.one_of({"sum", "mean", "prod", "amax", "amin", "norm_1", "norm_2", "norm_p", "norm_max"}));
  const Tensor *dy = d.input("dy", r.result), *x = d.input("x", r.shape), *y = d.input("y", r.result),
               *dx = d.output("dx", r.shape);
  d.calls([=, &row](Queue& queue) { reduce_backward(queue, row, *dy, *x, *y, r.mask, *dx, 3); });
}

void draw_variance_backward(Draw& d) {
  const Reduced r(d);
  const Tensor *dy = d.input("dy", r.result), *dmean = d.coin() ? d.input("dmean", r.result) : nullptr,
               *x = d.input("x", r.shape), *mean = d.input("mean", r.result),
               *root = d.coin() ? d.input("root", r.result) : nullptr, *dx = d.output("dx", r.shape);
  d.calls([=](Queue& queue) {
    variance_backward(queue, *dy, dmean ? *dmean : Tensor(), *x, *mean, root, r.mask, 1, *dx);
  });
}

void draw_logsumexp_backward(Draw& d) {
  const Reduced r(d);
  const Tensor *dy = d.input("dy", r.result), *x = d.input("x", r.shape),
               *largest = d.input("largest", r.result), *rest = d.input("rest", r.result),
               *dx = d.output("dx", r.shape);
  d.calls([=](Queue& queue) { logsumexp_backward(queue, *dy, *x, *largest, *rest, r.mask, *dx); });
}

void draw_reduce_index(Draw& d) {
  const Reduced r(d);
  const Tensor *input = d.input("input", r.shape),
               *values = d.coin() ? d.output("values", r.result) : nullptr,
               *indices = d.output("indices", r.result, DType::int64);
  d.calls([=](Queue& queue) {
    reduce_index(queue, Extreme::max, *input, r.mask, values ? *values : Tensor{}, *indices);
  });
}

void draw_place_at_index(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const int dim = dim_of(d, shape);
  Dims kept = shape;
  if (!shape.empty()) kept[dim] = shape[dim] == 0 ? 0 : 1;
  const Tensor *values = d.input("values", kept),
               *indices = d.indices("indices", kept, shape.empty() ? 1 : shape[dim]),
               *output = d.output("output", shape);
  d.calls([=](Queue& queue) { place_at_index(queue, *values, *indices, dim, *output); });
}

/** A shape of complex numbers, all of its sizes greater than 0 along the dimension that is returned too. */
std::pair<Dims, int> signal_of(Draw& d) {
  Dims shape = d.shape(1, 4);
  const int dim = dim_of(d, shape);
  shape[dim] = d.one_of<std::int64_t>({1, 2, 8, 12, 17, 30});
  return {shape, dim};
}

Dims with_pairs(Dims shape) {
  shape.push_back(2);
  return shape;
}

void draw_fft_c2c(Draw& d) {
  const auto signal = signal_of(d);
  const Dims shape = with_pairs(signal.first);
  const int dim = signal.second;
  const bool inverse = d.coin();
  const Tensor *x = d.input("x", shape), *y = d.output("y", shape);
  d.calls([=](Queue& queue) { fft_c2c(queue, *x, dim, inverse, 0.5, *y); });
}

/** Real numbers, and their spectrum or the first half of it. */
template <auto function>
void draw_fft_of_real(Draw& d) {
  const auto signal = signal_of(d);
  const int dim = signal.second;
  Dims spectrum = signal.first;
  constexpr bool is_forward = function == fft_r2c;
  if (!is_forward || d.coin()) spectrum[dim] = spectrum[dim] / 2 + 1;
  const Tensor *x = d.input("x", is_forward ? signal.first : with_pairs(spectrum)),
               *y = d.output("y", is_forward ? with_pairs(spectrum) : signal.first);
  d.calls([=](Queue& queue) { function(queue, *x, dim, 0.5, *y); });
}

}  // namespace

LayoutCases row_cases() {
  return {{"softmax_forward", draw_along<softmax_forward>},
          {"softmax_backward", draw_back_along<softmax_backward>},
          {"log_softmax_forward", draw_along<log_softmax_forward>},
          {"log_softmax_backward", draw_back_along<log_softmax_backward>},
          {"attention_softmax", draw_attention_softmax},
          {"attention_forward", draw_attention_forward},
          {"attention_backward", draw_attention_backward},
          {"cumsum", draw_cumsum},
          {"fft_c2c", draw_fft_c2c},
          {"fft_r2c", draw_fft_of_real<fft_r2c>},
          {"fft_c2r", draw_fft_of_real<fft_c2r>},
          {"running_extremes", draw_running_extremes},
          {"cumprod", draw_cumprod},
          {"cumprod_backward", draw_cumprod_backward},
          {"logcumsumexp", draw_logcumsumexp},
          {"logcumsumexp_backward", draw_logcumsumexp_backward},
          {"sort_order", draw_sort_order},
          {"sort_keys", draw_sort_keys},
          {"reduce", draw_reduce},
          {"variance", draw_variance},
          {"logsumexp", draw_logsumexp},
          {"reduce_backward", draw_reduce_backward},
          {"variance_backward", draw_variance_backward},
          {"logsumexp_backward", draw_logsumexp_backward},
          {"reduce_index", draw_reduce_index},
          {"place_at_index", draw_place_at_index}};
}

}  // namespace testing_support
