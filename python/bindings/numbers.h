#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "dlprim/core/scalar.h"

/** Whether it is one of NumPy's scalars. */
bool is_numpy_scalar(pybind11::handle source);

/** The number that a Python or NumPy number is, with every digit; nothing for other objects. `converts`: from
 * tensors of one element too. Throws ValueError for integers of more than 64 bits. */
std::optional<dlprim::Scalar> number_in(pybind11::handle source, bool converts);
