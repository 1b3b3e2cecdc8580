#include "nn/modules/rnn.h"

#include <cmath>

#include "autograd/creation.h"
#include "autograd/ops/indexing.h"
#include "autograd/ops/views.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::require;

void fill(const TensorList& parameters, std::int64_t hidden_size) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  for (Tensor parameter : parameters) init::uniform_(parameter, -bound, bound);
}

Tensor permuted(const Tensor& state, const Tensor& order) {
  return state.defined() && order.defined() ? index_select(state, 1, order) : state;
}

Tensor without_batch(const Tensor& state) {
  return state.defined() ? squeeze(state, 1) : state;
}

}  // namespace

RNNBase::RNNBase(const char* class_name, std::int64_t gates, std::int64_t inputs, std::int64_t hidden,
                 const Options& options, std::int64_t projected)
    : input_size(inputs),
      hidden_size(hidden),
      num_layers(options.num_layers),
      bias(options.bias),
      batch_first(options.batch_first),
      dropout(options.dropout),
      bidirectional(options.bidirectional),
      proj_size(projected),
      class_name_(class_name) {
  require(dropout >= 0 && dropout <= 1, class_name,
          ": dropout should be a number in range [0, 1] representing the probability of an element being "
          "zeroed, got ",
          dropout);
  require(input_size > 0, class_name, ": input_size must be greater than zero, got ", input_size);
  require(hidden_size > 0, class_name, ": hidden_size must be greater than zero, got ", hidden_size);
  require(num_layers > 0, class_name, ": num_layers must be greater than zero, got ", num_layers);
  require(proj_size >= 0, class_name,
          ": proj_size should be a positive integer or zero to disable projections, got ", proj_size);
  require(proj_size < hidden_size, class_name, ": proj_size has to be smaller than hidden_size, got ",
          proj_size, " and ", hidden_size);
  const std::int64_t gate_size = dlprim::product({gates, hidden_size});
  const std::int64_t state_size = proj_size > 0 ? proj_size : hidden_size;
  const std::int64_t directions = bidirectional ? 2 : 1;
  const auto names = all_weight_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_first = static_cast<std::int64_t>(i) < directions;
    register_parameter(names[i][0], empty({gate_size, is_first ? input_size : state_size * directions}));
    register_parameter(names[i][1], empty({gate_size, state_size}));
    if (bias) {
      register_parameter(names[i][2], empty({gate_size}));
      register_parameter(names[i][3], empty({gate_size}));
    }
    if (proj_size > 0) register_parameter(names[i].back(), empty({proj_size, hidden_size}));
  }
  reset_parameters();
}

std::vector<std::vector<std::string>> RNNBase::all_weight_names() const {
  std::vector<std::vector<std::string>> all;
  for (std::int64_t layer = 0; layer < num_layers; ++layer)
    for (const char* suffix : {"", "_reverse"}) {
      if (*suffix && !bidirectional) continue;
      std::vector<std::string> names{"weight_ih_l", "weight_hh_l"};
      if (bias) names.insert(names.end(), {"bias_ih_l", "bias_hh_l"});
      if (proj_size > 0) names.emplace_back("weight_hr_l");
      for (std::string& name : names) name += std::to_string(layer) + suffix;
      all.push_back(std::move(names));
    }
  return all;
}

void RNNBase::reset_parameters() {
  fill(parameters(), hidden_size);
}

std::string RNNBase::extra_repr() const {
  std::string text = dlprim::concat(input_size, ", ", hidden_size);
  if (proj_size != 0) text += dlprim::concat(", proj_size=", proj_size);
  if (num_layers != 1) text += dlprim::concat(", num_layers=", num_layers);
  if (!bias) text += ", bias=False";
  if (batch_first) text += ", batch_first=True";
  if (dropout != 0) text += ", dropout=" + float_repr(dropout);
  if (bidirectional) text += ", bidirectional=True";
  return text;
}

TensorList RNNBase::weights() const {
  TensorList all;
  for (const auto& names : all_weight_names())
    for (const std::string& name : names) {
      const std::optional<Tensor> weight = own_parameter(name);
      require(weight && weight->defined(), class_name_, ": there is no parameter '", name, "'");
      all.push_back(*weight);
    }
  return all;
}

RnnOptions RNNBase::function_options() const {
  return {bias, num_layers, dropout, is_training(), bidirectional, batch_first};
}

void RNNBase::check_input(const Tensor& input, int rank, const Tensor& weight) const {
  require(input.dtype() == weight.dtype(), class_name_, ": RNN input dtype (", dlprim::name(input.dtype()),
          ") does not match weight dtype (", dlprim::name(weight.dtype()), ")");
  require(input.dim() == rank, class_name_, ": input must have ", rank, " dimensions, got ", input.dim());
  require(input.size(-1) == input_size, class_name_,
          ": input.size(-1) must be equal to input_size. Expected ", input_size, ", got ", input.size(-1));
}

LstmState RNNBase::states_for(const Tensor& input, const LstmState& hx, std::int64_t batch) const {
  const std::int64_t layers = num_layers * (bidirectional ? 2 : 1);
  const bool is_given = hx.h.defined() || hx.c.defined();
  const auto state = [&](const char* what, const Tensor& given, std::int64_t size) {
    const Dims expected{layers, batch, size};
    if (!is_given) return zeros(expected.vector(), input.dtype(), input.device());
    require(given.defined() && given.shape() == expected, class_name_, ": Expected ", what, " size ",
            expected, ", got ", given.defined() ? dlprim::concat(given.shape()) : "none");
    return given;
  };
  const std::int64_t size = proj_size > 0 ? proj_size : hidden_size;
  if (!has_cell_state()) return {state("hidden", hx.h, size), {}};
  return {state("hidden[0]", hx.h, size), state("hidden[1]", hx.c, hidden_size)};
}

RnnResult RNNBase::run(const Tensor& input, const LstmState& hx) const {
  require(input.dim() == 2 || input.dim() == 3, class_name_, ": Expected input to be 2D or 3D, got ",
          input.dim(), "D instead");
  const bool batched = input.dim() == 3;
  const auto with_batch = [&](const Tensor& state) {
    if (!state.defined()) return state;
    require(state.dim() == input.dim(), class_name_, ": For ", batched ? "batched 3-D" : "unbatched 2-D",
            " input, hx should also be ", input.dim(), "-D but got ", state.dim(), "-D tensor");
    return batched ? state : unsqueeze(state, 1);
  };
  const int batch_dim = batch_first ? 0 : 1;
  const Tensor x = batched ? input : unsqueeze(input, batch_dim);
  const TensorList params = weights();
  check_input(x, 3, params[0]);
  const LstmState first = states_for(x, {with_batch(hx.h), with_batch(hx.c)}, x.size(batch_dim));
  RnnResult result = compute(x, first, params, function_options());
  if (batched) return result;
  return {squeeze(result.output, batch_dim), without_batch(result.h_n), without_batch(result.c_n)};
}

PackedRnnResult RNNBase::run(const PackedSequence& input, const LstmState& hx) const {
  require(!input.batch_sizes.empty(), class_name_, ": expected at least one sequence");
  const TensorList params = weights();
  check_input(input.data, 2, params[0]);
  const Tensor& order = input.sorted_indices;
  const LstmState first =
      states_for(input.data, {permuted(hx.h, order), permuted(hx.c, order)}, input.batch_sizes.front());
  const RnnResult result = compute(input.data, input.batch_sizes, first, params, function_options());
  PackedSequence output = input;
  output.data = result.output;
  return {output, permuted(result.h_n, input.unsorted_indices), permuted(result.c_n, input.unsorted_indices)};
}

RNN::RNN(std::int64_t inputs, std::int64_t hidden, const Options& options)
    : RNNBase("RNN", 1, inputs, hidden, options), nonlinearity(options.nonlinearity) {
  is_relu();
}

bool RNN::is_relu() const {
  require(nonlinearity == "tanh" || nonlinearity == "relu", "RNN: Unknown nonlinearity '", nonlinearity,
          "'. Select from 'tanh' or 'relu'.");
  return nonlinearity == "relu";
}

RnnResult RNN::compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                       const RnnOptions& options) const {
  return is_relu() ? rnn_relu(input, hx.h, params, options) : rnn_tanh(input, hx.h, params, options);
}

RnnResult RNN::compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                       const TensorList& params, const RnnOptions& options) const {
  return is_relu() ? rnn_relu(data, batch_sizes, hx.h, params, options)
                   : rnn_tanh(data, batch_sizes, hx.h, params, options);
}

GRU::GRU(std::int64_t inputs, std::int64_t hidden, const Options& options)
    : RNNBase("GRU", 3, inputs, hidden, options) {}

RnnResult GRU::compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                       const RnnOptions& options) const {
  return gru(input, hx.h, params, options);
}

RnnResult GRU::compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                       const TensorList& params, const RnnOptions& options) const {
  return gru(data, batch_sizes, hx.h, params, options);
}

LSTM::LSTM(std::int64_t inputs, std::int64_t hidden, const Options& options)
    : RNNBase("LSTM", 4, inputs, hidden, options, options.proj_size) {}

RnnResult LSTM::compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                        const RnnOptions& options) const {
  return lstm(input, hx, params, options);
}

RnnResult LSTM::compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                        const TensorList& params, const RnnOptions& options) const {
  return lstm(data, batch_sizes, hx, params, options);
}

RNNCellBase::RNNCellBase(std::int64_t gates, std::int64_t inputs, std::int64_t hidden, bool with_bias)
    : input_size(inputs), hidden_size(hidden), bias(with_bias) {
  require(input_size > 0 && hidden_size > 0,
          "RNNCell: input_size and hidden_size must be greater than zero, got ", input_size, " and ",
          hidden_size);
  const std::int64_t gate_size = dlprim::product({gates, hidden_size});
  register_parameter("weight_ih", weight_ih, empty({gate_size, input_size}));
  register_parameter("weight_hh", weight_hh, empty({gate_size, hidden_size}));
  register_parameter("bias_ih", bias_ih, bias ? empty({gate_size}) : Tensor());
  register_parameter("bias_hh", bias_hh, bias ? empty({gate_size}) : Tensor());
  reset_parameters();
}

void RNNCellBase::reset_parameters() {
  fill(parameters(), hidden_size);
}

std::string RNNCellBase::extra_repr() const {
  return dlprim::concat(input_size, ", ", hidden_size, bias ? "" : ", bias=False");
}

template <class Step>
LstmState RNNCellBase::step(const Tensor& input, const LstmState& hx, bool has_cell_state,
                            Step function) const {
  require(input.dim() == 1 || input.dim() == 2, name(), ": Expected input to be 1D or 2D, got ", input.dim(),
          "D instead");
  const bool batched = input.dim() == 2, is_given = hx.h.defined() || hx.c.defined();
  const Tensor x = batched ? input : unsqueeze(input, 0);
  const auto state = [&](const Tensor& given) {
    if (!is_given) return zeros({x.size(0), hidden_size}, x.dtype(), x.device());
    require(given.defined() && given.dim() == input.dim(), name(), ": Expected hidden to be ", input.dim(),
            "D as the input, got ", given.defined() ? std::to_string(given.dim()) + "D" : "none");
    return batched ? given : unsqueeze(given, 0);
  };
  const LstmState result = function(x, LstmState{state(hx.h), has_cell_state ? state(hx.c) : Tensor()});
  if (batched) return result;
  return {squeeze(result.h, 0), result.c.defined() ? squeeze(result.c, 0) : Tensor()};
}

RNNCell::RNNCell(std::int64_t inputs, std::int64_t hidden, bool with_bias, std::string given_nonlinearity)
    : RNNCellBase(1, inputs, hidden, with_bias), nonlinearity(std::move(given_nonlinearity)) {}

std::string RNNCell::extra_repr() const {
  const std::string text = RNNCellBase::extra_repr();
  return nonlinearity == "tanh" ? text : text + ", nonlinearity=" + nonlinearity;
}

Tensor RNNCell::forward(const Tensor& input, const Tensor& h) {
  require(nonlinearity == "tanh" || nonlinearity == "relu", "RNNCell: Unknown nonlinearity: ", nonlinearity);
  const auto function = nonlinearity == "relu" ? &rnn_relu_cell : &rnn_tanh_cell;
  return step(input, {h, {}}, false,
              [&](const Tensor& x, const LstmState& hx) {
                return LstmState{
                    function(x, hx.h, held(weight_ih), held(weight_hh), held(bias_ih), held(bias_hh)), {}};
              })
      .h;
}

GRUCell::GRUCell(std::int64_t inputs, std::int64_t hidden, bool with_bias)
    : RNNCellBase(3, inputs, hidden, with_bias) {}

Tensor GRUCell::forward(const Tensor& input, const Tensor& h) {
  return step(input, {h, {}}, false,
              [&](const Tensor& x, const LstmState& hx) {
                return LstmState{
                    gru_cell(x, hx.h, held(weight_ih), held(weight_hh), held(bias_ih), held(bias_hh)), {}};
              })
      .h;
}

LSTMCell::LSTMCell(std::int64_t inputs, std::int64_t hidden, bool with_bias)
    : RNNCellBase(4, inputs, hidden, with_bias) {}

LstmState LSTMCell::forward(const Tensor& input, const LstmState& hx) {
  return step(input, hx, true, [&](const Tensor& x, const LstmState& state) {
    return lstm_cell(x, state, held(weight_ih), held(weight_hh), held(bias_ih), held(bias_hh));
  });
}

}  // namespace ocl::nn
