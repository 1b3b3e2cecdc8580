#pragma once

#include "autograd/tensor/tensor.h"
#include "dlprim/core/fields.h"

namespace ocl {

/** What torch's recurrent functions take beside their tensors, by their names. */
struct RnnOptions {
  bool has_biases = true;
  std::int64_t num_layers = 1;
  double dropout = 0;  // between layers, in training
  bool train = false;
  bool bidirectional = false;
  bool batch_first = false;
  FIELDS(has_biases, num_layers, dropout, train, bidirectional, batch_first)
};

/** h_n: [layers * directions, N, H]; c_n likewise, of an LSTM alone. */
struct RnnResult {
  Tensor output, h_n, c_n;
};

/** States that an LSTM begins with, or has: h and c. */
struct LstmState {
  Tensor h, c;
  FIELDS(h, c)
};

/**
 * torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu: input [T, N, features] ([N, T, features] with
 * batch_first) -> output [T, N, directions * H]. hx: [layers * directions, N, H]. params: for each layer and
 * direction weight_ih, weight_hh and, with biases, bias_ih, bias_hh; an LSTM whose h is smaller than its c
 * projects, and then has weight_hr last. The whole is one node of the tape. Throws ValueError, TypeError.
 */
RnnResult lstm(const Tensor& input, const LstmState& hx, const TensorList& params, const RnnOptions& options);
RnnResult gru(const Tensor& input, const Tensor& hx, const TensorList& params, const RnnOptions& options);
RnnResult rnn_tanh(const Tensor& input, const Tensor& hx, const TensorList& params,
                   const RnnOptions& options);
RnnResult rnn_relu(const Tensor& input, const Tensor& hx, const TensorList& params,
                   const RnnOptions& options);

/** The same on sequences packed by nn::utils::rnn: data [sum of batch_sizes, features], where batch_sizes[t]
 * sequences have a step t. */
RnnResult lstm(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
               const TensorList& params, const RnnOptions& options);
RnnResult gru(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const Tensor& hx,
              const TensorList& params, const RnnOptions& options);
RnnResult rnn_tanh(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const Tensor& hx,
                   const TensorList& params, const RnnOptions& options);
RnnResult rnn_relu(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const Tensor& hx,
                   const TensorList& params, const RnnOptions& options);

/** torch.lstm_cell and so on: one step of input [N, features] and states [N, H]. The biases go together. */
LstmState lstm_cell(const Tensor& input, const LstmState& hx, const Tensor& w_ih, const Tensor& w_hh,
                    const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});

}  // namespace ocl
