// The base of the kernel of an expression for many tensors (multi_tensor_pointwise.cpp writes it after this).
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the tensors).
#include "core/common.cl"
typedef REAL T;
#define T_IS_FLOATING 1
#include "ops/pointwise/functions.cl"
#include "ops/optim/parameter_pack.cl"
