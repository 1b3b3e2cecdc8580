#pragma once

#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Sequential: each module's output is the next one's input. */
class Sequential : public Module {
 public:
  Sequential() = default;
  /** `Sequential(make<Linear>(2, 3), make<ReLU>())`. */
  template <class... Modules, class = std::enable_if_t<(sizeof...(Modules) > 0)>>
  explicit Sequential(std::shared_ptr<Modules>... modules) {
    (append(std::move(modules)), ...);
  }

  /** Registers `module` under the next number. */
  Sequential& append(std::shared_ptr<Module> module);
  std::size_t size() const { return named_children().size(); }
  /** The module at `index`, from the back where negative. Throws IndexError. */
  std::shared_ptr<Module> at(std::int64_t index) const;

  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Sequential"; }
};

/** Constructs a module for Sequential: `make<Linear>(784, 128)`. */
template <class M, class... Args>
std::shared_ptr<M> make(Args&&... args) {
  return std::make_shared<M>(std::forward<Args>(args)...);
}

}  // namespace ocl::nn
