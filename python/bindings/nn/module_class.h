#pragma once

#include "../casters.h"
#include "nn/nn.h"

using ocl::Pair;
using ocl::Tensor;
using namespace ocl::nn;

/** How a module class is bound: `ModuleClass<Linear>(m, "Linear", doc).def(py::init<…>(), …)`. */
template <class M, class Base = Module>
using ModuleClass = py::class_<M, Base, py::smart_holder>;

/** The tensor, or an undefined one for None. */
inline Tensor or_undefined(const std::optional<Tensor>& tensor) {
  return tensor.value_or(Tensor());
}

// One function a family, each in the file of its name.
void bind_module(py::module_& m);
void bind_activation_modules(py::module_& m);
void bind_basic_modules(py::module_& m);
void bind_container_modules(py::module_& m);
void bind_conv_modules(py::module_& m);
void bind_norm_modules(py::module_& m);
void bind_pool_modules(py::module_& m);
void bind_resample_modules(py::module_& m);
void bind_loss_modules(py::module_& m);
void bind_attention_modules(py::module_& m);
void bind_embedding_modules(py::module_& m);
void bind_init(py::module_& m);
void bind_utils(py::module_& m);
