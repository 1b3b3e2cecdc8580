#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * Constants of a program, and other forms of them that kernels read in their place (packed weights, the
 * components of Winograd's filters). The first call that wants a form makes it; later ones find it:
 *
 *     ConstantForms forms;
 *     forms.add(weight.storage);
 *     const ConstantForms::Use use(forms);
 *     conv2d_forward(queue, x, weight, …);  // packs the weight
 *     conv2d_forward(queue, y, weight, …);  // does not
 *
 * Not thread safe.
 */
class ConstantForms {
 public:
  /** Nobody writes to that memory from now on. */
  void add(const std::shared_ptr<Storage>& storage) { forms_[storage.get()].constant = storage; }

  /** While it lives, the calling thread's calls find these forms. */
  class Use {
   public:
    explicit Use(ConstantForms& forms);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ConstantForms* before_;
  };

 private:
  using Key = std::pair<std::string, std::vector<std::int64_t>>;
  struct Forms {
    std::shared_ptr<Storage> constant;
    std::map<Key, Tensor> made;
  };

  friend Tensor form_of(Queue&, const Tensor&, const char*, const std::vector<std::int64_t>&, const Dims&,
                        DType, const std::function<void(const Tensor&)>&);

  std::unordered_map<const Storage*, Forms> forms_;
};

/** A form of a tensor, of that shape and dtype, which `make` enqueues the work for: one that was made before,
 * where the tensor is a constant of the thread's ConstantForms, and scratch otherwise. `kind` and `layout`
 * tell forms of one tensor apart: they say all that `make` depends on beside its elements. */
Tensor form_of(Queue& queue, const Tensor& tensor, const char* kind, const std::vector<std::int64_t>& layout,
               const Dims& shape, DType dtype, const std::function<void(const Tensor& form)>& make);

}  // namespace dlprim
