#include "autograd/ops/operators.h"

#include <set>

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

// Operators called by their names, with values: what another library's face, or a file, does.

namespace {

class OfRow : public OnDevice {};

TEST_F(OfRow, GivesWhatTheFunctionGives) {
  const Tensor x = randn({3, 5}), index = tensor(std::vector<std::int64_t>{2, 0}, {2});
  const TensorList sorted = operator_form("sort")({x, Scalar(1), Scalar(true)});
  EXPECT_EQ(sorted.at(0).to_vector(), sort(x, 1, true).first.to_vector());
  EXPECT_EQ(sorted.at(1).to_vector<std::int64_t>(), sort(x, 1, true).second.to_vector<std::int64_t>());
  EXPECT_EQ(operator_form("index_select")({x, Scalar(0), index}).at(0).to_vector(),
            index_select(x, 0, index).to_vector());
  EXPECT_EQ(operator_form("split", "size")({x, Scalar(2), Scalar(1)}).size(), 3u);
  EXPECT_EQ(operator_form("mse_loss")({x, neg(x), std::string("sum")}).at(0).item(),
            mse_loss(x, neg(x), Reduction::sum).item());
  EXPECT_EQ(operator_form("cat")({TensorList{x, x}, Scalar(1)}).at(0).shape(), (Dims{3, 10}));
  const Tensor images = randn({2, 3, 8, 8});
  EXPECT_EQ(operator_form("interpolate")({images, Shape{}, std::vector<double>{2, 2}}).at(0).shape(),
            (Dims{2, 3, 16, 16}));
  EXPECT_EQ(operator_form("max_pool2d")({images, std::vector<std::int64_t>{2, 2}}).at(0).to_vector(),
            max_pool2d(images, 2).to_vector());
}

TEST_F(OfRow, RecordsOnTheTape) {
  Tensor x = randn({4}).requires_grad_();
  Tensor y =
      operator_form("scatter")({x, Scalar(0), tensor(std::vector<std::int64_t>{1}, {1}), Scalar(2.0)}).at(0);
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector(), (std::vector<float>{1, 0, 1, 1}));
}

TEST_F(OfRow, HasTheDefaultsOfItsRow) {
  const Tensor x = randn({2, 3});
  EXPECT_EQ(operator_form("topk")({x, Scalar(2)}).at(0).to_vector(), topk(x, 2).first.to_vector());
  EXPECT_EQ(operator_form("layer_norm")({x, std::vector<std::int64_t>{3}}).at(0).to_vector(),
            layer_norm(x, {3}).to_vector());
  EXPECT_EQ(operator_form("empty")({std::vector<std::int64_t>{2, 2}}).at(0).dtype(), DType::float32);
}

TEST_F(OfRow, RefusesWhatDoesNotFit) {
  const Tensor x = randn({2, 3});
  const OperatorForm& gather_form = operator_form("gather");
  expect_error<TypeError>([&] { gather_form({x, Scalar(0)}); }, "gather: argument index: nothing was given");
  expect_error<TypeError>([&] { gather_form({x, Scalar(0.5), x}); },
                          "gather: argument dim: expected a whole number, got a number");
  expect_error<TypeError>([&] { gather_form({std::string("x"), Scalar(0), x}); },
                          "gather: argument input: expected a tensor, got 'x'");
  expect_error<TypeError>([&] { gather_form({x, Scalar(0), x, x}); },
                          "gather: expected at most 3 arguments, got 4");
  expect_error<ValueError>([] { operator_form("gather", "none"); },
                           "no operator named 'gather' with a form 'none'");
  expect_error<ValueError>([] { operator_form("no_operator"); }, "no_operator");
}

/** Rows with parameters or results that no value stands for. Only ever to become fewer. */
TEST_F(OfRow, ServesAllRowsButThese) {
  std::set<std::string> others;
  for (const OperatorRow& row : operator_table())
    for (const OperatorForm& form : row.forms)
      if (!form.can_be_called()) others.insert(form.name());
  EXPECT_EQ(others,
            (std::set<std::string>{"allclose", "batch_norm_activation", "equal", "gru", "lstm", "lstm_cell",
                                   "rnn_relu", "rnn_tanh", "roi_align", "scaled_dot_product_attention"}));
}

}  // namespace
