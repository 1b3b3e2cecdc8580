#pragma once

#include "../casters.h"
#include "nn/nn.h"

void bind_schedules(py::module_& m);
