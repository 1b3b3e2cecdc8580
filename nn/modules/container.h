#pragma once

#include "nn/holder.h"

namespace ocl::nn {

/** Constructs a module for a container: `make<Linear>(784, 128)`. */
template <class M, class... Args>
std::shared_ptr<M> make(Args&&... args) {
  return std::make_shared<M>(std::forward<Args>(args)...);
}

/** The tensor if it is a parameter, or one over its memory: the caller's own stays what it is. */
Tensor as_parameter(const Tensor& tensor);

using ModulePointers = std::vector<std::shared_ptr<Module>>;

/** A pointer to a module, or a module itself. */
template <class T>
constexpr bool is_part =
    std::is_convertible_v<T, std::shared_ptr<Module>> || std::is_base_of_v<Module, std::decay_t<T>>;

/** Whether a T says which C there is, by itself or by its place. */
template <class C, class T>
constexpr bool is_handle_of = std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, Child<C>>;

/** Whether the arguments are the parts of a new C, and no handle to one. */
template <class C, class... Modules>
constexpr bool are_parts =
    (sizeof...(Modules) > 0) && (... && is_part<Modules>) &&
    !(sizeof...(Modules) == 1 &&
      (... && (std::is_same_v<C, std::decay_t<Modules>> || is_handle_of<C, std::decay_t<Modules>>)));

/** An argument of a container: a pointer, or a module by itself, see Module::shared. */
class Part {
 public:
  template <class M, class = std::enable_if_t<is_part<M>>>
  Part(M&& module) {
    if constexpr (std::is_base_of_v<Module, std::decay_t<M>>) {
      module_ = module.shared();
      find_own_forward(static_cast<std::decay_t<M>&>(*module_));  // shared() gives a module of that class
    }
    if constexpr (!std::is_base_of_v<Module, std::decay_t<M>>) module_ = pointer(std::forward<M>(module));
  }
  const std::shared_ptr<Module>& module() const { return module_; }

 private:
  template <class M>
  static std::shared_ptr<Module> pointer(const std::shared_ptr<M>& module) {
    return with_own_forward(module);
  }
  static std::shared_ptr<Module> pointer(std::shared_ptr<Module> module) { return module; }

  std::shared_ptr<Module> module_;
};

/** The common part of Sequential and ModuleList: modules in order, under the numbers from 0 on unless named.
 * Indices count from the back where negative; one out of range throws IndexError. */
class ModuleSequence : public Module {
 public:
  std::size_t size() const { return own_modules().size(); }
  std::shared_ptr<Module> at(std::int64_t index) const;
  /** Null where a number is kept for later. */
  ModulePointers entries() const;
  /** Registers `module` under the next number. */
  void append(std::shared_ptr<Module> module);
  void push_back(const Part& part) { append(part.module()); }
  void push_back(const std::string& name, const Part& part) { register_module(name, part.module()); }
  std::shared_ptr<Module> operator[](std::int64_t index) const { return at(index); }
  void extend(const ModulePointers& modules);
  /** Puts `module` before the one at `index`; all are numbered anew. */
  void insert(std::int64_t index, std::shared_ptr<Module> module);
  /** Puts `module` in the place of the one at `index`. */
  void set(std::int64_t index, std::shared_ptr<Module> module);
  /** Takes the module at `index` away; the others are numbered anew. */
  void erase(std::int64_t index);
  /** Makes these all that there is, numbered anew. */
  void assign(const ModulePointers& modules);

 private:
  std::size_t position(std::int64_t index, std::size_t size, std::size_t end) const;
};

/** torch.nn.Sequential: each module's output is the next one's input. */
class Sequential : public Holder<Sequential, ModuleSequence> {
 public:
  Sequential() = default;
  /** A handle, see Holder. A pointer is a part. */
  template <class Held, std::enable_if_t<is_handle_of<Sequential, Held>, int> = 0>
  Sequential(Held module) : Holder(Child<Sequential>(std::move(module))) {}
  /** `Sequential(Linear(2, 3), ReLU())`, or of pointers `Sequential(make<Linear>(2, 3), make<ReLU>())`. A
   * module that is given by itself is shared, see Module::shared. */
  template <class... Modules, class = std::enable_if_t<are_parts<Sequential, Modules...>>>
  explicit Sequential(Modules&&... modules) {
    (append(Part(std::forward<Modules>(modules)).module()), ...);
  }
  /** Named ones: `Sequential({{"hidden", Linear(2, 3)}, {"out", Linear(3, 1)}})`, or of pointers. */
  explicit Sequential(std::initializer_list<std::pair<std::string, Part>> modules) {
    for (const auto& [name, part] : modules) register_module(name, part.module());
  }
  template <class Named, class = std::enable_if_t<std::is_same_v<Named, Children>>>
  explicit Sequential(const Named& modules) {
    for (const auto& [name, module] : modules) register_module(name, module);
  }

  /** Modules [begin, end), under the names that they have here. */
  std::shared_ptr<Sequential> slice(std::int64_t begin, std::int64_t end) const;
  Tensor forward(const Tensor& x) override;
  /** The first module gets all tensors, and gives one. Throws IndexError where there is none. */
  Tensor forward(const Tensor& first, const Tensor& second, const Tensor& third = {});
  /** Whether it is a Sequential, and not of a class derived from it. */
  bool is_own_class() const { return typeid(*this) == typeid(Sequential); }
  bool works_on_last_dimension() const override { return is_own_class() && parts_work_on_last_dimension(); }
  std::shared_ptr<Module> alike() const override { return std::make_shared<Sequential>(); }

 protected:
  /** Whether every module does, and no hook or listener hears its call. */
  bool parts_work_on_last_dimension() const;
};

/** torch.nn.ModuleList: modules that the owner calls as it likes; has no forward of its own. */
class ModuleList : public Holder<ModuleList, ModuleSequence> {
 public:
  ModuleList() = default;
  /** A handle, see Holder. A pointer is a part. */
  template <class Held, std::enable_if_t<is_handle_of<ModuleList, Held>, int> = 0>
  ModuleList(Held module) : Holder(Child<ModuleList>(std::move(module))) {}
  template <class... Modules, class = std::enable_if_t<are_parts<ModuleList, Modules...>>>
  explicit ModuleList(Modules&&... modules) {
    (append(Part(std::forward<Modules>(modules)).module()), ...);
  }
  std::shared_ptr<Module> alike() const override { return std::make_shared<ModuleList>(); }
  /** Equal neighbours are printed once, with their number. */
  std::string repr() const override;
};

/** torch.nn.ModuleDict: modules by name, in the order in which they were added. */
class ModuleDict : public Module {
 public:
  ModuleDict() = default;
  explicit ModuleDict(const Children& modules) {
    for (const auto& [name, module] : modules) register_module(name, module);
  }
  std::size_t size() const { return named_children().size(); }
  bool contains(const std::string& key) const { return own_module(key) != nullptr; }
  /** Throws ValueError for a name that is not there. */
  std::shared_ptr<Module> at(const std::string& key) const;
  std::vector<std::string> keys() const;
  std::shared_ptr<Module> alike() const override { return std::make_shared<ModuleDict>(); }
};

/** torch.nn.ParameterList: parameters under the numbers from 0 on. */
class ParameterList : public Module {
 public:
  ParameterList() = default;
  explicit ParameterList(const TensorList& parameters) {
    for (const Tensor& p : parameters) append(p);
  }
  std::size_t size() const { return named_parameters("", false, false).size(); }
  /** Makes `tensor` a parameter if it is none yet. */
  void append(const Tensor& tensor);
  Tensor at(std::int64_t index) const;
  void set(std::int64_t index, const Tensor& tensor);
  std::shared_ptr<Module> alike() const override { return std::make_shared<ParameterList>(); }
  std::string extra_repr() const override;

 private:
  std::string name_at(std::int64_t index) const;
};

/** torch.nn.ParameterDict: parameters by name. */
class ParameterDict : public Module {
 public:
  ParameterDict() = default;
  explicit ParameterDict(const StateDict& parameters) {
    for (const auto& [key, tensor] : parameters) register_parameter(key, tensor);
  }
  std::size_t size() const { return named_parameters("", false, false).size(); }
  std::shared_ptr<Module> alike() const override { return std::make_shared<ParameterDict>(); }
  std::string extra_repr() const override;
};

}  // namespace ocl::nn
