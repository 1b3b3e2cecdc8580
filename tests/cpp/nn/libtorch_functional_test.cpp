// Lines of programs for libtorch that give functions their options, and what else its users write of results.

#include <tuple>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

namespace F = ocl::nn::functional;
using namespace testing_support;
using ocl::Tensor;

namespace {

class LibtorchFunctional : public OnDevice {
 protected:
  const Tensor x = ocl::randn({2, 4, 6, 6}), row = ocl::randn({2, 4, 9}),
               volume = ocl::randn({1, 2, 4, 4, 4});
  const Tensor a = ocl::randn({3, 5}), b = ocl::rand({3, 5}), c = ocl::randn({3, 5});
  const Tensor signs = (c > 0).to(ocl::kFloat32) * 2 - 1, labels = ocl::tensor({4, 0, 2});
};

}  // namespace

#define EXPECT_SAME(call, expected) EXPECT_TRUE((call).equal(expected)) << #call

TEST_F(LibtorchFunctional, Convolutions) {
  const Tensor w = ocl::randn({2, 4, 3, 3}), bias = ocl::randn({2});
  EXPECT_SAME(F::conv2d(x, w, F::Conv2dFuncOptions().bias(bias).stride(2).padding(1)),
              ocl::conv2d(x, w, bias, 2, 1));
  EXPECT_SAME(F::conv2d(x, w, F::Conv2dFuncOptions().stride({2, 1}).padding(ocl::kValid).dilation(2)),
              ocl::conv2d(x, w, {}, {2, 1}, 0, 2));
  EXPECT_SAME(F::conv1d(row, ocl::ones({4, 1, 3}), F::Conv1dFuncOptions().groups(4).padding(ocl::kSame)),
              ocl::conv1d(row, ocl::ones({4, 1, 3}), {}, 1, 1, 1, 4));
  EXPECT_SAME(F::conv3d(volume, ocl::ones({1, 2, 2, 2, 2}), F::Conv3dFuncOptions().stride({1, 2, 2})),
              ocl::conv3d(volume, ocl::ones({1, 2, 2, 2, 2}), {}, {1, 2, 2}));
  const Tensor back = ocl::randn({4, 2, 3, 3});
  EXPECT_SAME(
      F::conv_transpose2d(x, back, F::ConvTranspose2dFuncOptions().stride(2).padding(1).output_padding(1)),
      ocl::conv_transpose2d(x, back, {}, 2, 1, 1));
  EXPECT_SAME(F::conv2d(x, w), ocl::conv2d(x, w));
}

TEST_F(LibtorchFunctional, Pooling) {
  EXPECT_SAME(F::max_pool2d(x, F::MaxPool2dFuncOptions(2)), ocl::max_pool2d(x, 2));
  EXPECT_SAME(F::max_pool2d(x, F::MaxPool2dFuncOptions({3, 2}).stride(1).padding(1).ceil_mode(true)),
              ocl::max_pool2d(x, {3, 2}, 1, 1, 1, true));
  EXPECT_SAME(F::max_pool2d(x, 2), ocl::max_pool2d(x, 2));
  EXPECT_SAME(F::max_pool2d(x, {2, 3}), ocl::max_pool2d(x, {2, 3}));
  EXPECT_SAME(F::avg_pool2d(x, F::AvgPool2dFuncOptions(3).padding(1).count_include_pad(false)),
              ocl::avg_pool2d(x, 3, std::nullopt, 1, false, false));
  EXPECT_SAME(F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({2, 3})),
              ocl::adaptive_avg_pool2d(x, {2, 3}));
  EXPECT_SAME(F::adaptive_max_pool1d(row, F::AdaptiveMaxPool1dFuncOptions(3)),
              ocl::adaptive_max_pool1d(row, 3));
  EXPECT_SAME(F::lp_pool2d(x.abs(), F::LPPool2dFuncOptions(2, 2).stride(1)),
              ocl::lp_pool2d(x.abs(), 2, 2, 1));
  EXPECT_SAME(F::max_pool3d(volume, F::MaxPool3dFuncOptions(2)), ocl::max_pool3d(volume, 2));
}

TEST_F(LibtorchFunctional, Activations) {
  EXPECT_SAME(F::relu(a, F::ReLUFuncOptions().inplace(false)), a.relu());
  EXPECT_SAME(F::relu(a), a.relu());
  EXPECT_SAME(F::leaky_relu(a, F::LeakyReLUFuncOptions().negative_slope(0.3)), ocl::leaky_relu(a, 0.3));
  EXPECT_SAME(F::elu(a, F::ELUFuncOptions().alpha(0.5)), ocl::elu(a, 0.5));
  EXPECT_SAME(F::gelu(a, F::GELUFuncOptions().approximate("tanh")), ocl::gelu_tanh(a));
  EXPECT_SAME(F::glu(a.narrow(1, 0, 4), F::GLUFuncOptions(1)), ocl::glu(a.narrow(1, 0, 4), 1));
  EXPECT_SAME(F::hardtanh(a, F::HardtanhFuncOptions().min_val(-0.5).max_val(0.5)), a.clamp(-0.5, 0.5));
  EXPECT_SAME(F::threshold(a, F::ThresholdFuncOptions(0.1, 7)), ocl::threshold(a, 0.1, 7));
  EXPECT_SAME(F::softplus(a, F::SoftplusFuncOptions().beta(2)), ocl::softplus(a, 2.0, 20.0));
  EXPECT_SAME(F::softmax(a, F::SoftmaxFuncOptions(0)), a.softmax(0));
  EXPECT_SAME(F::softmax(a, 1), a.softmax(1));
  EXPECT_EQ(F::log_softmax(a, F::LogSoftmaxFuncOptions(1).dtype(ocl::kFloat64)).dtype(), ocl::kFloat64);
  EXPECT_SAME(F::softmin(a, F::SoftminFuncOptions(-1)), (-a).softmax(1));
  EXPECT_SAME(F::gumbel_softmax(a, F::GumbelSoftmaxFuncOptions().hard(true).dim(1)).sum(1), ocl::ones(3));
  Tensor written = a.clone();
  F::relu(written, F::ReLUFuncOptions().inplace(true));
  EXPECT_SAME(written, a.relu());
  // One of several functions of a name is still a module's.
  EXPECT_SAME(ocl::nn::Functional(F::relu)(a), a.relu());
}

TEST_F(LibtorchFunctional, Dropping) {
  const Tensor ones = ocl::ones({64, 64});
  EXPECT_SAME(F::dropout(ones, F::DropoutFuncOptions().p(0.5).training(false)), ones);
  const Tensor dropped = F::dropout(ones, F::DropoutFuncOptions().p(0.5));
  EXPECT_TRUE(((dropped == 0) | (dropped == 2)).all().item<bool>());
  EXPECT_NEAR(dropped.mean().item(), 1, 0.1);
  const Tensor channels = F::dropout2d(ocl::ones({8, 8, 3, 3}), F::Dropout2dFuncOptions().p(0.3));
  EXPECT_SAME(channels.amax({2, 3}), channels.amin({2, 3}));
  EXPECT_SAME(F::alpha_dropout(ones, F::AlphaDropoutFuncOptions().p(0.5)), ones);
  EXPECT_FALSE(F::alpha_dropout(ones, F::AlphaDropoutFuncOptions().p(0.5).training(true)).equal(ones));
  EXPECT_SAME(F::rrelu(a, F::RReLUFuncOptions().lower(0.2).upper(0.2)), ocl::leaky_relu(a, 0.2));
  EXPECT_THROW(F::dropout(ones, F::DropoutFuncOptions().p(2)), ocl::ValueError);
}

TEST_F(LibtorchFunctional, Norms) {
  const Tensor mean = ocl::zeros(4), var = ocl::ones(4), w = ocl::rand(4), bias = ocl::rand(4);
  EXPECT_SAME(F::batch_norm(x, mean, var, F::BatchNormFuncOptions().weight(w).bias(bias).eps(1e-3)),
              ocl::batch_norm(x, mean, var, w, bias, false, 0.1, 1e-3));
  EXPECT_SAME(F::group_norm(x, F::GroupNormFuncOptions(2).weight(w)), ocl::group_norm(x, 2, w));
  EXPECT_SAME(F::layer_norm(a, F::LayerNormFuncOptions({5}).eps(1e-3)),
              ocl::layer_norm(a, {5}, {}, {}, 1e-3));
  EXPECT_SAME(F::instance_norm(x, F::InstanceNormFuncOptions().weight(w).bias(bias)),
              ocl::instance_norm(x, {}, {}, w, bias));
  EXPECT_SAME(F::normalize(a, F::NormalizeFuncOptions().p(1).dim(-1)), ocl::normalize(a, 1, {-1}));
  EXPECT_SAME(F::local_response_norm(x, F::LocalResponseNormFuncOptions(3)), ocl::local_response_norm(x, 3));
}

TEST_F(LibtorchFunctional, ShapesAndPictures) {
  EXPECT_SAME(F::pad(a, F::PadFuncOptions({1, 2}).mode(ocl::kConstant).value(3)),
              ocl::pad(a, {1, 2}, "constant", 3));
  EXPECT_SAME(F::pad(x, F::PadFuncOptions({1, 2, 0, 1}).mode(ocl::kReflect)),
              ocl::pad(x, {1, 2, 0, 1}, "reflect"));
  EXPECT_SAME(F::interpolate(x, F::InterpolateFuncOptions()
                                    .scale_factor(std::vector<double>({2, 2}))
                                    .mode(ocl::kBilinear)
                                    .align_corners(true)),
              ocl::interpolate(x, {}, {2, 2}, "bilinear", true));
  EXPECT_SAME(F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<std::int64_t>({3, 9}))),
              ocl::interpolate(x, {3, 9}));
  const Tensor grid = ocl::rand({2, 3, 3, 2}) * 2 - 1;
  EXPECT_SAME(
      F::grid_sample(
          x, grid,
          F::GridSampleFuncOptions().mode(ocl::kBilinear).padding_mode(ocl::kBorder).align_corners(true)),
      ocl::grid_sample(x, grid, "bilinear", "border", true));
  EXPECT_SAME(F::pixel_shuffle(x, F::PixelShuffleFuncOptions(2)), ocl::pixel_shuffle(x, 2));
  const Tensor columns = F::unfold(x, F::UnfoldFuncOptions(2).stride(2));
  EXPECT_SAME(columns, ocl::unfold(x, 2, 1, 0, 2));
  EXPECT_SAME(F::fold(columns, F::FoldFuncOptions(6, 2).stride(2)), x);
  EXPECT_SAME(F::embedding(labels, a.t(), F::EmbeddingFuncOptions().padding_idx(0)),
              ocl::embedding(labels, a.t(), 0));
  EXPECT_SAME(F::embedding_bag(labels, a.t().contiguous(),
                               F::EmbeddingBagFuncOptions().mode(ocl::kSum).offsets(ocl::tensor({0, 1}))),
              ocl::embedding_bag(labels, a.t().contiguous(), ocl::tensor({0, 1}), "sum"));
}

TEST_F(LibtorchFunctional, Losses) {
  EXPECT_SAME(F::mse_loss(a, b, F::MSELossFuncOptions(ocl::kSum)), ocl::mse_loss(a, b, ocl::kSum));
  EXPECT_SAME(F::mse_loss(a, b, ocl::kSum), ocl::mse_loss(a, b, ocl::kSum));
  EXPECT_SAME(F::l1_loss(a, b, F::L1LossFuncOptions().reduction(ocl::kNone)), (a - b).abs());
  const Tensor weight = ocl::rand(5);
  EXPECT_SAME(F::cross_entropy(a, labels, F::CrossEntropyFuncOptions().weight(weight).label_smoothing(0.1)),
              ocl::cross_entropy(a, labels, weight, ocl::kMean, -100, 0.1));
  EXPECT_SAME(F::nll_loss(a, labels, F::NLLLossFuncOptions().ignore_index(2).reduction(ocl::kSum)),
              ocl::nll_loss(a, labels, {}, ocl::kSum, 2));
  EXPECT_SAME(F::binary_cross_entropy_with_logits(
                  a, b, F::BinaryCrossEntropyWithLogitsFuncOptions().pos_weight(weight)),
              ocl::binary_cross_entropy_with_logits(a, b, {}, weight));
  EXPECT_SAME(F::smooth_l1_loss(a, b, F::SmoothL1LossFuncOptions().beta(0.5)),
              ocl::smooth_l1_loss(a, b, ocl::kMean, 0.5));
  EXPECT_SAME(F::kl_div(a, b, F::KLDivFuncOptions().reduction(ocl::kSum).log_target(false)),
              ocl::kl_div(a, b, "sum"));
  EXPECT_SAME(F::cosine_similarity(a, b, F::CosineSimilarityFuncOptions().dim(0)),
              ocl::cosine_similarity(a, b, 0));
  EXPECT_SAME(F::pairwise_distance(a, b, F::PairwiseDistanceFuncOptions().p(1)),
              ocl::pairwise_distance(a, b, 1));
  EXPECT_SAME(F::triplet_margin_loss(a, b, c, F::TripletMarginLossFuncOptions().margin(2)),
              ocl::triplet_margin_loss(a, b, c, 2));
  EXPECT_SAME(F::margin_ranking_loss(a, b, signs, F::MarginRankingLossFuncOptions().margin(0.5)),
              ocl::margin_ranking_loss(a, b, signs, 0.5));
}

TEST_F(LibtorchFunctional, RecurrentLayersGiveTuples) {
  const Tensor steps = ocl::randn({3, 2, 4});
  ocl::nn::LSTM lstm(ocl::nn::LSTMOptions(4, 5).num_layers(2));
  auto [output, state] = lstm->forward(steps);
  EXPECT_EQ(output.sizes(), (ocl::Dims{3, 2, 5}));
  EXPECT_EQ(std::get<1>(state).sizes(), (ocl::Dims{2, 2, 5}));
  const auto whole = lstm(steps);
  EXPECT_SAME(whole.output, output);
  EXPECT_SAME(whole.c_n, std::get<1>(state));
  Tensor again;
  std::tuple<Tensor, Tensor> states;
  std::tie(again, states) = lstm(steps, std::make_tuple(ocl::zeros({2, 2, 5}), ocl::zeros({2, 2, 5})));
  EXPECT_SAME(again, output);
  EXPECT_SAME(std::get<0>(states), std::get<0>(state));
  ocl::nn::GRU gru(4, 5);
  const auto result = gru->forward(steps);
  EXPECT_SAME(std::get<0>(result)[-1], std::get<1>(result)[0]);
  ocl::nn::LSTMCell cell(4, 5);
  Tensor h = ocl::zeros({2, 5}), memory = ocl::zeros({2, 5});
  std::tie(h, memory) = cell(steps[0], std::make_tuple(h, memory));
  EXPECT_SAME(h, cell(steps[0]).h);
}

TEST_F(LibtorchFunctional, ListsByName) {
  ocl::nn::Linear fc(2, 1);
  std::vector<std::string> names;
  for (const auto& item : fc->named_parameters()) {
    names.push_back(item.key());
    EXPECT_SAME(item.value(), *fc->own_parameter(item.key()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"weight", "bias"}));
  for (auto& [name, tensor] : fc->named_parameters()) EXPECT_TRUE(tensor.requires_grad()) << name;
  EXPECT_EQ(ocl::nn::Sequential(ocl::nn::Linear(2, 2))->named_children()[0].key(), "0");
}

TEST_F(LibtorchFunctional, NumbersOfTrainings) {
  const Tensor w = ocl::ones({4}).requires_grad_();
  (w * 3).sum().backward();
  const double norm = ocl::nn::utils::clip_grad_norm_({w}, 3);
  EXPECT_NEAR(norm, 6, 1e-6);
  EXPECT_NEAR((ocl::nn::utils::clip_grad_norm_({w}, 3) * 2).item(), 6, 1e-4);
  ocl::optim::SGD sgd({w}, 1.0);
  for (auto& group : sgd.param_groups()) group.options().set_lr(group.options().get_lr() / 4);
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.25);
  EXPECT_SAME(sgd.param_groups()[0].params()[0], w);
}

TEST_F(LibtorchFunctional, AnAccessorReadsACopy) {
  const Tensor t = ocl::arange(24, ocl::kFloat32).view({2, 3, 4}).transpose(1, 2);
  const auto entries = t.accessor<float, 3>();
  EXPECT_EQ(entries[1][3][2], 23);
  EXPECT_EQ(entries[1][0][2], 20);
  EXPECT_EQ(entries.size(1), 4);
  t.zero_();
  EXPECT_EQ(entries[1][3][2], 23);
  EXPECT_THROW(entries[2], ocl::IndexError);
  EXPECT_THROW((t.accessor<float, 2>()), ocl::ValueError);
  EXPECT_THROW((t.accessor<double, 3>()), ocl::TypeError);
  EXPECT_EQ((labels.accessor<std::int64_t, 1>()[0]), 4);
}
