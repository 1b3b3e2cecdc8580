#include "nn/modules/rnn.h"

#include <cmath>

#include "autograd/ops/index.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::require;

void fill(const TensorList& parameters, std::int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (Tensor parameter : parameters) init::uniform_(parameter, -bound, bound);
}

Tensor permuted(const Tensor& state, const Tensor& order) {
  return state.defined() && order.defined() ? index_select(state, 1, order) : state;
}

Tensor without_batch(const Tensor& state) {
  return state.defined() ? squeeze(state, 1) : state;
}

/** Empty for nothing; a tensor, or (h, c) of a module that has a cell state. */
LstmState state_in(const Value& value, bool has_cell_state, const std::string& what) {
  if (value.is_none()) return {};
  if (!has_cell_state) return {value.tensor(what), {}};
  const Value::Sequence both = value.sequence();
  require<TypeError>(both.size() == 2, what, " must be a tuple of two Tensors, got ", value.kind());
  return {both[0].tensor(what), both[1].tensor(what)};
}

Value value_of(const LstmState& state) {
  if (!state.c.defined()) return state.h;
  return Value::Sequence{state.h, state.c};
}

/** For each layer and direction. */
std::vector<std::vector<std::string>> names_of(const RecurrentSettings& s) {
  std::vector<std::vector<std::string>> all;
  for (std::int64_t layer = 0; layer < s.num_layers; ++layer)
    for (const char* suffix : {"", "_reverse"}) {
      if (*suffix && !s.bidirectional) continue;
      std::vector<std::string> names{"weight_ih_l", "weight_hh_l"};
      if (s.bias) names.insert(names.end(), {"bias_ih_l", "bias_hh_l"});
      if (s.proj_size > 0) names.emplace_back("weight_hr_l");
      for (std::string& name : names) name += std::to_string(layer) + suffix;
      all.push_back(std::move(names));
    }
  return all;
}

/** The results of the layer on a tensor or, with batch sizes, on packed data. */
template <class... Input>
RnnResult computed(const RecurrentSettings& s, bool is_training, const LstmState& hx,
                   const TensorList& params, const Input&... input) {
  const RnnOptions options{s.bias, s.num_layers, s.dropout, is_training, s.bidirectional, s.batch_first};
  if (s.mode == "LSTM") return lstm(input..., hx, params, options);
  if (s.mode == "GRU") return gru(input..., hx.h, params, options);
  return s.mode == "RNN_RELU" ? rnn_relu(input..., hx.h, params, options)
                              : rnn_tanh(input..., hx.h, params, options);
}

}  // namespace

std::string dropout_warning(double dropout, std::int64_t num_layers) {
  if (dropout <= 0 || num_layers != 1) return "";
  return dlprim::concat(
      "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
      "num_layers greater than 1, but got dropout=",
      float_repr(dropout), " and num_layers=", num_layers);
}

std::string RNNOptions::mode() const {
  require(nonlinearity_ == "tanh" || nonlinearity_ == "relu", "RNN: Unknown nonlinearity '", nonlinearity_,
          "'. Select from 'tanh' or 'relu'.");
  return nonlinearity_ == "relu" ? "RNN_RELU" : "RNN_TANH";
}

void RNNBase::make_parameters(const char* layer, const RecurrentSettings& s) {
  require(s.dropout >= 0 && s.dropout <= 1, layer,
          ": dropout should be a number in range [0, 1] representing the probability of an element being "
          "zeroed, got ",
          s.dropout);
  require(s.input_size > 0, layer, ": input_size must be greater than zero, got ", s.input_size);
  require(s.hidden_size > 0, layer, ": hidden_size must be greater than zero, got ", s.hidden_size);
  require(s.num_layers > 0, layer, ": num_layers must be greater than zero, got ", s.num_layers);
  require(s.proj_size >= 0, layer,
          ": proj_size should be a positive integer or zero to disable projections, got ", s.proj_size);
  require(s.proj_size < s.hidden_size, layer, ": proj_size has to be smaller than hidden_size, got ",
          s.proj_size, " and ", s.hidden_size);
  const std::int64_t gates = s.mode == "LSTM" ? 4 : s.mode == "GRU" ? 3 : 1;
  const std::int64_t gate_size = dlprim::product({gates, s.hidden_size});
  const auto names = names_of(s);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_first = static_cast<std::int64_t>(i) < s.directions();
    register_parameter(names[i][0],
                       made({gate_size, is_first ? s.input_size : s.state_size() * s.directions()}));
    register_parameter(names[i][1], made({gate_size, s.state_size()}));
    if (s.bias) {
      register_parameter(names[i][2], made({gate_size}));
      register_parameter(names[i][3], made({gate_size}));
    }
    if (s.proj_size > 0) register_parameter(names[i].back(), made({s.proj_size, s.hidden_size}));
  }
  if (!FactoryScope::is_hollow()) fill(parameters(), s.hidden_size);
}

std::vector<std::vector<std::string>> RNNBase::all_weight_names() const {
  return names_of(settings());
}

void RNNBase::reset_parameters() {
  fill(parameters(), settings().hidden_size);
}

std::string RNNBase::extra_repr() const {
  const RecurrentSettings s = settings();
  std::string text = dlprim::concat(s.input_size, ", ", s.hidden_size);
  if (s.proj_size != 0) text += dlprim::concat(", proj_size=", s.proj_size);
  if (s.num_layers != 1) text += dlprim::concat(", num_layers=", s.num_layers);
  if (!s.bias) text += ", bias=False";
  if (s.batch_first) text += ", batch_first=True";
  if (s.dropout != 0) text += ", dropout=" + float_repr(s.dropout);
  if (s.bidirectional) text += ", bidirectional=True";
  return text;
}

TensorList RNNBase::weights(const RecurrentSettings& s) const {
  TensorList all;
  for (const auto& names : names_of(s))
    for (const std::string& weight_name : names) {
      const std::optional<Tensor> weight = own_parameter(weight_name);
      require(weight && weight->defined(), name(), ": there is no parameter '", weight_name, "'");
      all.push_back(*weight);
    }
  return all;
}

void RNNBase::check_input(const RecurrentSettings& s, const Tensor& input, int rank,
                          const Tensor& weight) const {
  require(input.dtype() == weight.dtype(), name(), ": RNN input dtype (", dlprim::name(input.dtype()),
          ") does not match weight dtype (", dlprim::name(weight.dtype()), ")");
  require(input.dim() == rank, name(), ": input must have ", rank, " dimensions, got ", input.dim());
  require(input.size(-1) == s.input_size, name(), ": input.size(-1) must be equal to input_size. Expected ",
          s.input_size, ", got ", input.size(-1));
}

LstmState RNNBase::states_for(const RecurrentSettings& s, const Tensor& input, const LstmState& hx,
                              std::int64_t batch) const {
  const bool is_given = hx.h.defined() || hx.c.defined();
  const auto state = [&](const char* what, const Tensor& given, std::int64_t size) {
    const Dims expected{s.num_layers * s.directions(), batch, size};
    if (!is_given) return zeros(expected.vector(), input.dtype(), input.device());
    require(given.defined() && given.shape() == expected, name(), ": Expected ", what, " size ", expected,
            ", got ", given.defined() ? dlprim::concat(given.shape()) : "none");
    return given;
  };
  if (s.mode != "LSTM") return {state("hidden", hx.h, s.state_size()), {}};
  return {state("hidden[0]", hx.h, s.state_size()), state("hidden[1]", hx.c, s.hidden_size)};
}

RnnResult RNNBase::run(const Tensor& input, const LstmState& hx) const {
  const RecurrentSettings s = settings();
  require(input.dim() == 2 || input.dim() == 3, name(), ": Expected input to be 2D or 3D, got ", input.dim(),
          "D instead");
  const bool batched = input.dim() == 3;
  const auto with_batch = [&](const Tensor& state) {
    if (!state.defined()) return state;
    require(state.dim() == input.dim(), name(), ": For ", batched ? "batched 3-D" : "unbatched 2-D",
            " input, hx should also be ", input.dim(), "-D but got ", state.dim(), "-D tensor");
    return batched ? state : unsqueeze(state, 1);
  };
  const int batch_dim = s.batch_first ? 0 : 1;
  const Tensor x = batched ? input : unsqueeze(input, batch_dim);
  const TensorList params = weights(s);
  check_input(s, x, 3, params[0]);
  const LstmState first = states_for(s, x, {with_batch(hx.h), with_batch(hx.c)}, x.size(batch_dim));
  const RnnResult result = computed(s, is_training(), first, params, x);
  if (batched) return result;
  return {squeeze(result.output, batch_dim), without_batch(result.h_n), without_batch(result.c_n)};
}

PackedRnnResult RNNBase::run(const PackedSequence& input, const LstmState& hx) const {
  require(!input.batch_sizes.empty(), name(), ": expected at least one sequence");
  const RecurrentSettings s = settings();
  const TensorList params = weights(s);
  check_input(s, input.data, 2, params[0]);
  const Tensor& order = input.sorted_indices;
  const LstmState first =
      states_for(s, input.data, {permuted(hx.h, order), permuted(hx.c, order)}, input.batch_sizes.front());
  const RnnResult result = computed(s, is_training(), first, params, input.data, input.batch_sizes);
  PackedSequence output = input;
  output.data = result.output;
  return {output, permuted(result.h_n, input.unsorted_indices), permuted(result.c_n, input.unsorted_indices)};
}

Value RNNBase::call(const Arguments& arguments) {
  const Value::Sequence given = arguments.matched(name(), {"input", "hx"});
  const RnnResult result = run(given[0].tensor("the input of " + name()),
                               state_in(given[1], settings().mode == "LSTM", "hx of " + name()));
  return Value::Sequence{result.output, value_of({result.h_n, result.c_n})};
}

RnnResult RNNBase::called(const Tensor& input, const LstmState& hx) {
  const std::string what = "the output of " + name();
  const Value::Sequence result = Module::operator()(Arguments{{input, value_of(hx)}, {}}).sequence();
  require<TypeError>(result.size() == 2, what, " must be two values, got ", result.size());
  const LstmState last = state_in(result[1], settings().mode == "LSTM", what);
  return {result[0].tensor(what), last.h, last.c};
}

void RNNCellBase::make_parameters(const char* layer, std::int64_t gates, std::int64_t input_size,
                                  std::int64_t hidden_size, bool bias) {
  require(input_size >= 0 && hidden_size >= 0, layer,
          ": input_size and hidden_size must not be negative, got ", input_size, " and ", hidden_size);
  const std::int64_t gate_size = dlprim::product({gates, hidden_size});
  register_parameter("weight_ih", weight_ih, made({gate_size, input_size}));
  register_parameter("weight_hh", weight_hh, made({gate_size, hidden_size}));
  register_parameter("bias_ih", bias_ih, bias ? made({gate_size}) : Tensor());
  register_parameter("bias_hh", bias_hh, bias ? made({gate_size}) : Tensor());
  if (!FactoryScope::is_hollow()) fill(parameters(), hidden_size);
}

void RNNCellBase::reset_parameters() {
  fill(parameters(), held(weight_hh).size(1));
}

LstmState RNNCellBase::run(const Tensor& input, const LstmState& hx) const {
  require(input.dim() == 1 || input.dim() == 2, name(), ": Expected input to be 1D or 2D, got ", input.dim(),
          "D instead");
  const bool batched = input.dim() == 2, is_given = hx.h.defined() || hx.c.defined();
  const Tensor x = batched ? input : unsqueeze(input, 0);
  const auto state = [&](const Tensor& given) {
    if (!is_given) return zeros({x.size(0), held(weight_hh).size(1)}, x.dtype(), x.device());
    require(given.defined() && given.dim() == input.dim(), name(), ": Expected hidden to be ", input.dim(),
            "D as the input, got ", given.defined() ? std::to_string(given.dim()) + "D" : "none");
    return batched ? given : unsqueeze(given, 0);
  };
  const LstmState result = step(x, {state(hx.h), has_cell_state() ? state(hx.c) : Tensor()});
  if (batched) return result;
  return {squeeze(result.h, 0), result.c.defined() ? squeeze(result.c, 0) : Tensor()};
}

Value RNNCellBase::call(const Arguments& arguments) {
  const Value::Sequence given = arguments.matched(name(), {"input", "hx"});
  return value_of(run(given[0].tensor("the input of " + name()),
                      state_in(given[1], has_cell_state(), "hx of " + name())));
}

LstmState RNNCellBase::called(const Tensor& input, const LstmState& hx) {
  return state_in(Module::operator()(Arguments{{input, value_of(hx)}, {}}), has_cell_state(),
                  "the output of " + name());
}

std::string RNNCell::extra_repr() const {
  const std::string text = RecurrentCell::extra_repr(), nonlinearity = options().nonlinearity();
  return nonlinearity == "tanh" ? text : text + ", nonlinearity=" + nonlinearity;
}

LstmState RNNCell::step(const Tensor& x, const LstmState& hx) const {
  const std::string nonlinearity = options().nonlinearity();
  require(nonlinearity == "tanh" || nonlinearity == "relu", "RNNCell: Unknown nonlinearity: ", nonlinearity);
  const auto function = nonlinearity == "relu" ? &rnn_relu_cell : &rnn_tanh_cell;
  return {function(x, hx.h, held(weight_ih), held(weight_hh), held(bias_ih), held(bias_hh)), {}};
}

LstmState GRUCell::step(const Tensor& x, const LstmState& hx) const {
  return {gru_cell(x, hx.h, held(weight_ih), held(weight_hh), held(bias_ih), held(bias_hh)), {}};
}

LstmState LSTMCell::step(const Tensor& x, const LstmState& hx) const {
  return lstm_cell(x, hx, held(weight_ih), held(weight_hh), held(bias_ih), held(bias_hh));
}

}  // namespace ocl::nn
