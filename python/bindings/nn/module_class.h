#pragma once

#include <set>

#include "../collector.h"
#include "halves.h"
#include "module_type.h"
#include "nn/nn.h"
#include "options.h"
#include "values.h"

using ocl::Pair;
using ocl::Tensor;
using namespace ocl::nn;

/** Lets C++ call what a class written in Python overrides. */
template <class M>
class PythonModule : public M, public py::trampoline_self_life_support {
 public:
  using M::forward;
  using M::M;
  Tensor forward(const Tensor& x) override {
    const PythonLocked locked;
    PYBIND11_OVERRIDE(Tensor, M, forward, x);
  }
  Value call(const Arguments& arguments) override {
    const PythonLocked locked;
    const py::function written = py::get_override(static_cast<const M*>(this), "forward");
    if (!written) return M::call(arguments);
    return value_of(written(*positional_of(arguments), **named_of(arguments)));
  }
  std::string name() const override {
    const PythonLocked locked;
    return py::type::of(py::cast(this)).attr("__name__").template cast<std::string>();
  }
  std::string extra_repr() const override {
    const PythonLocked locked;
    PYBIND11_OVERRIDE(std::string, M, extra_repr);
  }
  // Walks of C++'s go on in Python, where the object itself may have a method of that name.
  std::string repr() const override {
    const PythonLocked locked;
    return py::repr(half_of(*this)).template cast<std::string>();
  }
  void train(bool mode) override {
    const PythonLocked locked;
    half_of(*this).attr("train")(mode);
  }
  void apply(const std::function<void(Module&)>& function) override {
    const PythonLocked locked;
    half_of(*this).attr("apply")(
        py::cpp_function([function](const py::object& module) { function(module.cast<Module&>()); }));
  }

 protected:
  std::shared_ptr<Module> copied(Module::Copies&) const override { return deep_copy(*this); }
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
  self.type->init_instance(self.inst, nullptr);  // what ends a constructor may use the object as any other
  take_up_attributes(object_in(self));
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

/**
 * Binds a layer: from its options come the constructor, whose arguments they are, its signature, the
 * attributes, and what __getstate__ and __setstate__ (copies, pickles) keep.
 */
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
    const ConstructorSignature signature(Options::names(), types(Options().values()), values(Options()),
                                         takes_factory);
    this->attr("_blank_options") = blank_options(signature);
    this->def(
        "__init__",
        [name, finish](py::detail::value_and_holder& self, const py::args& positional,
                       const py::kwargs& named) {
          const ConstructorArguments given(name, Options::names(), takes_factory, positional, named);
          const Options options = options_from(name, [&](std::size_t i) { return given[i]; });
          warn_of(options);
          const FactoryScope factory(given.device(), given.dtype());
          M& module = construct<M>(self, options);
          if (finish) finish(object_in(self), module, &given);
        },
        py::detail::is_new_style_constructor(), signature.of_init().c_str());
    this->def("_options", [](const M& self) {
      const std::vector<py::object> current = values(self.options());
      py::dict all;
      for (std::size_t i = 0; i < current.size(); ++i) all[py::str(Options::names().names[i])] = current[i];
      return all;
    });
    this->def(
        "__setstate__",
        [name, finish](py::detail::value_and_holder& self, const py::dict& state) {
          const FactoryScope hollow(std::nullopt, std::nullopt, true);
          M& module = construct<M>(self, options_in(name, state));
          restore(object_in(self), state);
          if (finish) finish(object_in(self), module, nullptr);
        },
        py::detail::is_new_style_constructor());
    this->def("_take_state", [name, finish](const py::object& self, const py::dict& state) {
      auto& module = self.cast<M&>();
      module.change_options([&](Options& all) { all = options_in(name, state); });
      restore(self, state);
      if (finish) finish(self, module, nullptr);
    });
    if constexpr (HasParameters<M>::value) this->def("reset_parameters", &M::reset_parameters, WithoutLock());
    bind_attributes(no_attributes, std::make_index_sequence<option_count>());
  }

 private:
  static constexpr bool takes_factory = TakesFactory<M>::value;
  static constexpr std::size_t option_count =
      std::tuple_size_v<decltype(std::declval<const Options&>().values())>;

  static std::vector<py::object> values(const Options& options) {
    return std::apply(
        [](const auto&... each) {
          return std::vector<py::object>{PythonOption<std::decay_t<decltype(each)>>::give(each)...};
        },
        options.values());
  }

  template <class... T>
  static std::vector<std::string> types(const std::tuple<T...>&) {
    return {PythonOption<std::decay_t<T>>::type()...};
  }

  /** `given(i)`: the Python object for option i, or none of it. */
  template <class Given>
  static Options options_from(const char* name, const Given& given) {
    Options options;
    std::size_t i = 0;
    const auto set = [&](auto& option) {
      if (const py::handle value = given(i))
        PythonOption<std::decay_t<decltype(option)>>::take(
            option, value,
            dlprim::concat(name, ".__init__(): argument '", Options::names().names[i], "' (position ", i + 1,
                           ')'));
      ++i;
    };
    auto all = options.values();
    std::apply([&](auto&... each) { (set(each), ...); }, all);
    return options;
  }

  /** Options that a module without tensors can be made of: some sizes must not be 0. */
  static py::dict blank_options(const ConstructorSignature& signature) {
    py::dict blank;
    for (std::size_t i = 0; i < option_count; ++i)
      if (signature.defaults[i].empty() && signature.types[i] == "int")
        blank[py::str(signature.names[i])] = 1;
    return blank;
  }

  static Options options_in(const char* name, const py::dict& state) {
    const py::dict kept = state["options"];
    return options_from(name, [&](std::size_t i) -> py::handle {
      const py::str key(Options::names().names[i]);
      return kept.contains(key) ? py::handle(kept[key]) : py::handle();
    });
  }

  static void warn_of(const Options& options) {
    if constexpr (HasWarning<Options>::value)
      if (const std::string text = options.warning(); !text.empty())
        if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw py::error_already_set();
  }

  template <std::size_t... I>
  void bind_attributes(const std::set<std::string>& left_out, std::index_sequence<I...>) {
    const auto& names = Options::names().names;
    ((left_out.count(names[I]) ? void() : bind_attribute<I>(names[I])), ...);
  }

  template <std::size_t I>
  void bind_attribute(const std::string& option) {
    using Type = std::tuple_element_t<I, decltype(std::declval<Options>().values())>;
    using InPython = PythonOption<std::decay_t<Type>>;
    const auto own = [](const M& self) {
      const Options all = self.options();
      return std::get<I>(all.values());
    };
    this->def_property(
        option.c_str(), [own](const M& self) { return InPython::give(own(self)); },
        [own, option](M& self, const py::object& value) {
          auto changed = own(self);
          InPython::take(changed, value, "attribute '" + option + "'");
          self.change_options([&](Options& all) { std::get<I>(all.values()) = changed; });
        });
  }
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
