#pragma once

#include <vector>

#include "dlprim/core/fields.h"
#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** The step of a recurrent layer: Elman's with tanh or relu, Hochreiter and Schmidhuber's (1997),
 * Cho's (2014). */
enum class RnnCell { tanh, relu, lstm, gru };

/** Blocks of rows in its weights: 1, 1, 4 (input, forget, cell, output), 3 (reset, update, new). */
int gates_of(RnnCell cell);

/**
 * Sequences of one batch, packed. Step t is the rows [start(t), start(t) + size(t)) of a tensor. The sizes do
 * not grow, so that row i of a step continues row i of the step before.
 */
class RnnSteps {
 public:
  /** Throws ValueError for no steps, and for sizes that are negative or grow. */
  explicit RnnSteps(std::vector<std::int64_t> sizes);

  int count() const { return static_cast<int>(sizes_.size()); }
  /** Rows of step t; 0 beyond either end. */
  std::int64_t size(int t) const { return t < 0 || t >= count() ? 0 : sizes_[static_cast<std::size_t>(t)]; }
  std::int64_t start(int t) const { return starts_[static_cast<std::size_t>(t)]; }
  std::int64_t rows() const { return starts_.back(); }
  FIELDS(sizes_, starts_)

 private:
  std::vector<std::int64_t> sizes_, starts_;
};

/** One layer in one direction. All tensors have one floating dtype and are contiguous, H units, a state of P
 * = H (or the projection's size) elements. */
struct RnnLayer {
  RnnCell cell;
  bool is_reverse;          // from the last step to the first
  Tensor w_ih, w_hh;        // [gates * H, inputs], [gates * H, P]
  Tensor b_ih, b_hh, w_hr;  // [gates * H] or undefined; [P, H] of a projecting LSTM, or undefined
  MatmulPrecision precision = MatmulPrecision::highest;

  std::int64_t units() const { return w_hh.shape[0] / gates_of(cell); }
  std::int64_t state_size() const { return w_hh.shape[1]; }
  FIELDS(cell, is_reverse, w_ih, w_hh, b_ih, b_hh, w_hr, precision)
};

/** Values that forward keeps for backward. */
struct RnnSaved {
  Tensor gates;     // [rows, gates * H], activated
  Tensor h_prev;    // [rows, P], the state before each step
  Tensor c_prev;    // LSTM: [rows, H], likewise
  Tensor hidden_n;  // GRU: [rows, H], the new gate's product with the state
  Tensor raw;       // with a projection: [rows, H], what is projected
  FIELDS(gates, h_prev, c_prev, hidden_n, raw)
};

/** Memory for what forward keeps of that layer; its contents are undefined. */
RnnSaved empty_saved(Device& device, const RnnLayer& layer, const RnnSteps& steps);

/** States, or their gradients: h [N, P], and c [N, H] of an LSTM; any may be undefined among gradients. */
struct RnnState {
  Tensor h, c;
  FIELDS(h, c)
};

/**
 * One layer of torch.nn.RNN, LSTM or GRU in one direction.
 *
 * x [rows, inputs] -> output [rows, P], which may be some columns of a wider tensor; `first` the states that
 * rows begin with, `last` (written) those they end with. Values that backward needs go to
 * `saved` (empty_saved). The product with x is one GEMM over all steps; a
 * step is one kernel on a CPU, and a GEMM and a kernel otherwise (with a projection twice that). Throws
 * ValueError, TypeError.
 */
void rnn_forward(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const Tensor& x,
                 const RnnState& first, const Tensor& output, const RnnState& last, const RnnSaved& saved);

/** Where the gradients go; what is undefined is not computed. */
struct RnnGradients {
  Tensor dx;             // [rows, inputs]
  bool adds_dx = false;  // to what is there
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
  RnnState first;
  FIELDS(dx, adds_dx, w_ih, w_hh, b_ih, b_hh, w_hr, first)
};

/** `dy`: as `output`, or undefined; `last`: gradients of the last states. The gradients of weights and input
 * are one GEMM each over all steps. */
void rnn_backward(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const Tensor& x,
                  const RnnSaved& saved, const Tensor& dy, const RnnState& last,
                  const RnnGradients& gradients);

}  // namespace dlprim
