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
  nn::LSTM lstm(nn::LSTMOptions(5, 7).num_layers(2).bidirectional(true).batch_first(true).proj_size(3));
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

TEST_F(Recurrent, OptionsCountFromTheNextCall) {
  nn::RNN rnn(3, 4);
  const Tensor x = randn({5, 2, 3});
  const std::vector<float> before = rnn(x).output.to_vector();
  rnn.change_options([](auto& o) { o.batch_first(true); });
  expect_close(transpose(rnn(transpose(x, 0, 1)).output, 0, 1).to_vector(), before, 1e-6, 1e-7);
  rnn.change_options([](auto& o) { o.nonlinearity("sine"); });
  EXPECT_THROW(rnn(x), ValueError);
}

TEST_F(Recurrent, CopiesHaveOptionsAndValues) {
  const auto layer = nn::make<nn::LSTM>(nn::LSTMOptions(3, 4).num_layers(2).bias(false));
  nn::Sequential net(layer, nn::make<nn::GRUCell>(3, 4));
  const auto copy = std::dynamic_pointer_cast<nn::Sequential>(net.clone());
  EXPECT_EQ(copy->repr(), net.repr());
  const auto twin = std::dynamic_pointer_cast<nn::LSTM>(copy->at(0));
  const Tensor x = randn({5, 2, 3});
  expect_close((*twin)(x).output.to_vector(), (*layer)(x).output.to_vector(), 1e-6, 1e-7);
}

TEST_F(Recurrent, CallsRunHooks) {
  nn::LSTM lstm(3, 4);
  nn::GRUCell cell(3, 4);
  int calls = 0;
  const auto count = [&](nn::Module&, const nn::Arguments&, const nn::Value&) {
    ++calls;
    return nn::Value();
  };
  const auto of_lstm = lstm.register_forward_hook(nn::Module::ForwardHook(count));
  const auto of_cell = cell.register_forward_hook(nn::Module::ForwardHook(count));
  const Tensor x = randn({2, 1, 3});
  EXPECT_EQ(lstm(x, {zeros({1, 1, 4}), zeros({1, 1, 4})}).c_n.shape(), shape({1, 1, 4}));
  EXPECT_EQ(cell(select(x, 0, 0)).shape(), shape({1, 4}));
  EXPECT_EQ(calls, 2);
}

TEST_F(Transformers, AnEncoderTrains) {
  const auto options =
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0).norm_first(true);
  nn::TransformerEncoder encoder(
      nn::TransformerEncoderOptions(nn::make<nn::TransformerEncoderLayer>(options), 2)
          .norm(nn::make<nn::LayerNorm>(std::vector<std::int64_t>{8})));
  const Tensor causal = nn::Transformer::generate_square_subsequent_mask(5);
  const Tensor y = encoder.forward(randn({5, 3, 8}), {causal, {}, true});
  EXPECT_EQ(y.shape(), shape({5, 3, 8}));
  sum(y * y * y).backward();
  expect_gradients(encoder);
}

TEST_F(Transformers, AnEncodersLayersAreCopies) {
  const auto layer = nn::make<nn::TransformerEncoderLayer>(8, 2);
  const nn::TransformerEncoder encoder(layer, 2);
  layer->linear1->weight.detach().fill_(0);
  EXPECT_NE(
      sum(encoder.get_parameter("layers.0.linear1.weight") * encoder.get_parameter("layers.1.linear1.weight"))
          .item(),
      0);
}

TEST_F(Transformers, HooksOfTheAttentionRun) {
  nn::TransformerEncoder encoder(
      nn::make<nn::TransformerEncoderLayer>(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16)), 2);
  const auto layer = std::dynamic_pointer_cast<nn::TransformerEncoderLayer>(encoder.layers->at(0));
  int calls = 0;
  const auto count = [&](nn::Module&, const nn::Arguments& arguments, const nn::Value&) {
    ++calls;
    EXPECT_FALSE(arguments.named.empty());
    return nn::Value();
  };
  const auto of_layer = layer->register_forward_hook(nn::Module::ForwardHook(count));
  const auto of_attention = layer->self_attn->register_forward_hook(nn::Module::ForwardHook(count));
  encoder.forward(randn({5, 3, 8}));
  EXPECT_EQ(calls, 2);
}

TEST_F(Transformers, AnActivationMayBeAFunction) {
  const auto options = nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0);
  nn::TransformerEncoderLayer layer(options);
  const Tensor x = randn({5, 3, 8});
  const std::vector<float> before = layer(x).to_vector();
  layer.change_options([](auto& o) { o.activation([](const Tensor& t) { return relu(t); }); });
  expect_close(layer.clone()->forward(x).to_vector(), before, 1e-6, 1e-7);
  EXPECT_THROW(nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(8, 2).activation("sine")),
               ValueError);
}

TEST_F(Transformers, EncoderAndDecoderFitTogether) {
  nn::Transformer transformer(
      nn::TransformerOptions(8, 2).dim_feedforward(16).num_encoder_layers(1).num_decoder_layers(2));
  const Tensor y = transformer.forward(randn({5, 3, 8}), randn({4, 3, 8}));
  EXPECT_EQ(y.shape(), shape({4, 3, 8}));
  sum(y * y * y).backward();
  expect_gradients(transformer);
  EXPECT_THROW(transformer.forward(randn({5, 3, 8}), randn({4, 2, 8})), ValueError);
  EXPECT_EQ(transformer.clone()->repr(), transformer.repr());
}
