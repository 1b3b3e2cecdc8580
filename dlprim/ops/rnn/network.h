#pragma once

#include <functional>

#include "dlprim/ops/random/random.h"
#include "dlprim/ops/rnn/rnn.h"

namespace dlprim {

/** Layers of one kind over packed rows, each in one direction or in both: torch.nn.RNN, LSTM or GRU. */
struct RnnNetwork {
  RnnCell cell;
  RnnSteps steps;
  std::int64_t num_layers = 1;
  bool is_bidirectional = false, has_biases = true, is_projecting = false;
  double dropout = 0;  // of what goes from layer to layer
  MatmulPrecision precision = MatmulPrecision::highest;

  std::int64_t directions() const { return is_bidirectional ? 2 : 1; }
  /** Parameters of one layer in one direction: w_ih, w_hh and, where there are some, b_ih, b_hh and w_hr. */
  std::int64_t params_of_one() const { return (has_biases ? 4 : 2) + (is_projecting ? 1 : 0); }
};

/** Results of a network, or their gradients, of which any may be undefined: output [rows, directions * P],
 * h_n [layers * directions, N, P], and c_n [layers * directions, N, H] of an LSTM. */
struct RnnOutputs {
  Tensor output, h_n, c_n;
};

/** Values that forward keeps for backward. */
struct RnnTrace {
  std::vector<Tensor> inputs;        // of each layer
  std::vector<RnnSaved> saved;       // of each layer and direction
  std::vector<PhiloxState> dropped;  // behind each layer but the last, where there is dropout
};

/**
 * rows [steps.rows(), inputs] and the states that sequences begin with, h [layers * directions, N, P] and c,
 * to `outputs`, which the caller gives. `params`: params_of_one() for each layer and direction. All
 * contiguous, of one floating dtype. `draw` gives the random numbers of so many elements. Throws ValueError,
 * TypeError.
 */
RnnTrace rnn_network_forward(Queue& queue, const RnnNetwork& network, const Tensor& rows,
                             const RnnState& first, const std::vector<Tensor>& params,
                             const std::function<PhiloxState(std::int64_t count)>& draw,
                             const RnnOutputs& outputs);

/**
 * Writes the gradients that are defined among `by_rows`, `by_first` and `by_params` (of the shapes of what
 * they are gradients of, contiguous) from those of the outputs.
 */
void rnn_network_backward(Queue& queue, const RnnNetwork& network, const RnnTrace& trace,
                          const std::vector<Tensor>& params, const RnnOutputs& gradients,
                          const Tensor& by_rows, const RnnState& by_first,
                          const std::vector<Tensor>& by_params);

}  // namespace dlprim
