#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "tests/cpp/ops/layouts/cases.h"

// Element by element: pointwise expressions, what is filled and drawn.
namespace testing_support {

using namespace dlprim;

namespace {

/** A shape that broadcasts to `shape`. */
Dims broadcast_to(Draw& d, const Dims& shape) {
  Dims smaller(shape.begin() + d.number(0, shape.size()), shape.end());
  for (std::int64_t& size : smaller)
    if (d.number(0, 3) == 0) size = 1;
  return smaller;
}

DType any_dtype(Draw& d) {
  return d.one_of({DType::float32, DType::float32, DType::float16, DType::int64, DType::uint8});
}

void draw_pointwise(Draw& d) {
  const Dims shape = d.shape(0, 5);
  const PointwiseExpression& product_rule = gradient_expression(pointwise_op("mul"), 3);
  const PointwiseExpression& product = forward_expression(pointwise_op("mul"));
  const Tensor* a = d.input("a", broadcast_to(d, shape), d.floating());
  const Tensor* b = d.coin() ? d.input("b", shape) : nullptr;
  const PointwiseExpression& expression = d.coin() ? product : product_rule;
  // By name: a row's gradients use what they name.
  const Tensor* g = &expression == &product ? nullptr : d.input("g", broadcast_to(d, shape));
  std::vector<const Tensor*> outputs;
  for (std::size_t i = 0; i < expression.outputs.size(); ++i)
    outputs.push_back(d.output("output", shape, d.floating()));
  d.calls([=, &expression](Queue& queue) {
    std::vector<PointwiseOperand> inputs;
    for (const std::string& variable : expression.variables) {
      if (variable == "a") inputs.emplace_back(*a);
      if (variable == "b") inputs.emplace_back(b ? *b : *a);
      if (variable == "g") inputs.emplace_back(*g);
    }
    std::vector<Tensor> written;
    for (const Tensor* output : outputs) written.push_back(*output);
    pointwise(queue, expression, DType::float32, inputs, {}, written);
  });
}

void draw_pointwise_backward(Draw& d) {
  const Dims shape = d.shape(0, 5);
  const Tensor *dy = d.input("dy", shape, d.floating()),
               *a = d.input("a", broadcast_to(d, shape), d.floating()), *b = d.input("b", shape),
               *y = d.input("y", shape);
  const Tensor *da = d.output("da", shape, d.floating()), *db = d.coin() ? d.output("db", shape) : nullptr;
  const PointwiseOp& op = pointwise_op(d.coin() ? "mul" : "pow");
  d.calls([=, &op](Queue& queue) {
    pointwise_backward(queue, op, *dy, {*a, *b}, {}, *y, {*da, db ? *db : Tensor()});
  });
}

void draw_isclose(Draw& d) {
  const Dims shape = d.shape(0, 5);
  const DType dtype = any_dtype(d);
  const Tensor *a = d.operand("a", Role::input, dtype, shape, d.whole(0, 4)),
               *b = d.operand("b", Role::input, dtype, broadcast_to(d, shape), d.whole(0, 4));
  const Tensor* close = d.output("close", shape, DType::boolean);
  const Closeness closeness{d.coin() ? 0.5 : 0, d.coin() ? 1.0 : 0, d.coin()};
  d.calls([=](Queue& queue) { isclose(queue, *a, *b, closeness, *close); });
}

/** The halves of a gated linear unit, and where they lie. */
struct Gated {
  explicit Gated(Draw& d) : x(d.shape(1, 4)), dim(d.number(0, x.size() - 1)), dtype(d.floating()) {
    x[dim] *= 2;
    y = glu_output_shape(x, dim);
  }
  Dims x, y;
  int dim;
  DType dtype;
};

void draw_glu_forward(Draw& d) {
  const Gated g(d);
  const Tensor *x = d.input("x", g.x, g.dtype), *y = d.output("y", g.y, g.dtype);
  d.calls([=](Queue& queue) { glu_forward(queue, *x, g.dim, *y); });
}

void draw_glu_backward(Draw& d) {
  const Gated g(d);
  const Tensor *dy = d.input("dy", g.y, g.dtype), *x = d.input("x", g.x, g.dtype),
               *dx = d.output("dx", g.x, g.dtype);
  d.calls([=](Queue& queue) { glu_backward(queue, *dy, *x, g.dim, *dx); });
}

void draw_pad_constant(Draw& d) {
  const Dims x = d.shape(0, 5);
  const DType dtype = any_dtype(d);
  PadMargins margins{x, x};
  for (int i = 0; i < x.size(); ++i) {
    margins.before[i] = d.number(x[i] > 1 ? -1 : 0, 3);
    margins.after[i] = d.number(x[i] > 1 ? -1 : 0, 3);
  }
  const Tensor* source = d.operand("x", Role::input, dtype, x, d.whole(0, 50));
  const Tensor* result = d.output("y", pad_constant_output_shape("the case", x, margins), dtype);
  const int value = d.number(0, 9);
  d.calls([=](Queue& queue) { pad_constant(queue, *source, margins, value, *result); });
}

void draw_cat(Draw& d) {
  Dims shape = d.shape(1, 4);
  const int dim = d.number(0, shape.size() - 1), count = d.number(1, 3);
  const DType dtype = any_dtype(d);
  std::vector<const Tensor*> parts;
  std::int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    shape[dim] = d.size_or_none(9);
    total += shape[dim];
    parts.push_back(d.operand("part", Role::input, dtype, shape, d.whole(0, 50)));
  }
  shape[dim] = total;
  const Tensor* result = d.output("result", shape, dtype);
  d.calls([=](Queue& queue) {
    std::vector<Tensor> tensors;
    for (const Tensor* part : parts) tensors.push_back(*part);
    cat(queue, tensors, dim, *result);
  });
}

void draw_copy(Draw& d) {
  const Dims shape = d.shape(0, 5);
  const DType dtype = any_dtype(d);
  const Tensor* source = d.operand("source", Role::input, dtype, broadcast_to(d, shape), d.whole(0, 50));
  const Tensor* destination = d.output("destination", shape, d.coin() ? dtype : any_dtype(d));
  d.calls([=](Queue& queue) { copy(queue, *source, *destination); });
}

void draw_fill(Draw& d) {
  const Tensor* destination = d.output("destination", d.shape(0, 5), any_dtype(d));
  const int value = d.number(0, 2);
  d.calls([=](Queue& queue) { fill(queue, *destination, value); });
}

void draw_upload(Draw& d) {
  const DType dtype = any_dtype(d);
  const Tensor* destination = d.output("destination", d.shape(0, 3), dtype);
  const std::vector<unsigned char> bytes(
      static_cast<std::size_t>(d.plain(destination).numel()) * size_of(dtype), 7);
  d.calls([=](Queue& queue) { upload(queue, {bytes.data(), bytes.size()}, *destination); });
}

void draw_copy_to_device(Draw& d) {
  const Dims shape = d.shape(0, 3);
  const DType dtype = any_dtype(d);
  const Tensor* source = d.operand("source", Role::input, dtype, shape, d.whole(0, 50));
  const Tensor* destination = d.output("destination", shape, dtype);
  d.calls([=](Queue& queue) { copy_to_device(queue, *source, *destination); });
}

void draw_arange(Draw& d) {
  const Tensor* out =
      d.output("out", {d.size_or_none()}, d.one_of({DType::float32, DType::float16, DType::int64}));
  const int start = d.number(-3, 3), step = d.number(-2, 3);
  d.calls([=](Queue& queue) { arange(queue, *out, start, step); });
}

/** Draws for `random_(queue, out, first, second, state)`. */
template <auto function, class Number>
void draw_random(Draw& d) {
  const Tensor* out = d.output("out", d.shape(0, 3), d.floating());
  const auto first = static_cast<Number>(d.number(0, 3)),
             second = first + static_cast<Number>(d.number(1, 9));
  d.calls([=](Queue& queue) { function(queue, *out, first, second, {1, 2}); });
}

void draw_exponential(Draw& d) {
  const Tensor* out = d.output("out", d.shape(0, 3), d.floating());
  d.calls([=](Queue& queue) { random_exponential(queue, *out, 1.5, {1, 2}); });
}

void draw_permutation(Draw& d) {
  const Tensor* out = d.output("out", {d.size_or_none()}, any_dtype(d));
  d.calls([=](Queue& queue) { random_permutation(queue, *out, {1, 2}); });
}

void draw_bernoulli(Draw& d) {
  const Tensor* out = d.output("out", d.shape(0, 3), any_dtype(d));
  d.calls([=](Queue& queue) { random_bernoulli(queue, *out, 0.4, {3, 4}); });
}

void draw_dropout(Draw& d) {
  const Dims shape = d.shape(0, 3);
  const DType dtype = d.floating();
  const Tensor *x = d.input("x", shape, dtype), *y = d.output("y", shape, dtype);
  d.calls([=](Queue& queue) { dropout(queue, *x, 0.4, {5, 6}, *y); });
}

void draw_dropout_part(Draw& d) {
  const Dims shape{d.size_or_none(3), d.size_or_none(9), d.size_or_none()};
  const DType dtype = d.floating();
  const Tensor *x = d.input("x", shape, dtype), *y = d.output("y", shape, dtype);
  const DropoutPart part{d.number(0, 200), d.number(0, 400), d.number(0, 90)};
  d.calls([=](Queue& queue) { dropout_part(queue, *x, 0.4, {5, 6}, part, *y); });
}

void draw_multinomial(Draw& d) {
  const std::int64_t rows = d.size_or_none(8), categories = d.size();
  const bool replacement = d.coin();
  const Tensor* weights = d.input("weights", {rows, categories}, d.between(0.5, 3));
  const Tensor* out = d.output("out", {rows, d.size_or_none(replacement ? 33 : categories)}, DType::int64);
  d.calls([=](Queue& queue) { multinomial(queue, *weights, replacement, {7, 8}, *out); });
}

}  // namespace

LayoutCases element_cases() {
  return {{"pointwise", draw_pointwise},
          {"pointwise_backward", draw_pointwise_backward},
          {"isclose", draw_isclose},
          {"glu_forward", draw_glu_forward},
          {"glu_backward", draw_glu_backward},
          {"pad_constant", draw_pad_constant},
          {"cat", draw_cat},
          {"copy", draw_copy},
          {"fill", draw_fill},
          {"upload", draw_upload},
          {"copy_to_device", draw_copy_to_device},
          {"arange", draw_arange},
          {"random_uniform", draw_random<random_uniform, double>},
          {"random_normal", draw_random<random_normal, double>},
          {"random_integers", draw_random<random_integers, std::int64_t>},
          {"random_exponential", draw_exponential},
          {"random_permutation", draw_permutation},
          {"random_bernoulli", draw_bernoulli},
          {"dropout", draw_dropout},
          {"dropout_part", draw_dropout_part},
          {"multinomial", draw_multinomial}};
}

}  // namespace testing_support
