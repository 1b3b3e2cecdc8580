#pragma once

#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/** Where the exponent stands among the variables of a row of powers or of its gradient; -1 where
 * `expression` is neither, or has none. */
int exponent_of(const PointwiseExpression& expression);

/**
 * The product or root that stands for `expression`, without the variable of its exponent, where that is
 * `exponent` and `compute` is computed in. Null where there is none: they are PyTorch's, 0 to 3, -1, -2 and,
 * but for float16, both halves and the gradient of 1.5. The roots of -infinity and -0 are NaN and -0, which
 * powers are not.
 */
const PointwiseExpression* special_power(const PointwiseExpression& expression, const Scalar& exponent,
                                         DType compute);

/** The program of all of these: power and gradient of each in turn. */
const PointwiseProgram& special_powers();

}  // namespace dlprim
