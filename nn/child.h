#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "autograd/tensor/tensor.h"

namespace ocl::nn {

class Module;
class Value;
struct Arguments;
template <class M>
class Child;

/** The place of one name among a module's submodules: shared by the module and the Child handles that it
 * gave. */
class ChildSlot {
 public:
  explicit ChildSlot(std::string name) : name_(std::move(name)) {}
  /** One of no name, for a module that nothing has registered yet. */
  explicit ChildSlot(std::shared_ptr<Module> module) : module_(std::move(module)) {}

  const std::string& name() const { return name_; }
  /** Null if nothing stands there. */
  std::shared_ptr<Module> module() const;
  /** Whether a module stands there that nothing else holds. */
  bool is_only_holder() const;
  /** A module that is held weakly stands there for as long as something else holds it. */
  void set(std::shared_ptr<Module> module, bool weakly = false);

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  std::shared_ptr<Module> module_;
  std::weak_ptr<Module> weak_;
};

/** Whether a T says which M there is: none, one by its place, or one by a pointer. */
template <class T, class M>
constexpr bool is_held =
    std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, Child<M>> || std::is_same_v<T, std::shared_ptr<M>>;

/**
 * A submodule as a member of a module class, from Module::add: `hidden(x)`, `hidden->weight`. It follows what
 * is registered under the name, and holds what it works with until it is done, so that replacing or deleting
 * the submodule is safe at any time.
 */
template <class M>
class Child {
 public:
  Child() = default;
  template <class Null, class = std::enable_if_t<std::is_same_v<Null, std::nullptr_t>>>  // and not 0
  Child(Null) {}
  template <class Derived, class = std::enable_if_t<std::is_base_of_v<M, Derived>>>
  Child(std::shared_ptr<Derived> module) : slot_(std::make_shared<ChildSlot>(std::move(module))) {}
  explicit Child(std::shared_ptr<ChildSlot> slot) : slot_(std::move(slot)) {}
  template <class Derived, class = std::enable_if_t<std::is_base_of_v<M, Derived>>>
  Child(const Child<Derived>& child) : slot_(child.slot()) {}

  /** Throws ValueError if nothing is registered under the name any more, TypeError if it is no M. */
  std::shared_ptr<M> get() const;
  std::shared_ptr<M> operator->() const { return get(); }
  /** Calls the module, of whatever kind. */
  Tensor operator()(const Tensor& x) const;
  Value operator()(const Arguments& arguments) const;
  template <class Base, class = std::enable_if_t<std::is_base_of_v<Base, M>>>
  operator std::shared_ptr<Base>() const {
    return get();
  }
  const std::shared_ptr<ChildSlot>& slot() const { return slot_; }

  // The words of libtorch's holders.
  std::shared_ptr<M> ptr() const { return get(); }
  bool is_empty() const { return !slot_ || !slot_->module(); }
  explicit operator bool() const { return !is_empty(); }
  M& operator*() const { return *get(); }

 private:
  std::shared_ptr<Module> module() const;

  std::shared_ptr<ChildSlot> slot_;
};

}  // namespace ocl::nn
