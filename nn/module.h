#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/tape/tape.h"
#include "nn/child.h"
#include "nn/hook_list.h"
#include "nn/value.h"

namespace dlprim {
struct PointwiseOp;
}

namespace ocl::serialize {
class OutputArchive;
class InputArchive;
}  // namespace ocl::serialize

namespace ocl {

class Ownership;

/** An entry of a list by name, with libtorch's key() and value(). */
template <class T>
struct Named : std::pair<std::string, T> {
  using std::pair<std::string, T>::pair;
  Named(const std::pair<std::string, T>& entry) : std::pair<std::string, T>(entry) {}
  const std::string& key() const { return this->first; }
  const T& value() const { return this->second; }
  T& value() { return this->second; }
};

/** Tensors by name, in order: what a state dict is. */
struct StateDict : std::vector<Named<Tensor>> {
  using vector::vector;
  using vector::operator[];
  /** The tensor of that name: `load(path)["weight"]`. Throws ValueError where there is none. */
  template <class Name, class = std::enable_if_t<std::is_convertible_v<const Name&, std::string_view>>>
  const Tensor& operator[](const Name& name) const {
    return named(name);
  }
  bool contains(const std::string& name) const;
  /** The form in which functions below nn take named tensors. */
  operator std::vector<std::pair<std::string, Tensor>>() const { return {begin(), end()}; }

 private:
  const Tensor& named(std::string_view name) const;
};

namespace nn {

/** A number as Python prints a float: the fewest digits that read back the same, and always a point ("1.0",
 * "1e-05"). */
std::string float_repr(double value);

/** A module as PyTorch prints it, from its class name, extra_repr and the texts of its submodules by name. */
std::string module_repr(const std::string& name, const std::string& extra_repr,
                        const std::vector<std::pair<std::string, std::string>>& children);

/** A list of modules as PyTorch prints it, from the texts of the modules: equal neighbours as one line. */
std::string module_list_repr(const std::string& name, const std::vector<std::string>& texts);

/** Marks a tensor as a parameter: a leaf that requires gradients, which modules register by assignment in
 * Python. */
Tensor parameter(Tensor data, bool requires_grad = true);

/** A walk over modules that contain themselves, which would not end. Python: RecursionError. */
class RecursionError : public Error {
  using Error::Error;
};

/** No submodule, parameter or buffer of that name. Python: AttributeError. */
class AttributeError : public Error {
  using Error::Error;
};

/** Names that a state dict lacked, and names in it that the module does not have. */
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

/** Lists that hooks which run before a state dict is loaded may add to: names beside those that are found
 * missing or unexpected, and errors. */
struct LoadReport : IncompatibleKeys {
  std::vector<std::string> errors;
};

/**
 * Base of all modules: parameters, buffers and submodules by name, as torch.nn.Module.
 *
 *     struct Net : ocl::nn::Module {
 *       ocl::nn::Child<ocl::nn::Linear> hidden = add<ocl::nn::Linear>("hidden", 784, 128);
 *       ocl::nn::Child<ocl::nn::Linear> out = add<ocl::nn::Linear>("out", 128, 10);
 *       ocl::Tensor forward(const ocl::Tensor& x) override { return out(ocl::relu(hidden(x))); }
 *     };
 *
 * Threads may register, walk and call at once: what is listed is copied under a lock that is never held while
 * a hook, a forward or a destructor runs.
 */
class Module {
 public:
  using ForwardHook = std::function<Value(Module&, const Arguments&, const Value& output)>;
  using ForwardPreHook = std::function<std::optional<Arguments>(Module&, const Arguments&)>;
  using BackwardHook = std::function<std::optional<TensorList>(Module&, const TensorList& grad_input,
                                                               const TensorList& grad_output)>;
  // The call for modules of one tensor.
  using TensorForwardHook = std::function<Tensor(const Module&, const Tensor& input, const Tensor& output)>;
  using TensorForwardPreHook = std::function<Tensor(const Module&, const Tensor& input)>;
  using TensorBackwardHook =
      std::function<Tensor(const Module&, const Tensor& grad_input, const Tensor& grad_output)>;
  using Forward = std::function<Value(const Arguments&)>;
  // `prefix`: what stands before the module's own names in the state dict ("block.").
  using StateDictPreHook = std::function<void(const Module&, const std::string& prefix, bool keep_vars)>;
  using StateDictHook = std::function<void(const Module&, StateDict& state, const std::string& prefix)>;
  using LoadStateDictPreHook =
      std::function<void(Module&, StateDict& state, const std::string& prefix, LoadReport&)>;
  using LoadStateDictPostHook = std::function<void(Module&, IncompatibleKeys&)>;
  using Children = std::vector<Named<std::shared_ptr<Module>>>;

  Module() = default;
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

// RNN, GRU and LSTM hide it, whose forward gives a tuple; GCC warns of that here, other compilers there.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
  /** The module's computation. Throws TypeError where a module takes something else than one tensor. */
  virtual Tensor forward(const Tensor& x);
#pragma GCC diagnostic pop
  /** The computation of a module that takes or gives anything else; forward, where not overridden. */
  virtual Value call(const Arguments& arguments);
  /** The pre-hooks, the computation, the hooks. Throws TypeError where the result is no tensor. */
  Tensor operator()(const Tensor& x);
  Value operator()(const Arguments& arguments);
  /** The pre-hooks, `forward` in place of the module's own computation, the hooks. */
  Value with_hooks(Arguments arguments, const Forward& forward);
  bool has_hooks() const;
  /** Puts `forward` in the place of this one object's own computation, whoever calls it; an empty one gives
   * it back. */
  void replace_forward(Forward forward);
  /** The forward of a class that overrides none of Module's (holder.h): what calls compute. */
  using OwnForward = Value (*)(Module& module, const Arguments& arguments);
  void set_own_forward(OwnForward own) { own_forward_ = own; }
  /** Whether calls are what the class computes and nothing else: without hooks, not replaced. */
  bool computes_alone() const;

  /** The row of the pointwise table that forward computes, without parameters; null for most modules, and for
   * classes derived from one that has it: they may compute something else. */
  virtual const dlprim::PointwiseOp* pointwise() const { return nullptr; }
  /** Whether each vector along the last dimension of what a call gives is made of the same vector of its
   * input alone, so that others may be left out. False for classes derived from one that says so. */
  virtual bool works_on_last_dimension() const { return pointwise() != nullptr; }

  /** The class name without its namespace: "Conv2d". */
  virtual std::string name() const;
  /** The text between the parentheses of repr: "1, 32, kernel_size=(3, 3)". */
  virtual std::string extra_repr() const { return ""; }
  /** A new module of the same class and options, without tensors where a FactoryScope says so. Throws
   * TypeError for a class that does not say how. */
  virtual std::shared_ptr<Module> alike() const;
  /** A module of the same class, options and mode, with copies of all tensors and submodules; what is shared
   * within this one is shared within the copy. Hooks are not copied. Throws TypeError, see alike(). */
  std::shared_ptr<Module> clone() const;
  /** A pointer to this module, which a variable or a member holds: the module moves to where the pointer
   * leads with its tensors, submodules and hooks, and what it was stands for that one from then on. Throws
   * TypeError, see alike(). */
  std::shared_ptr<Module> shared() const;
  /** This module as an M, or null where it is of another class. */
  template <class M>
  M* as() {
    return dynamic_cast<M*>(this);
  }
  template <class M>
  const M* as() const {
    return dynamic_cast<const M*>(this);
  }
  /** The module and its submodules as PyTorch prints them. */
  virtual std::string repr() const;  // a walk, see train()

  /** Registers under a name of one word; later ones replace earlier ones, of whatever kind. An undefined
   * tensor, or no module, keeps the name for later. A buffer that is not persistent stays out of the state
   * dict. A module that contains this one is held weakly, so that modules in a circle are freed when nothing
   * outside holds them. */
  Tensor register_parameter(const std::string& name, Tensor tensor);
  Tensor register_buffer(const std::string& name, Tensor tensor, bool persistent = true);
  void register_module(const std::string& name, std::shared_ptr<Module> module);
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  std::shared_ptr<M> register_module(const std::string& name, const std::shared_ptr<M>& module) {
    register_module(name, std::shared_ptr<Module>(module));
    return module;
  }
  /** Registers what shared() gives: `fc = register_module("fc", Linear(2, 3))`, or of a member,
   * `register_module("fc", fc)`. */
  template <class M, class Class = std::decay_t<M>,
            class = std::enable_if_t<std::is_base_of_v<Module, Class>>>
  Child<Class> register_module(const std::string& name, M&& module) {
    register_module(name, module.shared());
    return child<Class>(name);
  }
  /** Registers what a member of another module, or one under another name, holds. */
  template <class M>
  Child<M> register_module(const std::string& name, const Child<M>& module) {
    register_module(name, std::shared_ptr<Module>(module.get()));
    return child<M>(name);
  }
  /** Takes the parameter, buffer or submodule of that name away. Throws ValueError if there is none. */
  void unregister(const std::string& name);
  /** Constructs a submodule and registers it. */
  template <class M, class... Args>
  Child<M> add(const std::string& name, Args&&... args) {
    register_module(name, std::make_shared<M>(std::forward<Args>(args)...));
    return child<M>(name);
  }
  /** The place of that name among the submodules, for a member. */
  template <class M>
  Child<M> child(const std::string& name) {
    return Child<M>(slot_for(name));
  }
  /** Called with every output, unless it is idle; what it returns, unless nothing, replaces the output. */
  RemovableHandle register_forward_hook(ForwardHook hook, IsIdle is_idle = nullptr);
  RemovableHandle register_forward_hook(TensorForwardHook hook);
  /** Called with the arguments of every call; those it returns replace them. */
  RemovableHandle register_forward_pre_hook(ForwardPreHook hook, IsIdle is_idle = nullptr);
  RemovableHandle register_forward_pre_hook(TensorForwardPreHook hook);
  /**
   * Called in every backward while the module lives, with the gradients of the positional arguments and of
   * the output or outputs. A gradient that is not there is undefined. The hook's result replaces the
   * gradients of the arguments.
   */
  RemovableHandle register_full_backward_hook(BackwardHook hook, IsIdle is_idle = nullptr);
  RemovableHandle register_full_backward_hook(TensorBackwardHook hook);
  /** Called before a state dict is made, and when it holds the module's tensors and those below. */
  RemovableHandle register_state_dict_pre_hook(StateDictPreHook hook);
  RemovableHandle register_state_dict_post_hook(StateDictHook hook);
  /** Called before a state dict is loaded, and when it is: the former may change the state dict, the latter
   * what counts as missing or unexpected. */
  RemovableHandle register_load_state_dict_pre_hook(LoadStateDictPreHook hook);
  RemovableHandle register_load_state_dict_post_hook(LoadStateDictPostHook hook);
  /** Lets a graph whose backward calls this module's hooks keep the module: `keeper` gives a reference. */
  void set_keeper(std::function<Foreign()> keeper);

  /** Parameters and buffers of this module and, with `recurse`, of those below it, with dotted names after
   * `prefix` ("conv1.weight"); without `remove_duplicate` a shared one is listed under each of its names. */
  StateDict named_parameters(const std::string& prefix = "", bool recurse = true,
                             bool remove_duplicate = true) const;
  StateDict named_buffers(const std::string& prefix = "", bool recurse = true,
                          bool remove_duplicate = true) const;
  TensorList parameters(bool recurse = true) const;
  TensorList buffers(bool recurse = true) const;
  Children named_children() const;
  /** All of them, with null under the names that are kept for later. */
  Children own_modules() const;
  /** Whether a module that several share is listed once or under each of its names. A bool in that place is
   * libtorch's `include_self`. */
  enum class Duplicates { removed, kept };
  /** This module under `prefix`, which the list does not keep alive, and those below it with dotted names.
   * With duplicates, throws RecursionError where a module contains itself. */
  Children named_modules(const std::string& prefix = "", Duplicates duplicates = Duplicates::removed) const;
  Children named_modules(const std::string& prefix, bool include_self) const;
  std::vector<std::shared_ptr<Module>> children() const;
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  /** Throws RecursionError if a module here or below contains itself. */
  void require_no_cycle() const;
  /** The object under a dotted name ("block.conv1.weight"). Throws AttributeError if nothing does. */
  std::shared_ptr<const Module> get_submodule(const std::string& target) const;
  Tensor get_parameter(const std::string& target) const;
  Tensor get_buffer(const std::string& target) const;
  /** This module's own parameter or buffer of that name: undefined if registered without one, nothing if not
   * registered. */
  std::optional<Tensor> own_parameter(const std::string& name) const;
  std::optional<Tensor> own_buffer(const std::string& name) const;
  /** This module's own parameters and buffers, undefined ones too. */
  StateDict own_parameters() const { return copy_of(&Module::parameters_); }
  StateDict own_buffers() const { return copy_of(&Module::buffers_); }
  /** Whether the state dict holds the own buffer of that name. */
  bool is_persistent(const std::string& buffer) const;
  /** This module's own submodule of that name, or null. */
  std::shared_ptr<Module> own_module(const std::string& name) const;
  /** Whether that is the name of a submodule, be it one kept for later. */
  bool has_submodule(const std::string& name) const;

  /** Sets training mode here and, by their own train(), below (dropout and batch norm behave differently).
   * Like every walk, throws RecursionError where a module contains itself. */
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const {
    if (const auto other = elsewhere()) return other->is_training();
    return training_.load(std::memory_order_relaxed);
  }
  /** Sets it here alone. */
  void set_training(bool on) {
    if (const auto other = elsewhere()) return other->set_training(on);
    training_.store(on, std::memory_order_relaxed);
  }

  /** Moves parameters and buffers; handles to them stay valid. Floating ones take `dtype`, which must be a
   * floating one. */
  void to(const Device& device);
  void to(DType dtype);
  void to(const Device& device, DType dtype) {
    to(device);
    to(dtype);
  }
  /** Those of four dimensions, and of five, take `format`. Throws ValueError, with nothing changed, where a
   * tensor has the wrong one of the two. */
  void to(MemoryFormat format);
  /** Calls `function` on every submodule, by their own apply(), then on this module. */
  virtual void apply(const std::function<void(Module&)>& function);
  /** Drops the gradients of all parameters, or sets them to zero. */
  void zero_grad(bool set_to_none = true);
  void requires_grad_(bool requires_grad = true);

  /** Parameters and buffers by dotted name after `prefix`, sharing memory with the module and, unless
   * `keep_vars`, free of the tape. */
  StateDict state_dict(const std::string& prefix = "", bool keep_vars = false) const;
  /**
   * Copies values in or, with `assign`, takes the given tensors themselves. With `strict`, throws ValueError
   * listing missing and unexpected names; sizes must always fit. Nothing changes unless all do; but where
   * post-hooks may change the lists of names, what fits is copied before they are refused.
   */
  IncompatibleKeys load_state_dict(StateDict state, bool strict = true, bool assign = false);
  /** The state dict in one of libtorch's archives (nn/io/archive.h). */
  void save(serialize::OutputArchive& archive) const;
  void load(const serialize::InputArchive& archive);
  /** Whether a hook, here or below, may change a state dict that is loaded. */
  bool rewrites_state_dicts() const;

  /** Adds the parameters and buffers that nothing but this module holds, and those of submodules of which the
   * same is true. */
  void add_owned(Ownership& ownership) const;

 protected:
  /** Makes this the module at that place, whatever stands there: a handle, see Holder. */
  void stand_for(std::shared_ptr<ChildSlot> place) const;
  bool is_handle() const { return is_handle_.load(std::memory_order_acquire); }
  const std::shared_ptr<ChildSlot>& place() const { return place_; }
  /** The module that a handle stands for; null for a module that is itself one. Throws ValueError where
   * nothing is there. */
  std::shared_ptr<Module> elsewhere() const { return is_handle() ? found() : nullptr; }
  /** The tensor in a member that was registered: for a forward, which another thread may register anew under.
   */
  Tensor held(const Tensor& member) const {
    const std::lock_guard locked(mutex_);
    return member;
  }
  /** Registers `value` and sets `member` to it, now and whenever another tensor is registered under the name.
   */
  void register_parameter(const std::string& name, Tensor& member, Tensor value);
  void register_buffer(const std::string& name, Tensor& member, Tensor value);
  std::mutex& mutex() const { return mutex_; }
  /** The copies made within one clone(), by the address of its original. */
  using Copies = std::map<const void*, std::shared_ptr<void>>;
  /** The copy that clone() makes of this module where it stands. */
  virtual std::shared_ptr<Module> copied(Copies& copies) const;

 private:
  friend class ChildSlot;  // which leads to no handle
  std::shared_ptr<Module> found() const;
  /** The entries of `own` of this module and those below it. */
  StateDict collect(StateDict Module::* own, const std::string& prefix, bool recurse,
                    bool remove_duplicate) const;
  void save_state(StateDict& state, const std::string& prefix, bool keep_vars) const;
  bool has_load_post_hooks() const;
  void run_load_post_hooks(IncompatibleKeys& keys);
  using Slots = std::vector<std::pair<std::string, std::shared_ptr<ChildSlot>>>;
  Value watched(const Arguments& arguments, const Forward& forward,
                const HookList<BackwardHook>::Hooks& hooks);
  void take_copies(const Module& original, Copies& copies);
  void take_hooks(const Module& original);
  /** The object that stood under a name. */
  struct Removed {
    std::optional<Tensor> parameter, buffer;
    std::shared_ptr<ChildSlot> child;
  };
  /** Takes the name out of the parameters, the buffers and the submodules but for those at `kept`, under the
   * caller's lock. */
  Removed take_away(const std::string& name, const void* kept);
  /** Sets the members of derived classes that hold what is registered under `name`; gives back what they
   * held. */
  TensorList follow(const std::string& name, const Tensor& value);
  void add_own_tensors(Ownership& ownership) const;
  StateDict copy_of(StateDict Module::* own) const;
  TensorList tensors_of(StateDict Module::* own, bool recurse) const;
  /** The place of that name among the submodules, made if there is none. */
  std::shared_ptr<ChildSlot> slot_for(const std::string& name);
  Slots slots() const;
  /** Whether `other` is this module or one below it. */
  bool contains(const Module* other) const;
  /** Puts `value` where the own parameter or buffer `held` is. */
  void assign(const std::string& own_name, const Tensor& held, const Tensor& value);
  /** Own parameters, then own persistent buffers: of both, what is defined. */
  StateDict own_state() const;

  // Handles have these alone.
  mutable std::shared_ptr<ChildSlot> place_;
  mutable std::atomic<bool> is_handle_{false};

  mutable std::mutex mutex_;  // of what follows, up to the hooks
  StateDict parameters_, buffers_;
  std::set<std::string> transient_;  // buffers that stay out of the state dict
  std::vector<std::pair<std::string, Tensor*>>
      members_;  // of derived classes, which follow what is registered
  Slots children_;
  std::vector<std::shared_ptr<ChildSlot>> vacant_;  // of names taken away, which a Child may still hold

  OwnForward own_forward_ = nullptr;
  std::shared_ptr<const Forward> replaced_forward_;  // by std::atomic_load and store
  HookList<ForwardHook> forward_hooks_;
  HookList<ForwardPreHook> forward_pre_hooks_;
  HookList<BackwardHook> backward_hooks_;
  HookList<StateDictPreHook> state_dict_pre_hooks_;
  HookList<StateDictHook> state_dict_hooks_;
  HookList<LoadStateDictPreHook> load_pre_hooks_;
  HookList<LoadStateDictPostHook> load_post_hooks_;
  std::function<Foreign()> keeper_;
  std::atomic<bool> training_{true};
  std::atomic<bool> is_submodule_{false};                         // was registered in some module
  const std::shared_ptr<void> alive_ = std::make_shared<char>();  // lets closures see that the module is gone
};

/** Throws ValueError where there is none. */
std::shared_ptr<Module> module_at(const ChildSlot& place);

/** Throws TypeError: the module is not of the kind that its user holds, "the submodule 'fc'" say. */
[[noreturn]] void refuse_kind(const std::string& user, const Module& module);

/** The module that stands under a name as the class that its user has. Throws TypeError. */
template <class M>
M& as_kind(Module& module, const char* user) {
  M* found = dynamic_cast<M*>(&module);
  if (!found) refuse_kind(user, module);
  return *found;
}

template <class M>
std::shared_ptr<M> Child<M>::get() const {
  std::shared_ptr<Module> found = module();
  M* wanted = dynamic_cast<M*>(found.get());
  if (!wanted) refuse_kind("the submodule '" + slot_->name() + "'", *found);
  return {std::move(found), wanted};
}

template <class M>
Tensor Child<M>::operator()(const Tensor& x) const {
  return (*module())(x);
}

template <class M>
Value Child<M>::operator()(const Arguments& arguments) const {
  return (*module())(arguments);
}

template <class M>
std::shared_ptr<Module> Child<M>::module() const {
  if (!slot_) return module_at(ChildSlot(std::shared_ptr<Module>()));
  return module_at(*slot_);
}

}  // namespace nn
}  // namespace ocl
