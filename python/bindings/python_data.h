#pragma once

#include "casters.h"

/** \file What Python's objects hold as numbers (tensor_of in casters.h). */

/** Whether it is a tensor of PyTorch's in bfloat16, which NumPy lacks and PyTorch therefore shows to nobody.
 */
bool is_bfloat16_of_pytorch(py::handle object);
