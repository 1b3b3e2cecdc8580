#pragma once

#include "../nn/module_option.h"
#include "nn/models/backbone.h"
#include "nn/models/registry.h"

using namespace ocl::models;

/** The module that a function of Python's made. Throws TypeError for anything else. */
std::shared_ptr<Module> module_from(const py::object& made);
/** The class in ocl.nn of that name, or the callable itself. Throws TypeError for anything else. */
py::object layer_function(const py::handle& value, const std::string& name);
/** A function of Python's that C++ may hold and let go without Python's lock. */
std::shared_ptr<py::object> held_function(py::object function);

/** A factory of layers: None, the name of a class in ocl.nn, or a callable. */
template <class Layer>
struct LayerOption {
  static py::object give(const Layer& layer) {
    return layer.name.empty() ? py::object(py::none()) : py::str(layer.name);
  }
  static std::string type() { return "str | collections.abc.Callable | None"; }
};
template <>
struct PythonOption<NormLayer> : LayerOption<NormLayer> {
  static void take(NormLayer& option, const py::handle& value, const std::string& name);
};
template <>
struct PythonOption<ActivationLayer> : LayerOption<ActivationLayer> {
  static void take(ActivationLayer& option, const py::handle& value, const std::string& name);
};

/** The path of a file of weights. */
template <>
struct PythonOption<BackboneWeights> {
  static py::object give(const BackboneWeights&) { return py::none(); }
  static void take(BackboneWeights& option, const py::handle& value, const std::string& name);
  static std::string type() { return "str | os.PathLike | None"; }
};

/** The options of M that are no attributes in Python: all but those that count at a call. */
template <class M>
std::set<std::string> all_but(const std::set<std::string>& attributes) {
  std::set<std::string> left_out;
  for (const std::string& name : M::Options::names().names)
    if (!attributes.count(name)) left_out.insert(name);
  return left_out;
}

/** Binds a module made of others. */
template <class M, class Base = Module>
LayerClass<M, Base> bind_composed(py::handle scope, const char* name, const std::string& documentation,
                                  const std::set<std::string>& attributes = {},
                                  typename LayerClass<M, Base>::Finish finish = nullptr) {
  return LayerClass<M, Base>(scope, name, documentation, all_but<M>(attributes), finish);
}

/** Makes a submodule that may be missing read as None where it is. */
template <class Class>
void def_optional_child(Class& bound, const char* name) {
  bound.def_property(
      name,
      [name](const py::object& self) {
        return python_half(self, self.cast<const Module&>().own_module(name));
      },
      [name](const py::object&, const py::object& value) {
        if (!value.is_none())
          throw ocl::TypeError(
              dlprim::concat("cannot assign '", class_name(value), "' as child module '", name, "'"));
      });
}

/** Takes the options that are given to a function that makes a net, and gives its argument weights, or None.
 * Throws TypeError for what is no argument of it. */
py::object take_arguments(const std::string& net, const OptionNames& names, const OptionFields& fields,
                          const py::kwargs& given);

/** The state dict in a file, whose path is the argument `name` of `net`. Throws ValueError for what is no
 * file. */
ocl::StateDict weights_in(const std::string& net, const std::string& name, const py::object& path);
/** Loads a file of weights into a net. Throws ValueError for what is no file. */
void load_weights(const std::string& net, const py::object& module, const py::object& weights);

/** "resnet18(*, weights=None, …)" and its documentation, from options by name, type and default. */
std::string net_documentation(const std::string& net, const std::string& of, const ConstructorSignature& s,
                              const std::string& documentation);

template <class Options>
ConstructorSignature preset_signature(Options options) {
  return signature_of(Options::names(), fields_of(options), false);
}

/** Binds a function in `m` for each net of the class that has a name. */
template <class Net>
void def_nets(py::module_& m, const std::string& documentation) {
  const std::string of = py::type::of<Net>().attr("__name__").template cast<std::string>();
  for (const auto& variant : Net::variants())
    m.def(
        variant.first.c_str(),
        [net = variant.first, preset = variant.second](const py::kwargs& given) {
          auto options = preset;
          const py::object weights = take_arguments(net, Net::Options::names(), fields_of(options), given);
          if (!weights.is_none()) expect_weights(options);
          std::shared_ptr<Net> made;
          {
            const PythonUnlocked unlocked;
            made = std::make_shared<Net>(options);
          }
          py::object module = py::cast(made);
          if (!weights.is_none()) load_weights(net, module, weights);
          return module;
        },
        net_documentation(variant.first, of, preset_signature(variant.second), documentation).c_str());
}

// A module in Python for each file of torchvision.models, and for its folders of other tasks.
void bind_blocks(py::module_& m);
void bind_plain_nets(py::module_& m);  // alexnet, vgg, squeezenet, densenet
void bind_resnet(py::module_& m);
void bind_inception_nets(py::module_& m);    // googlenet, inception
void bind_mobile_nets(py::module_& m);       // mobilenetv2, mobilenetv3, mnasnet, shufflenetv2
void bind_scaled_nets(py::module_& m);       // efficientnet, regnet, convnext
void bind_transformer_nets(py::module_& m);  // vision_transformer, swin_transformer, maxvit
void bind_segmentation(py::module_& m);
void bind_detection(py::module_& m);
void bind_language_nets(py::module_& m);  // gpt2
