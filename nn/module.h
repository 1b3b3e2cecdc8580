#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/tensor.h"

namespace ocl {

/** Tensors by name, in order: what a state dict is. */
using StateDict = std::vector<std::pair<std::string, Tensor>>;

namespace nn {

/** A number as Python prints a float: the fewest digits that read back the same, and always a point ("1.0",
 * "1e-05"). */
std::string float_repr(double value);

/** A module as PyTorch prints it, from its class name, extra_repr and the texts of its submodules by name. */
std::string module_repr(const std::string& name, const std::string& extra_repr,
                        const std::vector<std::pair<std::string, std::string>>& children);

/** Marks a tensor as a parameter: a leaf that requires gradients, which modules register by assignment in
 * Python. */
Tensor parameter(Tensor data, bool requires_grad = true);

/**
 * Base of all modules: parameters, buffers and submodules by name, as torch.nn.Module.
 *
 *     struct Net : ocl::nn::Module {
 *       ocl::nn::Linear& hidden = add<ocl::nn::Linear>("hidden", 784, 128);
 *       ocl::nn::Linear& out = add<ocl::nn::Linear>("out", 128, 10);
 *       ocl::Tensor forward(const ocl::Tensor& x) override { return out(ocl::relu(hidden(x))); }
 *     };
 */
class Module {
 public:
  using ForwardHook = std::function<Tensor(const Module&, const Tensor& input, const Tensor& output)>;

  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /** The module's computation. Throws TypeError where a module takes something else than one tensor. */
  virtual Tensor forward(const Tensor& x);
  /** forward, then the hooks. */
  Tensor operator()(const Tensor& x);

  /** The class name without its namespace: "Conv2d". */
  virtual std::string name() const;
  /** What stands between the parentheses of repr: "1, 32, kernel_size=(3, 3)". */
  virtual std::string extra_repr() const { return ""; }
  /** The module and its submodules as PyTorch prints them. */
  std::string repr() const;

  /** Registers under a name of one word; later ones replace earlier ones. */
  Tensor& register_parameter(const std::string& name, Tensor tensor);
  Tensor& register_buffer(const std::string& name, Tensor tensor);
  void register_module(const std::string& name, std::shared_ptr<Module> module);
  /** Constructs a submodule and registers it. */
  template <class M, class... Args>
  M& add(const std::string& name, Args&&... args) {
    auto module = std::make_shared<M>(std::forward<Args>(args)...);
    register_module(name, module);
    return *module;
  }
  /** Called with every output; a defined tensor it returns replaces the output. */
  void register_forward_hook(ForwardHook hook) { forward_hooks_.push_back(std::move(hook)); }
  const std::vector<ForwardHook>& forward_hooks() const { return forward_hooks_; }

  /** Own and inherited parameters, with dotted names ("conv1.weight"). */
  StateDict named_parameters() const;
  TensorList parameters() const;
  StateDict named_buffers() const;
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& named_children() const {
    return children_;
  }
  /** This module's own parameter or buffer of that name: undefined if registered without one, nothing if not
   * registered. */
  std::optional<Tensor> own_parameter(const std::string& name) const;
  std::optional<Tensor> own_buffer(const std::string& name) const;
  /** This module's own submodule of that name, or null. */
  std::shared_ptr<Module> own_module(const std::string& name) const;

  /** Sets training mode here and below (dropout and batch norm behave differently). */
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  /** Moves parameters and buffers; handles to them stay valid. Floating ones take `dtype`. */
  void to(const Device& device);
  void to(DType dtype);
  /** Calls `function` on every submodule, then on this module. */
  void apply(const std::function<void(Module&)>& function);
  /** Drops the gradients of all parameters, or sets them to zero. */
  void zero_grad(bool set_to_none = true);
  void requires_grad_(bool requires_grad = true);

  /** Parameters and buffers by dotted name, free of the tape, sharing memory with the module. */
  StateDict state_dict() const;
  /** Copies values in. With `strict`, throws ValueError listing missing and unexpected names; sizes must
   * always fit. */
  void load_state_dict(const StateDict& state, bool strict = true);

 protected:
  /** Registers `value` and sets `member` to it, now and whenever another tensor is registered under the name.
   */
  void register_parameter(const std::string& name, Tensor& member, Tensor value);
  void register_buffer(const std::string& name, Tensor& member, Tensor value);
  /** A number kept on the host that belongs to the state dict as an int64 scalar. */
  void register_counter(const std::string& name, std::int64_t* counter) {
    counters_.emplace_back(name, counter);
  }

 private:
  template <class Visit>
  void visit(const std::string& prefix, const Visit& visitor) const;

  void follow(const std::string& name, const Tensor& value);

  StateDict parameters_, buffers_;
  std::vector<std::pair<std::string, Tensor*>> members_;  // handles of derived classes to registered tensors
  std::vector<std::pair<std::string, std::int64_t*>> counters_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children_;
  std::vector<ForwardHook> forward_hooks_;
  bool training_ = true;
};

}  // namespace nn
}  // namespace ocl
