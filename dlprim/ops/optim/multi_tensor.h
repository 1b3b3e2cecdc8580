#pragma once

#include <optional>

#include "dlprim/ops/optim/parameter_pack.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/*
 * Functions of many tensors at once, in as few launches as ParameterPack allows. Tensors are dense (in any
 * order of memory), all of one floating dtype; those that are written overlap no other. Numbers of 16 bits
 * are computed with in float32, and rounded as they are stored. Throw ValueError, TypeError.
 */

/** norm[0] = the p-norm of all elements of all tensors together, for any p: infinity gives the largest
 * magnitude, -infinity the smallest, 0 the number of elements that are not 0. `norm` has one element, of the
 * tensors' dtype or what that is computed in. */
void multi_tensor_norm(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double p,
                       const Tensor& norm);

/** norms[i] = the p-norm of tensor i: `norms` has as many elements, one after the other. That of an empty
 * tensor is 0, but for -infinity, where it is infinity. */
void multi_tensor_norms(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double p,
                        const Tensor& norms);

/** Multiplies every tensor in place by min(1, max_norm / (norm[0] + 1e-6)): torch.nn.utils.clip_grad_norm_.
 * `norm` is of the dtype that the tensors' is computed in. */
void multi_tensor_clip(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors,
                       const Tensor& norm, double max_norm);

/** Multiplies every tensor in place by `factor`. */
void multi_tensor_scale(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double factor);

/** Multiplies every tensor in place by `factor`, and sets `found_inf`, one float32 number, to 1 where an
 * element is infinite or NaN; else that stays as it is (torch.amp.GradScaler.unscale_). */
void multi_tensor_unscale(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors,
                          double factor, const Tensor& found_inf);

/** Holds every element of every tensor between -limit and limit, in place; NaN stays. */
void multi_tensor_clamp(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double limit);

/** A tensor that gets a function's results, and the tensors that it is a function of, element by element: of
 * one shape and lying alike. The result may be one of the inputs. */
struct TensorsAbreast {
  Tensor result;
  std::vector<Tensor> inputs;  // at most four
  FIELDS(result, inputs)
};

/** An expression with one output (of a row of the pointwise table, say) for many tensors. Variable i has the
 * value given[i] for all of them, a number or a tensor of one element; where that is nothing it is the next
 * of the inputs. Parameters are those of pointwise(). */
void multi_tensor_pointwise(Queue& queue, ParameterPack& pack, const PointwiseExpression& expression,
                            const std::vector<TensorsAbreast>& tensors,
                            const std::vector<std::optional<PointwiseOperand>>& given,
                            const std::vector<Scalar>& parameters);

}  // namespace dlprim
