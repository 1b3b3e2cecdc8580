#pragma once

#include <any>
#include <map>
#include <typeinfo>

#include "autograd/tape/tape.h"

namespace ocl::autograd {

/** It carries what forward leaves for backward, as torch::autograd::AutogradContext. */
class AutogradContext {
 public:
  /** Keeps tensors: arguments, results or others. */
  void save_for_backward(const TensorList& tensors);
  /** Those tensors. Throws AutogradError for one that was written in place since. */
  TensorList get_saved_variables() const;
  /** Whatever else backward needs, by name: `context->saved_data["p"] = p`, `std::any_cast<double>(…)`. */
  std::map<std::string, std::any> saved_data;

  /** Whether anybody asks for the gradient of an argument, tensors and others counted. */
  bool needs_input_grad(std::size_t argument) const { return needed_.at(argument); }
  /** Results that no gradient flows through; results of whole numbers are such anyway. */
  void mark_non_differentiable(const TensorList& results) { not_differentiable_ = results; }
  /** Whether backward sees zeros (as it does unless told) or undefined tensors for gradients that nobody
   * sent. */
  void set_materialize_grads(bool materializes) { materializes_ = materializes; }

 private:
  friend class FunctionCall;
  struct Saved {
    SavedTensor tensor;
    Tensor given;     // with its history; not of a result, which would hold itself alive
    int output = -1;  // of a result
  };
  std::vector<Saved> saved_;
  std::vector<bool> needed_;
  TensorList not_differentiable_;
  bool materializes_ = true;
};

/** One call of a Function. */
class FunctionCall {
 public:
  using OwnBackward = std::function<TensorList(AutogradContext* context, const TensorList& gradients)>;

  template <class Argument>
  void note(const Argument& argument) {
    if constexpr (std::is_convertible_v<const Argument&, const Tensor&>)
      note_tensor(argument);
    else
      note_tensor({});
  }
  AutogradContext* context() { return context_.get(); }
  /** `results`, on the tape where one of the arguments asks for gradients. */
  TensorList recorded(const std::type_info& type, const TensorList& results, const OwnBackward& backward);

 private:
  /** Undefined: something that has no gradient. */
  void note_tensor(const Tensor& tensor);

  std::shared_ptr<AutogradContext> context_ = std::make_shared<AutogradContext>();
  TensorList tensors_;
  std::vector<bool> are_tensors_;
};

/**
 * A function with a derivative of its own, as torch::autograd::Function:
 *
 *     struct Cube : autograd::Function<Cube> {
 *       static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
 *         context->save_for_backward({x});
 *         return x * x * x;
 *       }
 *       static TensorList backward(autograd::AutogradContext* context, const TensorList& grads) {
 *         const Tensor x = context->get_saved_variables()[0];
 *         return {3 * x * x * grads[0]};
 *       }
 *     };
 *     const Tensor y = Cube::apply(x);
 *
 * forward gives a tensor or a TensorList and records nothing. backward is given a gradient for each result.
 * It gives one for each argument, and undefined tensors for those that have none. Its operators are
 * recorded where gradients are differentiated in turn. Throws AutogradError for another number of gradients,
 * or for one that does not fit.
 */
template <class T>
struct Function {
  template <class... Arguments>
  static auto apply(const Arguments&... arguments) {
    FunctionCall call;
    (call.note(arguments), ...);
    const auto forward = [&] {
      const NoGradGuard no_grad;
      return T::forward(call.context(), arguments...);
    };
    const auto given = forward();
    const auto recorded = [&](const TensorList& results) {
      return call.recorded(typeid(T), results, [](AutogradContext* context, const TensorList& gradients) {
        return T::backward(context, gradients);
      });
    };
    if constexpr (std::is_convertible_v<decltype(given), const Tensor&>)
      return recorded({given})[0];
    else
      return recorded(given);
  }
};

}  // namespace ocl::autograd
