#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

using Recurrent = OnDevice;
using Transformers = OnDevice;

template <class M>
void expect_gradients(const M& module) {
  for (const auto& [name, parameter] : module.named_parameters()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(parameter.grad().defined());
    double sum = 0;
    for (const float g : parameter.grad().to_vector()) sum += std::abs(g);
    EXPECT_GT(sum, 0);
  }
}

Dims shape(std::initializer_list<std::int64_t> sizes) {
  return Dims(sizes);
}

}  // namespace

TEST_F(Recurrent, LstmGivesOutputAndStates) {
  nn::LSTM::Options options;
  options.num_layers = 2;
  options.bidirectional = true;
  options.batch_first = true;
  options.proj_size = 3;
  nn::LSTM lstm(5, 7, options);
  const RnnResult result = lstm(randn({4, 6, 5}));
  EXPECT_EQ(result.output.shape(), shape({4, 6, 6}));
  EXPECT_EQ(result.h_n.shape(), shape({4, 4, 3}));
  EXPECT_EQ(result.c_n.shape(), shape({4, 4, 7}));
  (sum(result.output * result.output) + sum(result.c_n)).backward();
  expect_gradients(lstm);
  EXPECT_EQ(lstm.repr(), "LSTM(5, 7, proj_size=3, num_layers=2, batch_first=True, bidirectional=True)");
}

TEST_F(Recurrent, APackedBatchIsItsSequences) {
  nn::GRU gru(3, 4);
  const Tensor longer = randn({5, 3}), shorter = randn({2, 3});
  const auto packed = nn::utils::rnn::pack_sequence({shorter, longer}, false);
  EXPECT_EQ(packed.batch_sizes, (std::vector<std::int64_t>{2, 2, 1, 1, 1}));
  const nn::PackedRnnResult result = gru(packed);
  const TensorList outputs = nn::utils::rnn::unpack_sequence(result.output);
  expect_close(outputs[0].to_vector(), gru(shorter).output.to_vector(), 1e-5, 1e-6);
  expect_close(outputs[1].to_vector(), gru(longer).output.to_vector(), 1e-5, 1e-6);
  expect_close(select(result.h_n, 1, 0).to_vector(), gru(shorter).h_n.to_vector(), 1e-5, 1e-6);
}

TEST_F(Recurrent, CellsAreOneStepOfALayer) {
  nn::LSTM lstm(3, 4);
  nn::LSTMCell cell(3, 4);
  cell.load_state_dict({{"weight_ih", lstm.get_parameter("weight_ih_l0")},
                        {"weight_hh", lstm.get_parameter("weight_hh_l0")},
                        {"bias_ih", lstm.get_parameter("bias_ih_l0")},
                        {"bias_hh", lstm.get_parameter("bias_hh_l0")}});
  const Tensor x = randn({2, 5, 3});
  LstmState state;
  for (std::int64_t t = 0; t < 2; ++t) state = cell(select(x, 0, t), state);
  const RnnResult result = lstm(x);
  expect_close(state.h.to_vector(), result.h_n.to_vector(), 1e-5, 1e-6);
  expect_close(state.c.to_vector(), result.c_n.to_vector(), 1e-5, 1e-6);
}

TEST_F(Recurrent, RefusesWhatDoesNotFit) {
  EXPECT_THROW(nn::GRU(0, 4), ValueError);
  nn::GRU gru(3, 4);
  EXPECT_THROW(gru(zeros({2, 1, 5})), ValueError);
  EXPECT_THROW(gru(zeros({2, 1, 3}), zeros({1, 2, 4})), ValueError);
  gru.unregister("weight_hh_l0");
  EXPECT_THROW(gru(zeros({2, 1, 3})), ValueError);
}

TEST_F(Transformers, AnEncoderTrains) {
  nn::TransformerOptions options;
  options.dim_feedforward = 16;
  options.dropout = 0;
  options.norm_first = true;
  nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(8, 2, options), 2,
                                 nn::make<nn::LayerNorm>(std::vector<std::int64_t>{8}));
  const Tensor causal = nn::Transformer::generate_square_subsequent_mask(5);
  const Tensor y = encoder.forward(randn({5, 3, 8}), {causal, {}, true});
  EXPECT_EQ(y.shape(), shape({5, 3, 8}));
  sum(y * y * y).backward();
  expect_gradients(encoder);
}

TEST_F(Transformers, AnEncodersLayersAreCopies) {
  nn::TransformerEncoderLayer layer(8, 2);
  nn::TransformerEncoder encoder(layer, 2);
  layer.linear1->weight.detach().fill_(0);
  EXPECT_NE(
      sum(encoder.get_parameter("layers.0.linear1.weight") * encoder.get_parameter("layers.1.linear1.weight"))
          .item(),
      0);
}

TEST_F(Transformers, EncoderAndDecoderFitTogether) {
  nn::TransformerOptions options;
  options.dim_feedforward = 16;
  nn::Transformer transformer(8, 2, 1, 2, options);
  const Tensor y = transformer.forward(randn({5, 3, 8}), randn({4, 3, 8}));
  EXPECT_EQ(y.shape(), shape({4, 3, 8}));
  sum(y * y * y).backward();
  expect_gradients(transformer);
  EXPECT_THROW(transformer.forward(randn({5, 3, 8}), randn({4, 2, 8})), ValueError);
}
