#include "dlprim/ops/gemm/linear.h"

#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Values = std::vector<float>;

}  // namespace

TEST(Linear, ForwardAndGradients) {
  Queue& queue = device().queue();
  const Tensor x = upload(Values{1, 2, 3, 4, 5, 6}, {3, 2}), weight = upload(Values{1, -1, 2, 0}, {2, 2}),
               bias = upload(Values{10, 20}, {2}), dy = upload(Values{1, 0, 0, 1, 1, 1}, {3, 2});
  const Tensor y = queue.scratch({3, 2}), dx = queue.scratch({3, 2}), dw = queue.scratch({2, 2}),
               db = queue.scratch({2});
  linear_forward(queue, x, weight, &bias, y);
  EXPECT_EQ(download<float>(y), (Values{9, 22, 9, 26, 9, 30}));
  linear_forward(queue, x, weight, nullptr, y);
  EXPECT_EQ(download<float>(y), (Values{-1, 2, -1, 6, -1, 10}));
  linear_backward_data(queue, dy, weight, dx);
  EXPECT_EQ(download<float>(dx), (Values{1, -1, 2, 0, 3, -1}));
  linear_backward_weight(queue, dy, x, dw);
  EXPECT_EQ(download<float>(dw), (Values{6, 8, 8, 10}));
  linear_backward_bias(queue, dy, db);
  EXPECT_EQ(download<float>(db), (Values{2, 2}));
}

TEST(Linear, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor matrix = queue.scratch({3, 2}), vector = queue.scratch({3});
  expect_error<ValueError>([&] { linear_forward(queue, matrix, vector, nullptr, matrix); },
                           "expected weight to be a matrix, got shape [3]");
  expect_error<ValueError>([&] { linear_backward_bias(queue, matrix, vector); },
                           "expected db of shape [2], got [3]");
}
