#pragma once

#include "../casters.h"
#include "../collector.h"
#include "nn/nn.h"

using ocl::Pair;
using ocl::Tensor;
using namespace ocl::nn;

/** How a module class is bound: `ModuleClass<Linear>(m, "Linear", doc).def(py::init<…>(), …)`. */
template <class M, class Base = Module>
struct ModuleClass : py::class_<M, Base, py::smart_holder> {
  template <class... Extra>
  ModuleClass(py::handle scope, const char* name, const Extra&... extra)
      : py::class_<M, Base, py::smart_holder>(scope, name, extra..., py::custom_type_setup(&follow_module)) {}
};

/** The Python half of a submodule, with what a subclass or a user has added to it. */
py::object python_half(const py::object& parent, const std::string& name,
                       const std::shared_ptr<Module>& child);

using NamedObjects = std::vector<std::pair<std::string, py::object>>;
/** The Python halves of the submodules by name. */
NamedObjects children_of(const py::object& module);

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
void bind_rnn_modules(py::module_& m);
void bind_transformer_modules(py::module_& m);
void bind_embedding_modules(py::module_& m);
void bind_init(py::module_& m);
void bind_utils(py::module_& m);
