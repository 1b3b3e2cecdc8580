#pragma once

#include "../number_casters.h"

/** Binds ocl::models, as `_models`. */
void bind_models(pybind11::module_& parent);
