#pragma once

#include <deque>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "autograd/tensor/tensor.h"
#include "dlprim/core/arguments.h"

namespace ocl {

/**
 * Stands between the call of an operator and its work, and may give it other tensors: what autocast is. It
 * belongs to a thread. It hears nothing within an operator that it has changed, and no part of a backward
 * pass.
 */
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  /** Whether the tensors of that operator are to go through `rewrite`. */
  virtual bool intercepts(const char* name) = 0;
  /** May put other tensors in the places of those that the operator was given; undefined ones among them. */
  virtual void rewrite(const char* name, const std::vector<Tensor*>& tensors) = 0;
};

/** The interceptor of the calling thread, or null. */
inline thread_local Interceptor* interceptor = nullptr;

/** Sets it until the guard ends. */
class Intercepting {
 public:
  explicit Intercepting(Interceptor* now) : before_(std::exchange(interceptor, now)) {}
  ~Intercepting() { interceptor = before_; }
  Intercepting(const Intercepting&) = delete;
  Intercepting& operator=(const Intercepting&) = delete;

 private:
  Interceptor* before_;
};

/** One call of an operator; true where it is to be made with other tensors. See ENTER_OPERATOR. */
class Interception {
 public:
  explicit Interception(const char* name) : name_(name) {
    if (interceptor && interceptor->intercepts(name)) interceptor_ = interceptor;
  }
  explicit operator bool() const { return interceptor_ != nullptr; }

  /** `operation` of the arguments as the interceptor has changed them. */
  template <class Operation, class... Arguments>
  auto call(Operation operation, const Arguments&... arguments) const {
    std::tuple<Arguments...> own(arguments...);
    std::vector<Tensor*> tensors;
    std::deque<std::pair<Operand*, Tensor>> of_operands;
    std::apply([&](auto&... each) { (collect(each, tensors, of_operands), ...); }, own);
    const Intercepting no_more(nullptr);
    interceptor_->rewrite(name_, tensors);
    for (auto& [operand, tensor] : of_operands) *operand = Operand(tensor);
    return std::apply(operation, own);
  }

 private:
  using OfOperands = std::deque<std::pair<Operand*, Tensor>>;

  template <class T>
  static void collect(T& value, std::vector<Tensor*>& tensors, OfOperands& of_operands) {
    if constexpr (std::is_same_v<T, Tensor>) {
      tensors.push_back(&value);
    } else if constexpr (std::is_same_v<T, Operand>) {
      if (!value.is_tensor()) return;
      of_operands.emplace_back(&value, value.tensor());
      tensors.push_back(&of_operands.back().second);
    } else if constexpr (dlprim::is_list<T>::value) {
      using Element = std::decay_t<decltype(*std::begin(value))>;
      if constexpr (!std::is_arithmetic_v<Element>)
        for (auto& each : value) collect(each, tensors, of_operands);
    } else if constexpr (dlprim::is_optional<T>::value) {
      if (value) collect(*value, tensors, of_operands);
    } else if constexpr (dlprim::has_fields<T>::value) {
      std::apply([&](auto&... each) { (collect(each, tensors, of_operands), ...); }, value.fields());
    }
  }

  const char* name_;
  Interceptor* interceptor_ = nullptr;
};

}  // namespace ocl
