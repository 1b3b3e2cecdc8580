#include "layer_type.h"

#include "module_class.h"

namespace {

/** Does for a class of any type what py::class_::def does. */
template <class Function, class... Extra>
void define(py::object layer, const char* name, Function function, const Extra&... extra) {
  const py::cpp_function method(function, py::name(name), py::is_method(layer),
                                py::sibling(py::getattr(layer, name, py::none())), extra...);
  py::detail::add_class_method(layer, name, method);
}

void define_property(const py::object& layer, const std::string& name, const py::cpp_function& get,
                     const py::cpp_function& set) {
  const py::handle property(reinterpret_cast<PyObject*>(&PyProperty_Type));
  layer.attr(name.c_str()) = property(get, set, py::none(), "");
}

}  // namespace

std::vector<py::object> values_of(const OptionFields& fields) {
  std::vector<py::object> values;
  for (const OptionField& field : fields) values.push_back(field.give());
  return values;
}

ConstructorSignature signature_of(const OptionNames& names, const OptionFields& fields, bool factory) {
  std::vector<std::string> types;
  for (const OptionField& field : fields) types.push_back(field.functions->type());
  return ConstructorSignature(names, std::move(types), values_of(fields), factory);
}

AnyOptions LayerType::options_from(const std::function<py::handle(std::size_t i)>& given) const {
  AnyOptions options = make();
  const OptionFields all = fields(options.get());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const py::handle value = given(i))
      all[i].take(
          value, dlprim::concat(name, ".__init__(): argument '", names.names[i], "' (position ", i + 1, ')'));
  return options;
}

AnyOptions LayerType::options_in(const py::dict& state) const {
  const py::dict kept = state["options"];
  return options_from([&](std::size_t i) -> py::handle {
    const py::str key(names.names[i]);
    return kept.contains(key) ? py::handle(kept[key]) : py::handle();
  });
}

AnyOptions LayerType::options_of(const Module& module) const {
  AnyOptions options = read(module);
  if (!options) throw ocl::TypeError(dlprim::concat("expected a ", name, ", got a ", module.name()));
  return options;
}

/** Options that a module without tensors can be made of: some sizes must not be 0. */
py::dict LayerType::blank_options(const ConstructorSignature& signature) const {
  py::dict blank;
  for (std::size_t i = 0; i < names.names.size(); ++i)
    if (signature.defaults[i].empty() && signature.types[i] == "int") blank[py::str(signature.names[i])] = 1;
  return blank;
}

void LayerType::warn_of(const void* options) const {
  if (!warning) return;
  const std::string text = warning(options);
  if (!text.empty() && PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

void LayerType::set_attribute(Module& module, std::size_t option, const py::object& value) const {
  const AnyOptions changed = options_of(module);
  const OptionField field = fields(changed.get())[option];
  field.take(value, "attribute '" + names.names[option] + "'");
  change(module, [&](void* options) { field.functions->copy(fields(options)[option].place, field.place); });
}

void LayerType::bind(const py::object& layer, const std::set<std::string>& no_attributes) const {
  const AnyOptions defaults = make();
  const ConstructorSignature signature = signature_of(names, fields(defaults.get()), takes_factory);
  layer.attr("_blank_options") = blank_options(signature);
  const LayerType* const type = this;
  define(
      layer, "__init__",
      [type](py::detail::value_and_holder& self, const py::args& positional, const py::kwargs& named) {
        const ConstructorArguments given(type->name, type->names, type->takes_factory, positional, named);
        const AnyOptions options = type->options_from([&](std::size_t i) { return given[i]; });
        type->warn_of(options.get());
        const FactoryScope factory(given.device(), given.dtype());
        Module& module = type->construct(self, options.get());
        if (type->finish) type->finish(object_in(self), module, &given);
      },
      py::detail::is_new_style_constructor(), signature.of_init().c_str());
  define(layer, "_options", [type](const Module& self) {
    const AnyOptions options = type->options_of(self);
    const std::vector<py::object> current = values_of(type->fields(options.get()));
    py::dict all;
    for (std::size_t i = 0; i < current.size(); ++i) all[py::str(type->names.names[i])] = current[i];
    return all;
  });
  define(
      layer, "__setstate__",
      [type](py::detail::value_and_holder& self, const py::dict& state) {
        const FactoryScope hollow(std::nullopt, std::nullopt, true);
        Module& module = type->construct(self, type->options_in(state).get());
        restore(object_in(self), state);
        if (type->finish) type->finish(object_in(self), module, nullptr);
      },
      py::detail::is_new_style_constructor());
  define(layer, "_take_state", [type](const py::object& self, const py::dict& state) {
    auto& module = self.cast<Module&>();
    const AnyOptions taken = type->options_in(state);
    type->change(module, [&](void* options) {
      const OptionFields to = type->fields(options), from = type->fields(taken.get());
      for (std::size_t i = 0; i < to.size(); ++i) to[i].functions->copy(to[i].place, from[i].place);
    });
    restore(self, state);
    if (type->finish) type->finish(self, module, nullptr);
  });
  if (reset_parameters)
    define(layer, "reset_parameters", [type](Module& self) { type->reset_parameters(self); }, WithoutLock());
  for (std::size_t i = 0; i < names.names.size(); ++i) {
    if (no_attributes.count(names.names[i])) continue;
    define_property(
        layer, names.names[i],
        py::cpp_function(
            [type, i](const Module& self) {
              const AnyOptions options = type->options_of(self);
              return type->fields(options.get())[i].give();
            },
            py::is_method(layer)),
        py::cpp_function(
            [type, i](Module& self, const py::object& value) { type->set_attribute(self, i, value); },
            py::is_method(layer)));
  }
}
