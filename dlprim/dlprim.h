#pragma once

/** \file The operator library: devices, memory, raw tensors, and the forward and backward kernels of every
 * operator. */

#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"
#include "dlprim/core/error.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/device.h"
