#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl::nn {

class Module;
class Value;
struct Arguments;

/** The place of one name among a module's submodules: shared by the module and the Child handles that it
 * gave. */
class ChildSlot {
 public:
  explicit ChildSlot(std::string name) : name_(std::move(name)) {}

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

/**
 * A submodule as a member of a module class, from Module::add: `hidden(x)`, `hidden->weight`. It follows what
 * is registered under the name, and holds what it works with until it is done, so that replacing or deleting
 * the submodule is safe at any time.
 */
template <class M>
class Child {
 public:
  Child(std::nullptr_t = nullptr) {}
  explicit Child(std::shared_ptr<ChildSlot> slot) : slot_(std::move(slot)) {}
  template <class Derived, class = std::enable_if_t<std::is_base_of_v<M, Derived>>>
  Child(const Child<Derived>& child) : slot_(child.slot()) {}

  /** Throws ValueError if nothing is registered under the name any more, TypeError if it is no M. */
  std::shared_ptr<M> get() const;
  std::shared_ptr<M> operator->() const { return get(); }
  /** Calls the module, of whatever kind. */
  Tensor operator()(const Tensor& x) const;
  Value operator()(const Arguments& arguments) const;
  const std::shared_ptr<ChildSlot>& slot() const { return slot_; }

 private:
  std::shared_ptr<Module> module() const;

  std::shared_ptr<ChildSlot> slot_;
};

}  // namespace ocl::nn
