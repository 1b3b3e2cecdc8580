#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "aten/transforms.h"

/** \file Cells of LSTM and GRU, which PyTorch asks devices other than CPUs for at each step. Each keeps in
 * its workspace, [batch, n * units], what its gradient needs. */

namespace torch_ocl {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

bool is_there(const MaybeTensor& t) {
  return t && t->defined();
}

at::Tensor with_bias(const at::Tensor& gates, const MaybeTensor& bias) {
  return is_there(bias) ? gates + *bias : gates;
}

at::Tensor sum_of_rows(const at::Tensor& gates, bool has_bias) {
  return has_bias ? gates.sum(0) : at::Tensor();
}

// ---- LSTM (Hochreiter and Schmidhuber, 1997)

/** The new state, the new cell, and the activated gates (input, forget, cell, output). */
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                         const at::Tensor& hidden_gates, const at::Tensor& cx,
                                                         const MaybeTensor& input_bias,
                                                         const MaybeTensor& hidden_bias) {
  const auto gates = (with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias)).chunk(4, 1);
  const at::Tensor in = gates[0].sigmoid(), forget = gates[1].sigmoid(), cell = gates[2].tanh(),
                   out = gates[3].sigmoid();
  const at::Tensor cy = forget * cx + in * cell;
  return {out * cy.tanh(), cy, at::cat({in, forget, cell, out}, 1)};
}

/** Gradients by the gates, the cell, and the sum of the biases. */
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(const MaybeTensor& grad_hy,
                                                                  const MaybeTensor& grad_cy,
                                                                  const at::Tensor& cx, const at::Tensor& cy,
                                                                  const at::Tensor& workspace,
                                                                  bool has_bias) {
  if (!is_there(grad_hy) && !is_there(grad_cy)) return {};
  const auto gates = workspace.chunk(4, 1);
  const at::Tensor &in = gates[0], &forget = gates[1], &cell = gates[2], &out = gates[3];
  const at::Tensor squashed = cy.tanh();
  const at::Tensor by_hidden = is_there(grad_hy) ? *grad_hy : at::zeros_like(cy);
  at::Tensor by_cell = at::tanh_backward(by_hidden * out, squashed);
  if (is_there(grad_cy)) by_cell = by_cell + *grad_cy;
  const at::Tensor by_gates =
      at::cat({at::sigmoid_backward(by_cell * cell, in), at::sigmoid_backward(by_cell * cx, forget),
               at::tanh_backward(by_cell * in, cell), at::sigmoid_backward(by_hidden * squashed, out)},
              1);
  return {by_gates, by_cell * forget, sum_of_rows(by_gates, has_bias)};
}

// ---- GRU (Cho et al., 2014)

/** The new state; and the activated gates (reset, update, new), the state, and the new gate's product with
 * it. */
std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                            const at::Tensor& hx, const MaybeTensor& input_bias,
                                            const MaybeTensor& hidden_bias) {
  const auto by_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto by_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = (by_input[0] + by_hidden[0]).sigmoid(),
                   update = (by_input[1] + by_hidden[1]).sigmoid(),
                   fresh = (by_input[2] + reset * by_hidden[2]).tanh();
  return {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, by_hidden[2]}, 1)};
}

/** Gradients by both products, the state and both biases. */
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const auto kept = workspace.chunk(5, 1);
  const at::Tensor &reset = kept[0], &update = kept[1], &fresh = kept[2], &hx = kept[3], &product = kept[4];
  const at::Tensor by_fresh = at::tanh_backward(grad_hy - grad_hy * update, fresh),
                   by_update = at::sigmoid_backward(grad_hy * (hx - fresh), update),
                   by_reset = at::sigmoid_backward(by_fresh * product, reset);
  const at::Tensor by_input = at::cat({by_reset, by_update, by_fresh}, 1),
                   by_hidden = at::cat({by_reset, by_update, by_fresh * reset}, 1);
  return {by_input, by_hidden, grad_hy * update, sum_of_rows(by_input, has_bias),
          sum_of_rows(by_hidden, has_bias)};
}

// The cells are made of differentiable operators, which PyTorch's own derivatives of them are not in forward
// mode.

std::optional<std::tuple<at::Tensor, at::Tensor, at::Tensor>> lstm_cell_in_forward_mode(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
    const MaybeTensor& input_bias, const MaybeTensor& hidden_bias) {
  if (!any_has_tangent({input_gates, hidden_gates, cx, input_bias, hidden_bias})) return std::nullopt;
  return lstm_cell(input_gates, hidden_gates, cx, input_bias, hidden_bias);
}

std::optional<std::tuple<at::Tensor, at::Tensor>> gru_cell_in_forward_mode(const at::Tensor& input_gates,
                                                                           const at::Tensor& hidden_gates,
                                                                           const at::Tensor& hx,
                                                                           const MaybeTensor& input_bias,
                                                                           const MaybeTensor& hidden_bias) {
  if (!any_has_tangent({input_gates, hidden_gates, hx, input_bias, hidden_bias})) return std::nullopt;
  return gru_cell(input_gates, hidden_gates, hx, input_bias, hidden_bias);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  Derivatives m(library);
  m.impl("_thnn_fused_lstm_cell", &lstm_cell_in_forward_mode);
  m.impl("_thnn_fused_gru_cell", &gru_cell_in_forward_mode);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace
}  // namespace torch_ocl
