#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"
#include "number_casters.h"

namespace py = pybind11;

/** The number that a Python or NumPy number is, with every digit; nothing for other objects. `converts`: from
 * tensors of one element too, but for those that require gradients. Throws ValueError for integers of more
 * than 64 bits. */
std::optional<ocl::Scalar> number_in(py::handle source, bool converts);
