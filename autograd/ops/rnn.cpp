#include "autograd/ops/rnn.h"

#include <optional>

#include "autograd/ops/call.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/generator.h"
#include "autograd/tensor/precision.h"
#include "dlprim/ops/rnn/network.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;
using dlprim::RnnCell;
using dlprim::RnnNetwork;
using dlprim::RnnOutputs;
using Raw = dlprim::Tensor;

Raw raw_of(const Tensor& t) {
  return t.defined() ? t.data() : Raw();
}
std::vector<Raw> raw_of(const TensorList& tensors) {
  std::vector<Raw> all;
  for (const Tensor& t : tensors) all.push_back(t.data());
  return all;
}

const char* node_name(RnnCell cell) {
  switch (cell) {
    case RnnCell::lstm:
      return "LstmBackward";
    case RnnCell::gru:
      return "GruBackward";
    case RnnCell::tanh:
      return "RnnTanhBackward";
    case RnnCell::relu:
      return "RnnReluBackward";
  }
  return "";
}

std::string text(const Dims& shape) {
  return dlprim::concat(shape);
}

void check_shape(const char* name, const char* what, const Tensor& t, const Dims& expected,
                 const Tensor& input) {
  require(t.defined() && t.shape() == expected, name, ": expected ", what, " of shape ", expected, ", got ",
          t.defined() ? text(t.shape()) : "none");
  require<TypeError>(t.dtype() == input.dtype(), name, ": expected ", what, " of the input's dtype ",
                     dlprim::name(input.dtype()), ", got ", dlprim::name(t.dtype()));
  require(t.device() == input.device(), name, ": expected ", what, " on the input's device ",
          input.device()->name(), ", got ", t.device()->name());
}

void check_params(const char* name, const RnnNetwork& net, const Tensor& rows, const Tensor& h,
                  std::int64_t units, const TensorList& params) {
  const std::int64_t layers = net.num_layers * net.directions();
  require(static_cast<std::int64_t>(params.size()) == layers * net.params_of_one(), name, ": expected ",
          layers * net.params_of_one(), " parameters (", net.params_of_one(),
          " for each layer and direction), got ", params.size());
  const std::int64_t gate_rows = dlprim::product({dlprim::gates_of(net.cell), units}), state = h.size(2);
  for (std::int64_t i = 0; i < layers; ++i) {
    const auto* param = &params[static_cast<std::size_t>(i * net.params_of_one())];
    const std::int64_t features = i < net.directions() ? rows.size(1) : state * net.directions();
    check_shape(name, "weight_ih", param[0], {gate_rows, features}, rows);
    check_shape(name, "weight_hh", param[1], {gate_rows, state}, rows);
    if (net.has_biases) {
      check_shape(name, "bias_ih", param[2], {gate_rows}, rows);
      check_shape(name, "bias_hh", param[3], {gate_rows}, rows);
    }
    if (net.is_projecting)
      check_shape(name, "weight_hr", param[net.params_of_one() - 1], {state, units}, rows);
  }
}

/** One layer in one direction by operators; the states begin and end as `state`, [N, …] each. */
Tensor composed_layer(const RnnNetwork& net, const Tensor& rows, const Tensor* param, bool is_reverse,
                      LstmState& state) {
  const auto bias = [&](int i) { return net.has_biases ? param[i] : Tensor(); };
  const Tensor from_rows = linear(rows, param[0], bias(2));
  TensorList outputs(static_cast<std::size_t>(net.steps.count()));
  for (int step = 0; step < net.steps.count(); ++step) {
    const int t = is_reverse ? net.steps.count() - 1 - step : step;
    const std::int64_t size = net.steps.size(t), others = state.h.size(0) - size;
    const Tensor h = narrow(state.h, 0, 0, size);
    const TensorList x = chunk(narrow(from_rows, 0, net.steps.start(t), size), dlprim::gates_of(net.cell), 1),
                     r = chunk(linear(h, param[1], bias(3)), dlprim::gates_of(net.cell), 1);
    // Sequences that are shorter keep their states.
    const auto advance = [&](Tensor& whole, const Tensor& made) {
      whole = others ? cat({made, narrow(whole, 0, size, others)}, 0) : made;
    };
    Tensor made;
    if (net.cell == RnnCell::lstm) {
      const Tensor c =
          sigmoid(x[1] + r[1]) * narrow(state.c, 0, 0, size) + sigmoid(x[0] + r[0]) * tanh(x[2] + r[2]);
      made = sigmoid(x[3] + r[3]) * tanh(c);
      if (net.is_projecting) made = linear(made, param[net.params_of_one() - 1], {});
      advance(state.c, c);
    } else if (net.cell == RnnCell::gru) {
      const Tensor update = sigmoid(x[1] + r[1]), fresh = tanh(x[2] + sigmoid(x[0] + r[0]) * r[2]);
      made = fresh + update * (h - fresh);
    } else {
      made = net.cell == RnnCell::tanh ? tanh(x[0] + r[0]) : relu(x[0] + r[0]);
    }
    advance(state.h, made);
    outputs[static_cast<std::size_t>(t)] = made;
  }
  return cat(outputs, 0);
}

/** The network by operators: output, h_n and, of an LSTM, c_n. `inputs` are rows, h, c and the parameters. */
TensorList composed_network(const RnnNetwork& net, const TensorList& inputs,
                            const std::vector<dlprim::PhiloxState>& dropped) {
  Tensor x = inputs[0];
  TensorList last_h, last_c;
  for (std::int64_t layer = 0; layer < net.num_layers; ++layer) {
    if (layer > 0 && net.dropout > 0) {
      const auto mask =
          on_contiguous(x.shape(), [p = net.dropout, state = dropped[static_cast<std::size_t>(layer - 1)]](
                                       dlprim::Queue& queue, const Raw& from, const Raw& kept) {
            dlprim::dropout(queue, from, p, state, kept);
          });
      x = apply_linear("DropoutBackward", x, mask, mask);
    }
    TensorList outputs;
    for (std::int64_t direction = 0; direction < net.directions(); ++direction) {
      const std::int64_t i = layer * net.directions() + direction;
      LstmState state{select(inputs[1], 0, i), inputs[2].defined() ? select(inputs[2], 0, i) : Tensor()};
      outputs.push_back(composed_layer(net, x, &inputs[static_cast<std::size_t>(3 + i * net.params_of_one())],
                                       direction == 1, state));
      last_h.push_back(state.h);
      last_c.push_back(state.c);
    }
    x = cat(outputs, 1);
  }
  TensorList results{x, stack(last_h, 0)};
  if (inputs[2].defined()) results.push_back(stack(last_c, 0));
  return results;
}

Raw contiguous_gradient(const Tensor& g) {
  return raw_of(contiguous_or_none(g));
}

/** rows [sum of sizes, features] -> output [rows, directions * P], last states. `c` is an LSTM's. */
RnnResult recurrent(const char* name, RnnCell cell, const Tensor& given_rows,
                    const std::vector<std::int64_t>& sizes, const LstmState& hx,
                    const TensorList& given_params, const RnnOptions& options) {
  dlprim::require_floating(given_rows.dtype(), *given_rows.device(), name);
  require(options.dropout >= 0 && options.dropout <= 1, name,
          ": dropout probability has to be between 0 and 1, but got ", options.dropout);
  require(options.num_layers > 0, name, ": num_layers must be greater than zero, got ", options.num_layers);
  require(hx.h.defined() && hx.h.dim() == 3 && (cell != RnnCell::lstm || (hx.c.defined() && hx.c.dim() == 3)),
          name, ": expected states of 3 dimensions [layers * directions, N, H]");
  const std::int64_t state = hx.h.size(2), units = cell == RnnCell::lstm ? hx.c.size(2) : state;
  const RnnNetwork net{cell,
                       dlprim::RnnSteps(sizes),
                       options.num_layers,
                       options.bidirectional,
                       options.has_biases,
                       state != units,
                       options.train ? options.dropout : 0,
                       float32_matmul_precision()};
  require(given_rows.size(0) == net.steps.rows(), name, ": expected ", net.steps.rows(),
          " rows, the sum of batch_sizes, got ", given_rows.size(0));
  const std::int64_t layers = dlprim::product({options.num_layers, net.directions()});
  check_shape(name, cell == RnnCell::lstm ? "hx[0]" : "hx", hx.h, {layers, sizes[0], state}, given_rows);
  if (cell == RnnCell::lstm) check_shape(name, "hx[1]", hx.c, {layers, sizes[0], units}, given_rows);
  check_params(name, net, given_rows, hx.h, units, given_params);

  const Tensor rows = contiguous(given_rows), h = contiguous(hx.h), c = contiguous_or_none(hx.c);
  TensorList params;
  for (const Tensor& param : given_params) params.push_back(contiguous(param));
  dlprim::Device& device = *rows.device();
  std::vector<Raw> outputs{Raw::empty(device, {rows.size(0), net.directions() * state}, rows.dtype()),
                           Raw::empty(device, h.shape(), rows.dtype())};
  if (c.defined()) outputs.push_back(Raw::empty(device, c.shape(), rows.dtype()));
  const dlprim::RnnTrace trace = dlprim::rnn_network_forward(
      device.queue(), net, rows.data(), {h.data(), raw_of(c)}, raw_of(params),
      [&](std::int64_t count) { return default_generator(rows.device()).next(count); },
      {outputs[0], outputs[1], c.defined() ? outputs[2] : Raw()});
  TensorList inputs{rows, h, c};
  inputs.insert(inputs.end(), params.begin(), params.end());
  const TensorList results = record_many(node_name(cell), inputs, outputs, [&] {
    std::vector<SavedTensor> saved;
    for (const Tensor& param : params) saved.emplace_back(param);
    return [net, trace, params = std::move(saved), input = SavedTensor(rows), first_h = SavedTensor(h),
            first_c = SavedTensor(c), h_shape = h.shape(),
            c_shape = c.defined() ? c.shape() : Dims()](const TensorList& g) {
      if (grad_enabled()) {
        TensorList given{input.input(0), first_h.input(1), first_c.input(2)};
        for (std::size_t i = 0; i < params.size(); ++i) given.push_back(params[i].input(3 + i));
        return gradients_by_composition(
            given, g, [&](const TensorList& own) { return composed_network(net, own, trace.dropped); });
      }
      input.unpack();  // which `trace` has too: this notices a write
      TensorList made;
      const auto room = [&](const Dims& shape) {
        const bool is_wanted = gradient_is_wanted(made.size());
        made.push_back(is_wanted ? Tensor(Raw::empty(input.unpack().device(), shape, input.unpack().dtype))
                                 : Tensor());
        return raw_of(made.back());
      };
      const Raw by_rows = room(input.unpack().shape);
      const dlprim::RnnState by_first{room(h_shape), room(c_shape)};
      std::vector<Raw> own, by_params;
      for (const SavedTensor& param : params) {
        own.push_back(param.unpack());
        by_params.push_back(room(own.back().shape));
      }
      dlprim::rnn_network_backward(input.unpack().device().queue(), net, trace, own,
                                   {contiguous_gradient(g[0]), contiguous_gradient(g[1]),
                                    g.size() > 2 ? contiguous_gradient(g[2]) : Raw()},
                                   by_rows, by_first, by_params);
      return made;
    };
  });
  return {results[0], results[1], results.size() > 2 ? results[2] : Tensor()};
}

RnnResult over_packed(const char* name, RnnCell cell, const Tensor& data,
                      const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                      const TensorList& params, const RnnOptions& options) {
  ENTER_OPERATOR_NAMED(name, over_packed(name, cell, rewritten...), data, batch_sizes, hx, params, options);
  require(data.dim() == 2, name, ": expected packed data of 2 dimensions, got shape ", data.shape());
  for (const std::int64_t size : batch_sizes)
    require(size > 0, name, ": expected batch sizes greater than 0, got ", size);
  return recurrent(name, cell, data, batch_sizes, hx, params, options);
}

RnnResult over_padded(const char* name, RnnCell cell, const Tensor& input, const LstmState& hx,
                      const TensorList& params, const RnnOptions& options) {
  ENTER_OPERATOR_NAMED(name, over_padded(name, cell, rewritten...), input, hx, params, options);
  require(input.dim() == 3, name, ": expected an input of 3 dimensions, got shape ", input.shape());
  const Tensor x = options.batch_first ? transpose(input, 0, 1) : input;
  const std::int64_t count = x.size(0), batch = x.size(1);
  require(count > 0, name, ": Expected sequence length to be larger than 0 in RNN");
  RnnResult result =
      recurrent(name, cell, reshape(x, {count * batch, x.size(2)}),
                std::vector<std::int64_t>(static_cast<std::size_t>(count), batch), hx, params, options);
  result.output = reshape(result.output, {count, batch, result.output.size(1)});
  if (options.batch_first) result.output = transpose(result.output, 0, 1);
  return result;
}

LstmState one_step(const char* name, RnnCell cell, const Tensor& input, const LstmState& hx,
                   const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  ENTER_OPERATOR_NAMED(name, one_step(name, cell, rewritten...), input, hx, w_ih, w_hh, b_ih, b_hh);
  require(input.dim() == 2, name, ": expected an input of 2 dimensions, got shape ", input.shape());
  require(b_ih.defined() == b_hh.defined(), name, ": b_ih and b_hh go together");
  const auto layered = [&](const Tensor& t) {
    require(!t.defined() || t.dim() == 2, name, ": expected states of 2 dimensions [N, H]");
    return t.defined() ? unsqueeze(t, 0) : t;
  };
  RnnOptions options;
  options.has_biases = b_ih.defined();
  TensorList params{w_ih, w_hh};
  if (b_ih.defined()) params.insert(params.end(), {b_ih, b_hh});
  const RnnResult result =
      recurrent(name, cell, input, {input.size(0)}, {layered(hx.h), layered(hx.c)}, params, options);
  return {select(result.h_n, 0, 0), result.c_n.defined() ? select(result.c_n, 0, 0) : Tensor()};
}

}  // namespace

RnnResult lstm(const Tensor& input, const LstmState& hx, const TensorList& params,
               const RnnOptions& options) {
  return over_padded("lstm", RnnCell::lstm, input, hx, params, options);
}
RnnResult lstm(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
               const TensorList& params, const RnnOptions& options) {
  return over_packed("lstm", RnnCell::lstm, data, batch_sizes, hx, params, options);
}
LstmState lstm_cell(const Tensor& input, const LstmState& hx, const Tensor& w_ih, const Tensor& w_hh,
                    const Tensor& b_ih, const Tensor& b_hh) {
  require(hx.h.defined() && hx.c.defined() && hx.h.shape() == hx.c.shape(),
          "lstm_cell: expected h and c of one shape");
  return one_step("lstm_cell", RnnCell::lstm, input, hx, w_ih, w_hh, b_ih, b_hh);
}

#define ONE_STATE_FUNCTIONS(name, cell)                                                              \
  RnnResult name(const Tensor& input, const Tensor& hx, const TensorList& params,                    \
                 const RnnOptions& options) {                                                        \
    return over_padded(#name, cell, input, {hx, {}}, params, options);                               \
  }                                                                                                  \
  RnnResult name(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const Tensor& hx, \
                 const TensorList& params, const RnnOptions& options) {                              \
    return over_packed(#name, cell, data, batch_sizes, {hx, {}}, params, options);                   \
  }                                                                                                  \
  Tensor name##_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,  \
                     const Tensor& b_ih, const Tensor& b_hh) {                                       \
    return one_step(#name "_cell", cell, input, {hx, {}}, w_ih, w_hh, b_ih, b_hh).h;                 \
  }
ONE_STATE_FUNCTIONS(gru, RnnCell::gru)
ONE_STATE_FUNCTIONS(rnn_tanh, RnnCell::tanh)
ONE_STATE_FUNCTIONS(rnn_relu, RnnCell::relu)
#undef ONE_STATE_FUNCTIONS

}  // namespace ocl
