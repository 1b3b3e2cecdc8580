#pragma once

#include <typeinfo>

#include "nn/holder.h"
#include "nn/options.h"

namespace ocl::nn {

/**
 * Where and how the modules that this thread makes within a scope get their tensors: the `device=` and
 * `dtype=` of a constructor in Python. `hollow`: they get none at all and draw no random numbers, because
 * tensors of another module take their place.
 */
class FactoryScope {
 public:
  explicit FactoryScope(std::optional<Device> device, std::optional<DType> dtype = std::nullopt,
                        bool hollow = false);
  ~FactoryScope();
  FactoryScope(const FactoryScope&) = delete;
  FactoryScope& operator=(const FactoryScope&) = delete;

  static bool is_hollow();

 private:
  friend Tensor made(const Dims& shape, std::optional<DType> dtype);

  std::optional<Device> device_;
  std::optional<DType> dtype_;
  bool hollow_;
  const FactoryScope* outer_;
};

/** A tensor for a module to fill: of the scope's dtype, or `dtype` where it is given. */
Tensor made(const Dims& shape, std::optional<DType> dtype = std::nullopt);

/** The module in its holder: one kind for all classes, which every program would compile for each. */
std::shared_ptr<Module> held_as_module(Module* made);

/**
 * Base of the modules that are made from options, a struct of OPTIONs with an OPTION_LIST:
 * `class Linear : public Layer<Linear, LinearOptions>`. The options may change at any time, and count from
 * the next call on.
 */
template <class Derived, class OptionsType, class Base = Module>
class Layer : public Holder<Derived, Base> {
 public:
  using Options = OptionsType;
  explicit Layer(Options options = {}) : options_(std::move(options)) {}
  /** The options' own arguments: `Threshold(0.1, 20)`. */
  template <class First, class Second, class... More,
            class = std::enable_if_t<std::is_constructible_v<Options, First, Second, More...>>>
  Layer(First&& first, Second&& second, More&&... more)
      : options_(std::forward<First>(first), std::forward<Second>(second), std::forward<More>(more)...) {}
  template <class Held, std::enable_if_t<is_held<Held, Derived>, int> = 0>
  Layer(Held module) : Holder<Derived, Base>(Child<Derived>(std::move(module))) {}

  /** Whether it is of that class, and not of one derived from it, which may compute something else. */
  bool is_own_class() const { return typeid(*this) == typeid(Derived); }

  /** The options as they are now. */
  Options options() const {
    if (const auto other = this->elsewhere()) return as_kind<Layer>(*other, "the module").options();
    const std::lock_guard locked(this->mutex());
    return options_;
  }
  /** Calls `change(options)`: `conv.change_options([](auto& o) { o.stride(2); })`. */
  template <class Change>
  void change_options(const Change& change) {
    if (const auto other = this->elsewhere())
      return as_kind<Layer>(*other, "the module").change_options(change);
    const std::lock_guard locked(this->mutex());
    change(options_);
  }
  std::string extra_repr() const override { return options_repr(options()); }
  std::shared_ptr<Module> alike() const override { return held_as_module(new Derived(options())); }

 protected:
  /** The last step of a constructor, once the tensors are registered. */
  void initialize() {
    if (!FactoryScope::is_hollow()) static_cast<Derived*>(this)->reset_parameters();
  }

 private:
  Options options_;
};

}  // namespace ocl::nn
