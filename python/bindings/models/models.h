#pragma once

#include <pybind11/pybind11.h>

/** Binds ocl::models, as `_models`. */
void bind_models(pybind11::module_& parent);
