#include <cmath>

#include "dlprim/ops/conv/conv3d.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

struct Case {
  Dims x, weight;
  Conv3dGeometry geometry{};
};

/** Calls visit(y, x, weight) with the elements of each product that a convolution adds up. */
template <class Visit>
void for_each_product(const Case& c, const Dims& y, const Visit& visit) {
  const Conv3dGeometry& g = c.geometry;
  const std::int64_t rows = y[1] / g.groups;
  for_each_element(y, [&](const Dims& out) {
    for_each_element(Dims(c.weight.begin() + 1, c.weight.end()), [&](const Dims& tap) {
      Dims at_x{out[0], out[1] / rows * c.weight[1] + tap[0]};
      for (int i = 0; i < 3; ++i) {
        const auto axis = static_cast<std::size_t>(i);
        const std::int64_t at = out[i + 2] * g.stride[axis] - g.padding[axis] + tap[i + 1] * g.dilation[axis];
        if (at < 0 || at >= c.x[i + 2]) return;
        at_x.push_back(at);
      }
      visit(element_number(y, out), element_number(c.x, at_x),
            element_number(c.weight, {out[1], tap[0], tap[1], tap[2], tap[3]}));
    });
  });
}

void check(const Case& c, DType dtype = DType::float32) {
  if (!supports(dtype)) return;
  SCOPED_TRACE(concat("x ", c.x, " weight ", c.weight, " groups ", c.geometry.groups, " in ", name(dtype)));
  const Dims ys = conv3d_output_shape(c.x, c.weight, c.geometry);
  std::mt19937 random(1);
  // Multiples of 1/4: exact in every dtype, so that results differ by their own rounding alone.
  const Sample x = sample(random, dtype, c.x, Placement::contiguous),
               weight = sample(random, dtype, c.weight, Placement::contiguous),
               dy = sample(random, dtype, ys, Placement::contiguous),
               bias = sample(random, dtype, {ys[1]}, Placement::contiguous);
  std::vector<double> y(dy.values.size()), dx(x.values.size()), dw(weight.values.size()),
      db(bias.values.size());
  for_each_element(ys, [&](const Dims& at) {
    const std::size_t i = element_number(ys, at), channel = static_cast<std::size_t>(at[1]);
    y[i] = bias.values[channel];
    db[channel] += dy.values[i];
  });
  for_each_product(c, ys, [&](std::size_t at_y, std::size_t at_x, std::size_t at_w) {
    y[at_y] += x.values[at_x] * weight.values[at_w];
    dx[at_x] += dy.values[at_y] * weight.values[at_w];
    dw[at_w] += dy.values[at_y] * x.values[at_x];
  });
  const Tensor ty = Tensor::empty(device(), ys, dtype), tdx = Tensor::empty(device(), c.x, dtype),
               tdw = Tensor::empty(device(), c.weight, dtype), tdb = Tensor::empty(device(), {ys[1]}, dtype);
  conv3d_forward(queue(), x.tensor, weight.tensor, &bias.tensor, c.geometry, ty);
  conv3d_backward_data(queue(), dy.tensor, weight.tensor, c.geometry, tdx);
  conv3d_backward_weight(queue(), dy.tensor, x.tensor, c.geometry, tdw);
  conv3d_backward_bias(queue(), dy.tensor, tdb);
  const double relative = std::max(epsilon(dtype), 1e-6);
  expect_close(download_values(ty), y, relative, 1e-3);
  expect_close(download_values(tdx), dx, relative, 1e-3);
  expect_close(download_values(tdw), dw, relative, 1e-3);
  expect_close(download_values(tdb), db, relative, 1e-3);
}

}  // namespace

TEST(Conv3d, MatchesReference) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::float64}) {
    check({{2, 3, 5, 6, 7}, {4, 3, 3, 3, 3}}, dtype);
    check({{2, 4, 6, 7, 5}, {6, 2, 2, 3, 2}, {{2, 1, 2}, {1, 2, 0}, {1, 2, 1}, 2}}, dtype);
  }
  check({{1, 2, 4, 5, 6}, {3, 2, 1, 1, 1}});                                        // points
  check({{2, 2, 1, 5, 6}, {3, 2, 1, 3, 3}});                                        // planes in all but name
  check({{2, 2, 1, 5, 6}, {3, 2, 1, 3, 3}, {{3, 1, 1}, {1, 0, 0}, {1, 1, 1}, 1}});  // a slice of padding
  check({{2, 2, 3, 5, 6}, {3, 2, 3, 5, 6}});                                        // one window
  check({{1, 3, 7, 5, 4}, {6, 1, 3, 3, 2}, {{1, 1, 1}, {1, 1, 1}, {2, 1, 1}, 3}});  // depthwise
  check({{1, 2, 9, 3, 4}, {2, 2, 2, 1, 2}, {{4, 1, 1}, {0, 0, 1}, {1, 1, 1}, 1}});  // slices under no window
  check({{1, 1, 2, 1, 1}, {1, 1, 3, 1, 1}, {{1, 1, 1}, {3, 0, 0}, {2, 1, 1}, 1}});  // more padding than input
}

TEST(Conv3d, EmptyBatch) {
  const Tensor x = queue().scratch({0, 2, 3, 4, 5}), weight = upload(random_floats(16, 1), {1, 2, 2, 2, 2}),
               y = queue().scratch({0, 1, 2, 3, 4}), dw = queue().scratch(weight.shape);
  conv3d_forward(queue(), x, weight, nullptr, {}, y);
  conv3d_backward_data(queue(), y, weight, {}, x);
  conv3d_backward_weight(queue(), y, x, {}, dw);
  EXPECT_EQ(download<float>(dw), std::vector<float>(16, 0));
}

TEST(Conv3d, ShapesAndErrors) {
  EXPECT_EQ(conv_transpose3d_output_shape({2, 4, 3, 4, 5}, {4, 3, 3, 2, 1},
                                          {{2, 1, 3}, {1, 0, 0}, {1, 2, 1}, 2}, {1, 0, 2}),
            Dims({2, 6, 6, 6, 15}));
  const auto shape = [](const Dims& x, const Dims& weight, const Conv3dGeometry& g) {
    return conv3d_output_shape(x, weight, g);
  };
  expect_error<ValueError>([&] { shape({1, 2, 8, 8}, {3, 2, 3, 3, 3}, {}); }, "conv3d: expected a 5D input");
  expect_error<ValueError>([&] { shape({1, 2, 8, 8, 8}, {3, 2, 3, 3}, {}); }, "conv3d: expected a 5D weight");
  expect_error<ValueError>([&] { shape({1, 3, 8, 8, 8}, {4, 2, 3, 3, 3}, {}); },
                           "to have 2 channels, but got 3");
  expect_error<ValueError>([&] { shape({1, 2, 2, 8, 8}, {4, 2, 3, 3, 3}, {}); },
                           "Kernel size can't be greater than actual input size");
  expect_error<ValueError>([&] { shape({1, 2, 8, 8, 8}, {4, 2, 3, 3, 3}, {{1, 1, 0}}); }, "stride");
  expect_error<ValueError>([&] { conv3d_same_padding({4, 2, 3, 3, 3}, {{1, 2, 1}}); }, "same");
  EXPECT_EQ(conv3d_same_padding({4, 2, 4, 3, 2}, {}).behind, (std::array<int, 3>{1, 0, 1}));
  const Tensor x = queue().scratch({1, 2, 4, 4, 4}), weight = queue().scratch({3, 2, 2, 2, 2}),
               wrong = queue().scratch({1, 3, 3, 3, 4}),
               half = Tensor::empty(device(), {1, 3, 3, 3, 3}, DType::float16);
  EXPECT_THROW(conv3d_forward(queue(), x, weight, nullptr, {}, wrong), ValueError);
  EXPECT_THROW(conv3d_forward(queue(), x, weight, nullptr, {}, half), TypeError);
}

TEST(Conv3d, Repeats) {
  const Tensor x = upload(random_floats(2 * 4 * 6 * 100, 1), {2, 4, 6, 10, 10}),
               dy = upload(random_floats(2 * 8 * 4 * 64, 2), {2, 8, 4, 8, 8}),
               dw = queue().scratch({8, 4, 3, 3, 3});
  conv3d_backward_weight(queue(), dy, x, {}, dw);
  const auto first = download<float>(dw);
  conv3d_backward_weight(queue(), dy, x, {}, dw);
  EXPECT_EQ(download<float>(dw), first);
}

TEST(Conv3d, Oclgrind) {
  check({{1, 2, 3, 4, 5}, {3, 2, 2, 3, 2}, {{2, 1, 1}, {1, 1, 0}, {1, 1, 1}, 1}});
}
