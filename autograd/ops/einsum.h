#pragma once

#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * torch.einsum: products of elements of `operands` whose subscripts agree, added up over the subscripts that
 * the output does not have. "ij,jk->ik" is the matrix product, "bii->bi" the diagonals, "...i,...i" a dot
 * product over any batch. Sizes of 1 broadcast. Of several operands the first two are joined first. Floating
 * dtypes, or integers. Throws ValueError for an equation that does not fit.
 */
Tensor einsum(const std::string& equation, const TensorList& operands);

}  // namespace ocl
