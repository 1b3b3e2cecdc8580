#pragma once

#include <set>

#include "../casters.h"
#include "../collector.h"
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
};

/** How a module class is bound that is a base alone: Python constructs none. */
template <class M, class Base = Module>
struct ModuleClass : py::class_<M, Base, py::smart_holder> {
  template <class... Extra>
  ModuleClass(py::handle scope, const char* name, const Extra&... extra)
      : py::class_<M, Base, py::smart_holder>(scope, name, extra..., py::custom_type_setup(&follow_module)) {
    // Module's constructor, which it would inherit, makes no M.
    this->def(
        "__init__",
        [name](py::detail::value_and_holder&, const py::args&, const py::kwargs&) {
          throw ocl::TypeError(dlprim::concat(name, " is the base of other modules, and cannot be made"));
        },
        py::detail::is_new_style_constructor());
  }
};

/** Adds a submodule. C++ holds its C++ half alone, and the parent's _python_halves hold the Python half with
 * what a subclass adds: so the collector sees every reference to it. */
void add_child(const py::object& self, Module& module, const std::string& name, const py::object& child);

/** Gives a module that __setstate__ has made what `state`, from __getstate__, says. */
void restore(const py::object& self, Module& module, const py::dict& state);

template <class M, class = void>
struct HasParameters : std::false_type {};
template <class M>
struct HasParameters<M, std::void_t<decltype(std::declval<M&>().reset_parameters())>> : std::true_type {};

template <class Options, class = void>
struct HasWarning : std::false_type {};
template <class Options>
struct HasWarning<Options, std::void_t<decltype(std::declval<Options&>().warning())>> : std::true_type {};

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
  return *made;
}

/** The Python object that is being made. */
inline py::object object_in(const py::detail::value_and_holder& self) {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(self.inst));
}

/** The constructor, and the copies, of a class without options. */
template <class M, class Class>
void def_plain_construction(Class& bound) {
  bound.def(
      "__init__", [](py::detail::value_and_holder& self) { construct<M>(self); },
      py::detail::is_new_style_constructor());
  bound.def(
      "__setstate__",
      [](py::detail::value_and_holder& self, const py::dict& state) {
        restore(object_in(self), construct<M>(self), state);
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
      : Class(scope, name, documentation.c_str(), py::custom_type_setup(&follow_module)) {
    const ConstructorSignature signature(Options::names(), types(Options().values()), values(Options()),
                                         takes_factory);
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
      py::dict all;
      const std::vector<py::object> current = values(self.options());
      for (std::size_t i = 0; i < current.size(); ++i) all[py::str(Options::names().names[i])] = current[i];
      return all;
    });
    this->def(
        "__setstate__",
        [name, finish](py::detail::value_and_holder& self, const py::dict& state) {
          const py::dict kept = state["options"];
          const Options options = options_from(name, [&](std::size_t i) -> py::handle {
            const py::str key(Options::names().names[i]);
            return kept.contains(key) ? py::handle(kept[key]) : py::handle();
          });
          const FactoryScope hollow(std::nullopt, std::nullopt, true);
          M& module = construct<M>(self, options);
          restore(object_in(self), module, state);
          if (finish) finish(object_in(self), module, nullptr);
        },
        py::detail::is_new_style_constructor());
    if constexpr (HasParameters<M>::value) this->def("reset_parameters", &M::reset_parameters, WithoutLock());
    bind_attributes(no_attributes, std::make_index_sequence<option_count>());
  }

 private:
  static constexpr bool is_transformer = std::is_base_of_v<TransformerLayer, M>;
  static constexpr bool takes_factory = HasParameters<M>::value || is_transformer;
  static constexpr std::size_t option_count =
      std::tuple_size_v<decltype(std::declval<const Options&>().values())>;

  static std::vector<py::object> values(const Options& options) {
    return std::apply([](const auto&... each) { return std::vector<py::object>{python_option(each)...}; },
                      options.values());
  }

  template <class... T>
  static std::vector<std::string> types(const std::tuple<T...>&) {
    return {OptionType<std::decay_t<T>>::text()...};
  }

  /** `given(i)`: the Python object for option i, or none of it. */
  template <class Given>
  static Options options_from(const char* name, const Given& given) {
    Options options;
    std::size_t i = 0;
    const auto set = [&](auto& option) {
      if (const py::handle value = given(i))
        set_option(option, value,
                   dlprim::concat(name, ".__init__(): argument '", Options::names().names[i], "' (position ",
                                  i + 1, ')'));
      ++i;
    };
    auto all = options.values();
    std::apply([&](auto&... each) { (set(each), ...); }, all);
    return options;
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
    this->def_property(
        option.c_str(), [](const M& self) { return values(self.options())[I]; },
        [option](M& self, const py::object& value) {
          Options changed = self.options();
          set_option(std::get<I>(changed.values()), value, "attribute '" + option + "'");
          self.change_options(
              [&](Options& own) { std::get<I>(own.values()) = std::get<I>(changed.values()); });
        });
  }
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
