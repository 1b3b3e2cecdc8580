#pragma once

#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "autograd/ops/operator_results.h"
#include "autograd/tensor/tensor.h"
#include "dlprim/core/arguments.h"

namespace ocl {

/** A call of an operator, before its work. */
struct InterceptedCall {
  const char* name;
  /** The tensors that it is given, in order, undefined ones among them. Others may be put in their places. */
  const std::vector<Tensor*>& tensors;
  /** Its arguments by name, with the tensors as they are then. */
  std::function<std::vector<dlprim::Argument>()> arguments;
};

/**
 * Stands between the call of an operator and its work. It may give it other tensors, as autocast does, or the
 * results, in place of the device. It belongs to a thread. It is not asked about the operators that an
 * operator calls, about backward passes, nor about operators that write over their first argument.
 */
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  /** Whether that operator is to go through `intercept`. */
  virtual bool intercepts(const char* name) = 0;
  /** May change the call's tensors, and returns the operator's results. The operator does its work where it
   * returns nothing. */
  virtual std::optional<TensorList> intercept(const InterceptedCall& call) = 0;
  /** Whether calls that it does not answer go on to the interceptor that was there before it. */
  virtual bool passes_on() const { return false; }

  /** The one that calls go on to, or null. */
  Interceptor* next() const { return passes_on() ? before_ : nullptr; }

 private:
  friend class Intercepting;
  friend void set_last_interceptor(Interceptor& last, bool is_on);
  Interceptor* before_ = nullptr;
};

/** The first interceptor of the calling thread, or null. */
inline thread_local Interceptor* interceptor = nullptr;

/** Makes it the first one until the guard ends. */
class Intercepting {
 public:
  explicit Intercepting(Interceptor& now) : now_(now) { now.before_ = std::exchange(interceptor, &now); }
  ~Intercepting() { interceptor = now_.before_; }
  Intercepting(const Intercepting&) = delete;
  Intercepting& operator=(const Intercepting&) = delete;

 private:
  Interceptor& now_;
};

/** Until the guard ends calls go to `first` and those behind it, or to nobody. */
class InterceptedFrom {
 public:
  explicit InterceptedFrom(Interceptor* first) : before_(std::exchange(interceptor, first)) {}
  ~InterceptedFrom() { interceptor = before_; }
  InterceptedFrom(const InterceptedFrom&) = delete;
  InterceptedFrom& operator=(const InterceptedFrom&) = delete;

 private:
  Interceptor* before_;
};

/** Puts `last` behind all others, or takes it away. */
void set_last_interceptor(Interceptor& last, bool is_on);

/** One call of an operator; true where somebody intercepts it. See ENTER_OPERATOR. */
class Interception {
 public:
  Interception(const char* name, const char* names) : name_(name), names_(names) {
    first_ = interceptor;
    while (first_ && !first_->intercepts(name)) first_ = first_->next();
  }
  explicit operator bool() const { return first_ != nullptr; }

  /** Returns what an interceptor answers, or else `operation` of the arguments as they have changed them. */
  template <class Operation, class... Arguments>
  auto call(Operation operation, const Arguments&... arguments) const {
    using Result = std::decay_t<decltype(operation(arguments...))>;
    std::tuple<Arguments...> own(arguments...);
    std::vector<Tensor*> tensors;
    OfOperands of_operands;
    std::apply([&](auto&... each) { (collect(each, tensors, of_operands), ...); }, own);
    const auto settle = [&] {
      for (auto& [operand, tensor] : of_operands) *operand = Operand(tensor);
    };
    const auto named = [&] {
      settle();
      return std::apply([&](const auto&... each) { return dlprim::arguments_of(names_, each...); }, own);
    };
    if (std::optional<TensorList> answer = ask({name_, tensors, named}))
      return results_from_list<Result>(name_, std::move(*answer));
    settle();
    const InterceptedFrom nobody(nullptr);
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

  std::optional<TensorList> ask(const InterceptedCall& call) const;

  const char *name_, *names_;
  Interceptor* first_;
};

}  // namespace ocl
