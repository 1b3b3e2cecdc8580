#include "dlprim/ops/rnn/network.h"

namespace dlprim {
namespace {

/** Matrix `index` of a contiguous [count, rows, columns]; undefined where that is. */
Tensor matrix_of(const Tensor& t, std::int64_t index) {
  if (!t.defined()) return {};
  Tensor part = t;
  part.shape.erase(0);
  part.strides.erase(0);
  part.offset += index * t.strides[0];
  return part;
}

RnnState matrices_of(const RnnState& states, std::int64_t index) {
  return {matrix_of(states.h, index), matrix_of(states.c, index)};
}

/** `count` columns of a matrix from `first` on; undefined where that is. */
Tensor columns_of(Tensor t, std::int64_t first, std::int64_t count) {
  if (!t.defined()) return t;
  t.offset += first;
  t.shape[1] = count;
  return t;
}

/** Layer `index`, counted over layers and directions, of parameters or of their gradients. */
RnnLayer layer_of(const RnnNetwork& network, const std::vector<Tensor>& params, std::int64_t index) {
  const Tensor* own = &params[static_cast<std::size_t>(index * network.params_of_one())];
  RnnLayer layer{network.cell,     index % network.directions() == 1, own[0], own[1], {}, {}, {},
                 network.precision};
  if (network.has_biases) {
    layer.b_ih = own[2];
    layer.b_hh = own[3];
  }
  if (network.is_projecting) layer.w_hr = own[network.params_of_one() - 1];
  return layer;
}

}  // namespace

RnnTrace rnn_network_forward(Queue& queue, const RnnNetwork& network, const Tensor& rows,
                             const RnnState& first, const std::vector<Tensor>& params,
                             const std::function<PhiloxState(std::int64_t count)>& draw,
                             const RnnOutputs& outputs) {
  const std::int64_t directions = network.directions(), state = first.h.shape[2];
  RnnTrace trace;
  Tensor x = rows;
  for (std::int64_t number = 0; number < network.num_layers; ++number) {
    if (number > 0 && network.dropout > 0) {
      trace.dropped.push_back(draw(x.numel()));
      dropout(queue, x, network.dropout, trace.dropped.back(), x);
    }
    trace.inputs.push_back(x);
    const bool is_last = number == network.num_layers - 1;
    const Tensor y = is_last ? outputs.output
                             : Tensor::empty(rows.device(), {rows.shape[0], directions * state}, rows.dtype);
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t i = number * directions + direction;
      const RnnLayer layer = layer_of(network, params, i);
      trace.saved.push_back(empty_saved(rows.device(), layer, network.steps));
      rnn_forward(queue, layer, network.steps, x, matrices_of(first, i),
                  columns_of(y, direction * state, state), matrices_of({outputs.h_n, outputs.c_n}, i),
                  trace.saved.back());
    }
    x = y;
  }
  return trace;
}

void rnn_network_backward(Queue& queue, const RnnNetwork& network, const RnnTrace& trace,
                          const std::vector<Tensor>& params, const RnnOutputs& gradients,
                          const Tensor& by_rows, const RnnState& by_first,
                          const std::vector<Tensor>& by_params) {
  const std::int64_t directions = network.directions();
  Tensor dy = gradients.output;
  for (std::int64_t number = network.num_layers - 1; number >= 0; --number) {
    const Tensor& x = trace.inputs[static_cast<std::size_t>(number)];
    const Tensor dx = number == 0 ? by_rows : Tensor::empty(x.device(), x.shape, x.dtype);
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t i = number * directions + direction;
      const RnnLayer layer = layer_of(network, params, i), of_params = layer_of(network, by_params, i);
      const RnnGradients wanted{dx,
                                direction > 0,
                                of_params.w_ih,
                                of_params.w_hh,
                                of_params.b_ih,
                                of_params.b_hh,
                                of_params.w_hr,
                                matrices_of(by_first, i)};
      rnn_backward(queue, layer, network.steps, x, trace.saved[static_cast<std::size_t>(i)],
                   columns_of(dy, direction * layer.state_size(), layer.state_size()),
                   matrices_of({gradients.h_n, gradients.c_n}, i), wanted);
    }
    if (number > 0 && network.dropout > 0)
      dropout(queue, dx, network.dropout, trace.dropped[static_cast<std::size_t>(number - 1)], dx);
    dy = dx;
  }
}

}  // namespace dlprim
