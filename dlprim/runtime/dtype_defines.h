#pragma once

#include "dlprim/core/dtype.h"
#include "dlprim/runtime/defines.h"

namespace dlprim {

class Device;

/**
 * The macros that fit a kernel to a dtype: STORAGE (the buffer's element type), REAL (what it computes in),
 * LOAD(pointer, index) and STORE(pointer, index, value). Kernels written with them serve every floating
 * dtype.
 */
Defines dtype_defines(DType dtype);

/** Throws TypeError naming `op` unless `dtype` is a floating type; DeviceError if the device lacks float64.
 */
void require_floating(DType dtype, const Device& device, const char* op);

}  // namespace dlprim
