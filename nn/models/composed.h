#pragma once

#include <functional>

#include "nn/modules/activation.h"
#include "nn/modules/basic.h"
#include "nn/modules/container.h"
#include "nn/modules/conv.h"
#include "nn/modules/linear.h"
#include "nn/modules/norm.h"
#include "nn/modules/pool.h"

/** torchvision's nets of image classification: its names, arguments, defaults, initialisation and state
 * dicts. Pictures are [N, 3, H, W], outputs [N, num_classes]. */
namespace ocl::models {

using namespace nn;

/** A function that makes one kind of layer, or nothing. `name`: the class's name in nn where the layers have
 * the defaults of that class, else empty. */
template <class... Arguments>
struct LayerMaker {
  using Function = std::function<std::shared_ptr<Module>(Arguments...)>;
  LayerMaker() = default;
  LayerMaker(std::nullptr_t) {}
  LayerMaker(std::string class_name, Function function)
      : name(std::move(class_name)), make(std::move(function)) {}
  explicit operator bool() const { return make != nullptr; }
  std::shared_ptr<Module> operator()(Arguments... arguments) const { return make(arguments...); }

  std::string name;
  Function make;
};
/** Makes a norm over so many channels. */
struct NormLayer : LayerMaker<std::int64_t> {
  using LayerMaker::LayerMaker;
};
/** Makes an activation; `inplace` where the caller has a wish, and the activation the option. */
struct ActivationLayer : LayerMaker<std::optional<bool>> {
  using LayerMaker::LayerMaker;
};
std::string repr_of(const NormLayer& layer);
std::string repr_of(const ActivationLayer& layer);

template <class T>
struct IsLayerMaker : std::bool_constant<std::is_same_v<T, NormLayer> || std::is_same_v<T, ActivationLayer>> {
};

/** BatchNorm2d. */
NormLayer batch_norm(double eps = 1e-5, double momentum = 0.1);
/** LayerNorm over the last dimension. */
NormLayer layer_norm(double eps = 1e-5);
/** The one given, or the net's own by default. */
NormLayer or_default(const NormLayer& given, const NormLayer& own = batch_norm());

template <class M, class = void>
struct HasInplace : std::false_type {};
template <class M>
struct HasInplace<M, std::void_t<decltype(typename M::Options().inplace(true))>> : std::true_type {};

/** `activation<ReLU>("ReLU")` */
template <class M>
ActivationLayer activation(const char* name) {
  return {name, [](std::optional<bool> inplace) {
            typename M::Options options;
            if constexpr (HasInplace<M>::value)
              if (inplace) options.inplace(*inplace);
            return std::make_shared<M>(options);
          }};
}

std::shared_ptr<ReLU> inplace_relu();

/** Base of the modules that are made of others. Their submodules are what is printed of them, and all that a
 * copy takes over beside the options that count at a call. */
template <class Derived, class OptionsType, class Base = Module>
class Composed : public Layer<Derived, OptionsType, Base> {
 public:
  using Options = OptionsType;
  using Layer<Derived, OptionsType, Base>::Layer;
  std::string extra_repr() const override { return ""; }

 protected:
  /** The last step of a constructor: adds the submodules by build(), unless a copy will take over another's.
   */
  template <class Build>
  void compose(const Build& build) {
    if (!FactoryScope::is_hollow()) build();
    this->change_options([](Options& own) {
      auto all = own.values();
      std::apply([](auto&... option) { (forget(option), ...); }, all);
    });
  }
  /** Through the submodule of that name where there is one. */
  Tensor through_optional(const std::string& child_name, const Tensor& x) const {
    const std::shared_ptr<Module> module = this->own_module(child_name);
    return module ? (*module)(x) : x;
  }

 private:
  /** Drops a function that has made its layers: it may be Python's, and Python's collector sees nothing here.
   */
  template <class Option>
  static void forget(Option& option) {
    if constexpr (IsLayerMaker<Option>::value) option = {};
  }
};

/** Calls `function` with every M among the module and those below it. */
template <class M, class Function>
void for_each(const Module& root, const Function& function) {
  for (const auto& [path, module] : root.named_modules())
    if (auto* found = dynamic_cast<M*>(module.get())) function(*found);
}

/** Zeros for a parameter that may be switched off. */
void zero_if_defined(Tensor& parameter);

/** Fills the weights of all Layers by `draw`, kind after kind, and their biases with zeros. */
template <class... Layers, class Draw>
void init_layers(const Module& root, const Draw& draw) {
  const auto init = [&](auto& layer) {
    draw(layer.weight);
    zero_if_defined(layer.bias);
  };
  (for_each<Layers>(root, init), ...);
}

/** How VGG, MobileNets and EfficientNets begin: He's normal for the outputs of convolutions, a narrow normal
 * for linear layers. */
void init_kaiming(const Module& net);

/** The multiple of `divisor` that is nearest to `value`, at least `min_value` (`divisor` by default), and not
 * more than a tenth below. */
std::int64_t make_divisible(double value, std::int64_t divisor = 8,
                            std::optional<std::int64_t> min_value = std::nullopt);

/** The nets of a class that have a name, with the options that make them. */
template <class Options>
using Variants = std::vector<std::pair<std::string, Options>>;

}  // namespace ocl::models
