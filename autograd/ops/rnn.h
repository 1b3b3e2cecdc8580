#pragma once

#include <tuple>

#include "autograd/tensor/tensor.h"
#include "dlprim/core/fields.h"

namespace ocl {

/** Arguments of torch's recurrent functions beside their tensors, by their names. */
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
  LstmState() = default;
  LstmState(Tensor hidden, Tensor cell) : h(std::move(hidden)), c(std::move(cell)) {}
  LstmState(const std::tuple<Tensor, Tensor>& both) : LstmState(std::get<0>(both), std::get<1>(both)) {}

  Tensor h, c;
  FIELDS(h, c)
};

#include "autograd/ops/declare.def"

#include "autograd/ops/rnn.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
