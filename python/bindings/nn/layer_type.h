#pragma once

#include <functional>
#include <memory>
#include <set>
#include <typeinfo>

#include "../collector.h"
#include "nn/module.h"
#include "options.h"
#include "values.h"

/** \file What the binding of a layer does, whatever its class is: compiled once, and not for each class. */

/** How Python reads and writes an option of one type. */
struct OptionFunctions {
  py::object (*give)(const void* option);
  void (*take)(void* option, const py::handle& value, const std::string& name);
  void (*copy)(void* to, const void* from);
  std::string (*type)();
};

template <class T>
const OptionFunctions& option_functions() {
  static const OptionFunctions functions{
      [](const void* option) { return PythonOption<T>::give(*static_cast<const T*>(option)); },
      [](void* option, const py::handle& value, const std::string& name) {
        PythonOption<T>::take(*static_cast<T*>(option), value, name);
      },
      [](void* to, const void* from) { *static_cast<T*>(to) = *static_cast<const T*>(from); },
      &PythonOption<T>::type};
  return functions;
}

/** One option of a struct of options, which must outlive it. */
struct OptionField {
  void* place;
  const OptionFunctions* functions;

  py::object give() const { return functions->give(place); }
  void take(const py::handle& value, const std::string& name) const { functions->take(place, value, name); }
};
using OptionFields = std::vector<OptionField>;

/** The options of a struct, in their order. */
template <class Options>
OptionFields fields_of(Options& options) {
  return std::apply(
      [](auto&... each) {
        return OptionFields{{&each, &option_functions<std::remove_reference_t<decltype(each)>>()}...};
      },
      options.values());
}

/** Their values in Python. */
std::vector<py::object> values_of(const OptionFields& fields);
/** The constructor that has these options, at their defaults. */
ConstructorSignature signature_of(const ocl::nn::OptionNames& names, const OptionFields& fields,
                                  bool factory);

/** A struct of options, which knows how to delete itself. */
using AnyOptions = std::unique_ptr<void, void (*)(void*)>;

/**
 * A class of layers as its binding sees it. From its options come the constructor, whose arguments they are,
 * its signature, the attributes, and what __getstate__ and __setstate__ (copies, pickles) keep.
 */
struct LayerType {
  const char* name;
  const ocl::nn::OptionNames& names;
  bool takes_factory;  // device and dtype

  AnyOptions (*make)() = nullptr;                        // all at their defaults
  AnyOptions (*read)(const ocl::nn::Module&) = nullptr;  // those of a module; null: it is of another class
  OptionFields (*fields)(void* options) = nullptr;
  void (*change)(ocl::nn::Module&, const std::function<void(void* options)>&) = nullptr;
  ocl::nn::Module& (*construct)(py::detail::value_and_holder& self, const void* options) = nullptr;
  std::string (*warning)(const void* options) = nullptr;  // null: never one
  void (*reset_parameters)(ocl::nn::Module&) = nullptr;   // null: it has none
  std::function<void(const py::object& self, ocl::nn::Module&, const ConstructorArguments*)> finish = nullptr;

  /** Gives `layer`, its class, all of this. This must outlive it. */
  void bind(const py::object& layer, const std::set<std::string>& no_attributes) const;

 private:
  /** `given(i)`: the Python object for option i, or none of it. */
  AnyOptions options_from(const std::function<py::handle(std::size_t i)>& given) const;
  AnyOptions options_in(const py::dict& state) const;
  AnyOptions options_of(const ocl::nn::Module& module) const;
  py::dict blank_options(const ConstructorSignature& signature) const;
  void warn_of(const void* options) const;
  void set_attribute(ocl::nn::Module& module, std::size_t option, const py::object& value) const;
};
