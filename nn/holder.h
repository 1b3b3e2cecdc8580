#pragma once

/** \file Modules as libtorch's programs hold them: `Linear fc{nullptr}`, `fc = register_module("fc", …)`. */

#include "nn/module.h"

namespace ocl::nn {

/**
 * A module of which a variable or a member holds one, or a handle to one elsewhere, as libtorch's holders
 * are:
 *
 *     struct Net : ocl::nn::Module {
 *       Net() { fc = register_module("fc", ocl::nn::Linear(784, 10)); }
 *       ocl::Tensor forward(const ocl::Tensor& x) override { return fc->forward(x); }
 *       ocl::nn::Linear fc{nullptr};
 *     };
 *
 * A copy of a module is a handle to it. `->`, calls, walks and registrations lead to the module; its tensors
 * are not members of a handle, so write `fc->weight`.
 */
template <class Derived, class Base>
class Holder : public Base {
 public:
  Holder() = default;
  Holder(const Holder& other) : Holder(other.handle()) {}
  Holder& operator=(const Holder& other) {
    this->stand_for(other.handle().slot());
    return *this;
  }

  std::shared_ptr<Derived> operator->() { return pointer(static_cast<Derived*>(this)); }
  std::shared_ptr<const Derived> operator->() const { return pointer(static_cast<const Derived*>(this)); }
  Derived& operator*() { return *operator->(); }
  const Derived& operator*() const { return *operator->(); }
  /** The module by a pointer that keeps it, see Module::shared. */
  std::shared_ptr<Derived> ptr() const { return handle().get(); }
  Derived* get() { return operator->().get(); }
  const Derived* get() const { return operator->().get(); }
  bool is_empty() const { return this->is_handle() && !this->place()->module(); }
  explicit operator bool() const { return !is_empty(); }

 protected:
  explicit Holder(const Child<Derived>& module) { this->stand_for(module.slot()); }

 private:
  Child<Derived> handle() const {
    const std::shared_ptr<Module> module = this->is_handle() ? nullptr : this->shared();
    return Child<Derived>(this->is_handle() ? this->place() : std::make_shared<ChildSlot>(module));
  }
  template <class Class>
  std::shared_ptr<Class> pointer(Class* self) const {
    if (!this->is_handle()) return {std::shared_ptr<Class>(), self};
    return Child<Derived>(this->place()).get();
  }
};

/** Constructors of a class that has others than Layer's: `Linear{nullptr}`, `Linear(register_module(…))`,
 * `Linear(std::make_shared<Linear>(2, 3))`. */
#define HOLDER(Class, Base)                                              \
  template <class Held, std::enable_if_t<is_held<Held, Class>, int> = 0> \
  Class(Held module) : Base(Child<Class>(std::move(module))) {}

/** Whether M overrides `forward(const Tensor&)`, or does so among others of the name. */
template <class M, class = void>
struct OverridesForward : std::true_type {};
template <class M>
struct OverridesForward<M, std::void_t<decltype(&M::forward)>>
    : std::is_convertible<decltype(&M::forward), Tensor (M::*)(const Tensor&)> {};

/** Whether `forward(arguments...)` of an M gives a Tensor for one Tensor. */
template <class M, class = void, class... Arguments>
struct TakesOneTensor : std::false_type {};
template <class M, class Argument>
struct TakesOneTensor<
    M,
    std::enable_if_t<std::is_convertible_v<Argument, Tensor> &&
                     std::is_same_v<decltype(std::declval<M&>().forward(std::declval<Argument>())), Tensor>>,
    Argument> : std::true_type {};

/** Lets a call of the module find a forward that overrides none: `Tensor forward(Tensor x)`. */
template <class M>
void find_own_forward(M& module) {
  if constexpr (!OverridesForward<M>::value && TakesOneTensor<M, void, const Tensor&>::value)
    module.set_own_forward([](Module& called, const Arguments& arguments) -> Value {
      return static_cast<M&>(called).forward(arguments.only_tensor(called));
    });
}
template <class M>
std::shared_ptr<M> with_own_forward(std::shared_ptr<M> module) {
  if (module) find_own_forward(*module);
  return module;
}

/** A pointer to an Impl, that is called like a module: `TORCH_MODULE(Net);` makes it the base of `Net`. */
template <class Impl>
class ModuleHolder : public Child<Impl> {
 public:
  using ContainedType = Impl;

  ModuleHolder() : Child<Impl>(made_by_default()) {}
  template <class Held, class = std::enable_if_t<is_held<Held, Impl>>>
  ModuleHolder(Held module) : Child<Impl>(std::move(module)) {}
  /** Makes the Impl from its own arguments. */
  template <class First, class... More,
            class = std::enable_if_t<!std::is_convertible_v<First, Child<Impl>> &&
                                     std::is_constructible_v<Impl, First, More...>>>
  explicit ModuleHolder(First&& first, More&&... more)
      : Child<Impl>(with_own_forward(
            std::make_shared<Impl>(std::forward<First>(first), std::forward<More>(more)...))) {}

  /** Calls the module; its hooks run where it takes and gives one tensor. */
  template <class... Arguments>
  auto operator()(Arguments&&... arguments) const {
    if constexpr (TakesOneTensor<Impl, void, Arguments...>::value)
      return Child<Impl>::operator()(std::forward<Arguments>(arguments)...);
    else
      return this->get()->forward(std::forward<Arguments>(arguments)...);
  }

 private:
  static Child<Impl> made_by_default() {
    if constexpr (std::is_default_constructible_v<Impl>)
      return with_own_forward(std::make_shared<Impl>());
    else
      return nullptr;
  }
};

}  // namespace ocl::nn

/** Defines `Name`, a holder of a `NameImpl`, as libtorch's macro of that name does. */
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
#define TORCH_MODULE_IMPL(Name, Impl)                \
  class Name : public ocl::nn::ModuleHolder<Impl> {  \
   public:                                           \
    using ocl::nn::ModuleHolder<Impl>::ModuleHolder; \
    using ImplType [[maybe_unused]] = Impl;          \
  }
