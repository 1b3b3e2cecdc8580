#include "tests/cpp/ops/layouts/cases.h"

// Numbers of int8 and their sums.
namespace testing_support {

using namespace dlprim;

namespace {

Int8Format draw_format(Draw& d) {
  return {static_cast<float>(d.number(1, 8)) / 16, d.number(-128, 127)};
}

Int8Result draw_result(Draw& d) {
  return {draw_format(d), d.number(-128, -20), d.number(20, 127)};
}

const Tensor* int8_input(Draw& d, const char* name, const Dims& shape) {
  return d.operand(name, Role::input, DType::int8, shape, d.whole(-128, 127));
}

void draw_int8_quantize(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const Int8Format format = draw_format(d);
  const Tensor *x = d.input("x", shape, d.between(-30, 30)), *y = d.output("y", shape, DType::int8);
  d.calls([=](Queue& queue) { int8_quantize(queue, *x, format, *y); });
}

void draw_int8_dequantize(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const Int8Format format = draw_format(d);
  const Tensor *x = int8_input(d, "x", shape), *y = d.output("y", shape);
  d.calls([=](Queue& queue) { int8_dequantize(queue, *x, format, *y); });
}

void draw_int8_add(Draw& d) {
  const Dims shape = d.shape(0, 4);
  const Int8Format a_format = draw_format(d), b_format = draw_format(d);
  const Int8Result result = draw_result(d);
  const Tensor *a = int8_input(d, "a", shape), *b = d.coin() ? int8_input(d, "b", shape) : nullptr,
               *y = d.output("y", shape, DType::int8);
  d.calls([=](Queue& queue) { int8_add(queue, *a, a_format, b, b_format, result, *y); });
}

/** The arguments of convolutions and linear layers beside x and the weight. */
struct Finish {
  Finish(Draw& d, std::int64_t out, const Dims& y_shape)
      : x_format(draw_format(d)), addend_format(draw_format(d)), result(draw_result(d)) {
    scales = d.input("scales", {out}, d.between(0.125, 1));
    bias = d.coin() ? d.input("bias", {out}) : nullptr;
    addend = d.coin() ? int8_input(d, "addend", y_shape) : nullptr;
    y = d.output("y", y_shape, DType::int8);
  }
  Int8Format x_format, addend_format;
  Int8Result result;
  const Tensor *scales, *bias, *addend, *y;
};

void draw_int8_linear(Draw& d) {
  const std::int64_t rows = d.size_or_none(9), in = d.size(40), out = d.size_or_none(33);
  const Tensor *x = int8_input(d, "x", {rows, in}), *weight = int8_input(d, "weight", {out, in});
  const Finish f(d, out, {rows, out});
  d.calls([=](Queue& queue) {
    int8_linear(queue, *x, f.x_format, *weight, *f.scales, f.bias, f.addend, f.addend_format, f.result, *f.y);
  });
}

void draw_int8_conv2d(Draw& d) {
  Conv2dGeometry geometry;
  geometry.groups = d.number(1, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    geometry.stride[i] = d.number(1, 2);
    geometry.padding[i] = d.number(0, 2);
    geometry.dilation[i] = d.number(1, 2);
  }
  const std::int64_t channels = d.size(5), out = geometry.groups * d.size(9);
  const Dims x_shape{d.size_or_none(2), geometry.groups * channels, d.size(9) + 5, d.size(17) + 5};
  const Dims w_shape{out, channels, d.number(1, 3), d.number(1, 3)};
  const Tensor *x = int8_input(d, "x", x_shape), *weight = int8_input(d, "weight", w_shape);
  const Finish f(d, out, conv2d_output_shape(x_shape, w_shape, geometry));
  d.calls([=](Queue& queue) {
    int8_conv2d(queue, *x, f.x_format, *weight, *f.scales, f.bias, f.addend, f.addend_format, geometry,
                f.result, *f.y);
  });
}

Dims planes(Draw& d) {
  return {d.size_or_none(3), d.size(5), d.size(17) + 2, d.size(33) + 2};
}

void draw_int8_max_pool2d(Draw& d) {
  const Dims shape = planes(d);
  Pool2dGeometry geometry{{d.number(2, 3), d.number(2, 3)}, {d.number(1, 2), d.number(1, 2)}};
  geometry.padding = {d.number(0, 1), d.number(0, 1)};
  const Tensor *x = int8_input(d, "x", shape),
               *y = d.output("y", pool2d_output_shape("the case", shape, geometry), DType::int8);
  d.calls([=](Queue& queue) { int8_max_pool2d(queue, *x, geometry, *y); });
}

void draw_int8_adaptive_avg_pool2d(Draw& d) {
  const Dims shape = planes(d);
  const Dims y_shape{shape[0], shape[1], d.size(8), d.size(8)};
  const Int8Format format = draw_format(d);
  const Int8Result result = draw_result(d);
  const Tensor *x = int8_input(d, "x", shape), *y = d.output("y", y_shape, DType::int8);
  d.calls([=](Queue& queue) { int8_adaptive_avg_pool2d(queue, *x, format, result, *y); });
}

}  // namespace

LayoutCases int8_cases() {
  return {{"int8_quantize", draw_int8_quantize},
          {"int8_dequantize", draw_int8_dequantize},
          {"int8_add", draw_int8_add},
          {"int8_linear", draw_int8_linear},
          {"int8_conv2d", draw_int8_conv2d},
          {"int8_max_pool2d", draw_int8_max_pool2d},
          {"int8_adaptive_avg_pool2d", draw_int8_adaptive_avg_pool2d}};
}

}  // namespace testing_support
