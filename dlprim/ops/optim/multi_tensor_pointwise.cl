// What the kernel of an expression for many tensors stands on (multi_tensor_pointwise.cpp writes it after this).
// Macro: REAL.
#include "core/common.cl"
typedef REAL T;
#define T_IS_FLOATING 1
#include "ops/pointwise/functions.cl"
#include "ops/optim/parameter_pack.cl"
