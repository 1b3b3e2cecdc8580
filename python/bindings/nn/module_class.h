#pragma once

#include <set>

#include "../collector.h"
#include "halves.h"
#include "layer_type.h"
#include "module_type.h"
#include "nn/nn.h"
#include "options.h"
#include "values.h"

using ocl::Pair;
using ocl::Tensor;
using namespace ocl::nn;

// PythonModule<M> calls these, whatever M is. The last four take Python's lock.

/** The function of Python's class that stands for C++'s function of that name, or none.
 * `module` is an M, `type` the class M. */
py::function override_of(const void* module, const std::type_info& type, const char* name);
/** Calls `written`, a forward in Python. */
Tensor forward_in_python(const py::function& written, const Tensor& x);
Value call_in_python(const py::function& written, const Arguments& arguments);
std::string name_in_python(const Module& module);
// Walks of C++'s go on in Python, where the object itself may have a method of that name.
std::string repr_in_python(const Module& module);
void train_in_python(const Module& module, bool mode);
void apply_in_python(const Module& module, const std::function<void(Module&)>& function);

/** Lets C++ call what a class written in Python overrides. */
template <class M>
class PythonModule : public M, public py::trampoline_self_life_support {
 public:
  using M::forward;
  using M::M;
  Tensor forward(const Tensor& x) override {
    const PythonLocked locked;
    const py::function written = own_override("forward");
    if (written) return forward_in_python(written, x);
    if constexpr (std::is_convertible_v<decltype(M::forward(x)), Tensor>)
      return M::forward(x);
    else  // an LSTM's gives several
      return Module::forward(x);
  }
  Value call(const Arguments& arguments) override {
    const PythonLocked locked;
    const py::function written = own_override("forward");
    return written ? call_in_python(written, arguments) : M::call(arguments);
  }
  std::string extra_repr() const override {
    const PythonLocked locked;
    const py::function written = own_override("extra_repr");
    return written ? written().template cast<std::string>() : M::extra_repr();
  }
  std::string name() const override { return name_in_python(*this); }
  std::string repr() const override { return repr_in_python(*this); }
  void train(bool mode) override { train_in_python(*this, mode); }
  void apply(const std::function<void(Module&)>& function) override { apply_in_python(*this, function); }

 protected:
  std::shared_ptr<Module> copied(Module::Copies&) const override { return deep_copy(*this); }

 private:
  py::function own_override(const char* name) const {
    return override_of(static_cast<const M*>(this), typeid(M), name);
  }
};

/** How a module class is bound that is a base alone: Python constructs none. */
template <class M, class Base = Module>
struct ModuleClass : py::class_<M, Base, py::smart_holder> {
  template <class... Extra>
  ModuleClass(py::handle scope, const char* name, const Extra&... extra)
      : py::class_<M, Base, py::smart_holder>(scope, name, extra..., plain_class(),
                                              py::custom_type_setup(&set_up_module)) {
    // Module's constructor, which it would inherit, makes no M.
    this->def(
        "__init__",
        [name](py::detail::value_and_holder&, const py::args&, const py::kwargs&) {
          throw ocl::TypeError(dlprim::concat(name, " is the base of other modules, and cannot be made"));
        },
        py::detail::is_new_style_constructor());
  }
};

/** Gives a module what `state`, from __getstate__, says, in the place of what it has. */
void restore(const py::object& self, const py::dict& state);
/** The last step of a constructor: the object may have attributes already. */
void take_up_attributes(const py::object& self);
/** Module.__init__'s treatment of its arguments: those of the class behind it where call_super_init says so.
 */
void finish_module(const py::object& self, const py::tuple& args, const py::dict& kwargs);

template <class M, class = void>
struct HasParameters : std::false_type {};
template <class M>
struct HasParameters<M, std::void_t<decltype(std::declval<M&>().reset_parameters())>> : std::true_type {};

/** Whether a constructor takes device and dtype: of classes with parameters, and of those that say so because
 * their submodules have some. */
template <class M, class = void>
struct TakesFactory : HasParameters<M> {};
template <class M>
struct TakesFactory<M, std::enable_if_t<M::takes_factory>> : std::true_type {};

template <class Options, class = void>
struct HasWarning : std::false_type {};
template <class Options>
struct HasWarning<Options, std::void_t<decltype(std::declval<Options&>().warning())>> : std::true_type {};

/** The Python object that is being made. */
inline py::object object_in(const py::detail::value_and_holder& self) {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(self.inst));
}

/** Ends the constructor of an object that has its C++ half. */
void end_construction(py::detail::value_and_holder& self);

/** Puts a new M into a Python object that is being made: one that calls back where its class is Python's. */
template <class M, class... Options>
M& construct(py::detail::value_and_holder& self, const Options&... options) {
  M* made = nullptr;
  if (Py_TYPE(self.inst) == self.type->type) {
    const PythonUnlocked unlocked;
    made = new M(options...);
  } else {
    made = new PythonModule<M>(options...);
  }
  self.value_ptr() = made;
  end_construction(self);
  return *made;
}

/** The function that makes copies and pickles of a class without options; _take_state is for objects that are
 * made.
 */
template <class M, class Class>
void def_restoring(Class& bound) {
  bound.def("_take_state", &restore);
  bound.def(
      "__setstate__",
      [](py::detail::value_and_holder& self, const py::dict& state) {
        construct<M>(self);
        restore(object_in(self), state);
      },
      py::detail::is_new_style_constructor());
}

/** Binds a layer: see LayerType, which says what Python gets from its options. */
template <class M, class Base = Module>
class LayerClass : public py::class_<M, Base, PythonModule<M>, py::smart_holder> {
 public:
  using Class = py::class_<M, Base, PythonModule<M>, py::smart_holder>;
  using Options = typename M::Options;
  /** Finishes what Python made: by its constructor with these arguments or, where null, as a copy. */
  using Finish = void (*)(const py::object& self, M& module, const ConstructorArguments* arguments);

  /** `no_attributes`: the options whose names in Python are those of tensors or submodules, or of nothing. */
  LayerClass(py::handle scope, const char* name, const std::string& documentation = "",
             const std::set<std::string>& no_attributes = {"bias", "weight", "pos_weight"},
             Finish finish = nullptr)
      : Class(scope, name, documentation.c_str(), plain_class(), py::custom_type_setup(&set_up_module)) {
    auto& type =
        *new LayerType{name, Options::names(), TakesFactory<M>::value};  // lives as long as its class
    type.make = [] { return AnyOptions(new Options, &LayerClass::release); };
    type.read = [](const Module& module) {
      const auto* own = dynamic_cast<const M*>(&module);
      return AnyOptions(own ? new Options(own->options()) : nullptr, &LayerClass::release);
    };
    type.fields = [](void* options) { return fields_of(*static_cast<Options*>(options)); };
    type.change = [](Module& module, const std::function<void(void*)>& change) {
      dynamic_cast<M&>(module).change_options([&](Options& options) { change(&options); });
    };
    type.construct = [](py::detail::value_and_holder& self, const void* options) -> Module& {
      return construct<M>(self, *static_cast<const Options*>(options));
    };
    if constexpr (HasWarning<Options>::value)
      type.warning = [](const void* options) { return static_cast<const Options*>(options)->warning(); };
    if constexpr (HasParameters<M>::value)
      type.reset_parameters = [](Module& module) { dynamic_cast<M&>(module).reset_parameters(); };
    if (finish)
      type.finish = [finish](const py::object& self, Module& module, const ConstructorArguments* arguments) {
        finish(self, dynamic_cast<M&>(module), arguments);
      };
    type.bind(*this, no_attributes);
  }

 private:
  static void release(void* options) { delete static_cast<Options*>(options); }
};

/** An argument of a module's forward. */
struct CallArgument {
  const char *name, *type;
  const char* standard = nullptr;  // nothing where the argument must be given
};

/** The text of a forward, as Python's source has it. */
std::string call_documentation(const std::vector<CallArgument>& arguments, const char* result);

/** Binds forward as the module's own `call`. */
template <class M, class Class>
void def_call(Class& bound, const std::vector<CallArgument>& arguments,
              const char* result = "ocl._C.Tensor") {
  bound.def(
      "forward",
      [](M& self, const py::args& positional, const py::kwargs& named) {
        const Arguments given = arguments_of(positional, named);
        Value value;
        {
          const PythonUnlocked unlocked;
          value = self.M::call(given);
        }
        return python_of(value);
      },
      call_documentation(arguments, result).c_str());
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
void bind_distance_modules(py::module_& m);
void bind_attention_modules(py::module_& m);
void bind_rnn_modules(py::module_& m);
void bind_transformer_modules(py::module_& m);
void bind_embedding_modules(py::module_& m);
void bind_init(py::module_& m);
void bind_utils(py::module_& m);
