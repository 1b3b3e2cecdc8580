#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/defines.h"

namespace dlprim {

/** The work of kernels on a value before they store it: y = activation(value + addend). Norms' kernels do it
 * on normalised values, and those of convolutions and products on sums. */
struct Epilogue {
  const Tensor* addend = nullptr;  // of the shape and dtype of the values
  const PointwiseOp* activation = nullptr;
  FIELDS(addend, activation)

  bool any() const { return addend || activation; }
};

/** What the gradient of an epilogue takes. Without an addend the activation's input is made again from x;
 * behind one its gradient is told by y. */
struct EpilogueGradient {
  const PointwiseOp* activation = nullptr;
  const Tensor* bias = nullptr;    // the norm's
  const Tensor* y = nullptr;       // the result, where there was an addend
  const Tensor* addend = nullptr;  // where its gradient goes
  FIELDS(activation, bias, y, addend)
};

/**
 * Whether a row of the pointwise table can be an epilogue's activation. It has one input, keeps the dtype,
 * and has no parameters. Its only helper function is SIGMOID, so that its expressions hold for OpenCL's
 * vectors too. Behind an addend, y alone gives its gradient.
 */
bool can_be_epilogue(const PointwiseOp& activation, bool has_addend);

/** Throws ValueError for an activation, which may be null, that cannot be one. */
void require_epilogue(const char* op, const PointwiseOp* activation, bool has_addend);

/** ACTIVATION and ACTIVATION_GRADIENT for norms' kernels: expressions over a, and over g, a and y. None for
 * null. Precondition: can_be_epilogue. */
const Defines& epilogue_defines(const PointwiseOp* activation);
/** ACTIVATION alone, for kernels of products and convolutions. */
const Defines& activation_defines(const PointwiseOp* activation);

}  // namespace dlprim
