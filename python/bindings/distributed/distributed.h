#pragma once

#include "../casters.h"

/** Groups of processes, and what trains over them. */
void bind_distributed(py::module_& parent);
