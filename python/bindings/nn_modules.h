#pragma once

#include "casters.h"

/** \file What the bindings of the modules share; each family of modules is bound in the file of its name. */

template <class M, class Base = ocl::nn::Module>
using ModuleClass = py::class_<M, Base, py::smart_holder>;

void bind_norm_modules(py::module_& m);
void bind_loss_modules(py::module_& m);
void bind_attention_modules(py::module_& m);
