#pragma once

#include <any>
#include <map>
#include <typeinfo>

#include "autograd/tape/tape.h"

namespace ocl::autograd {

using tensor_list = TensorList;
using variable_list = TensorList;

/** A value that forward leaves for backward, with libtorch's words for reading it. Each throws TypeError
 * where something else was left. */
class SavedValue : public std::any {
 public:
  using std::any::any;
  using std::any::operator=;
  /** Reads any number. */
  double toDouble() const;
  /** Reads a whole number. */
  std::int64_t toInt() const;
  bool toBool() const;
  Tensor toTensor() const;
  std::string toStringRef() const;
};

/** It carries what forward leaves for backward, as torch::autograd::AutogradContext. */
class AutogradContext {
 public:
  /** Keeps tensors: arguments, results or others. */
  void save_for_backward(const TensorList& tensors);
  /** Those tensors. Throws AutogradError for one that was written in place since. */
  TensorList get_saved_variables() const;
  /** Whatever else backward needs, by name: `context->saved_data["p"] = p`, `saved_data["p"].toDouble()`. */
  std::map<std::string, SavedValue> saved_data;

  /** Whether anybody asks for the gradient of an argument, tensors and others counted. */
  bool needs_input_grad(std::size_t argument) const { return needed_.at(argument); }
  /** Arguments that forward has written in place; it returns them, and they become its results. Views cannot
   * be marked. */
  void mark_dirty(const TensorList& arguments) { dirty_ = arguments; }
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
    int input = -1;   // of an argument that hooks have packed
  };
  /** Lets go of the tensors that hooks have packed (saved_tensor_hooks.h). */
  void forget_packed(const TensorList& arguments);

  std::vector<Saved> saved_;
  std::vector<bool> needed_;
  TensorList not_differentiable_, dirty_;
  bool materializes_ = true;
  bool packs_ = false;
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
