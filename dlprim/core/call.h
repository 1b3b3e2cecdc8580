#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dlprim/core/arguments.h"
#include "dlprim/core/call_state.h"

/**
 * \file The seam: every operator announces itself here when it is called, with its arguments as typed values.
 *
 * Two kinds of operator do. The functions of this library (*primitives*: what computes on a device) begin
 * with
 *
 *     void softmax_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y) {
 *       ENTER(softmax_forward, queue, x, dim, y);
 *
 * and what is built on them (the operators that users call, the steps of a backward pass, modules) opens a
 * CallScope. Whoever wants to know attaches a CallListener. Without one a call costs two writes to a variable
 * of its thread.
 */

namespace dlprim {

class Queue;

/** A call of a primitive, arguments and all, that can be made again. See recorder.h. */
class HeldCall {
 public:
  virtual ~HeldCall() = default;
  virtual const char* name() const = 0;
  /** Calls the function once more, on the memory that stands for what it had. */
  virtual void repeat(Queue& queue, MemoryMap& memory) const = 0;
  /** Calls it once more on the memory that it had, with what earlier runs have prepared. */
  virtual void run(Queue& queue) = 0;
  /** Notes what the function returned, of the type it returns. */
  virtual void set_result(const void* result) = 0;
};

/** One call, while it runs. */
struct Call {
  enum class Kind { primitive, operation, backward, module };

  const char* name;
  Kind kind;
  int depth;  // calls of the same thread around this one
  /** The arguments by the names of the function's parameters; made when asked for. */
  std::function<std::vector<Argument>()> arguments;
  /** For a primitive: the call, kept. */
  std::function<std::shared_ptr<HeldCall>()> hold;
};

/** Hears of the calls of a thread. */
class CallListener {
 public:
  virtual ~CallListener() = default;
  /** Before the call's work; what it throws, the call throws. */
  virtual void enter(const Call& call) = 0;
  /** After it, if it came to an end or not. Must not throw. */
  virtual void leave(const Call& call) { static_cast<void>(call); }
  /** The primitive that is under way chose an implementation; `reasons`: what each of its list was expected
   * to cost, or why it cannot. */
  virtual void chose(const ChosenImplementation& chosen, const std::string& reasons) {
    static_cast<void>(chosen), static_cast<void>(reasons);
  }
  /** A command is enqueued outside of any primitive: work that belongs to no call. */
  virtual void escaped(const char* command) { static_cast<void>(command); }
  /** The host is about to read elements of a tensor; what it throws, the reading throws. */
  virtual void reads() {}
};

/** Attaches a listener to the calling thread until the guard ends, innermost first. */
class Listening {
 public:
  explicit Listening(CallListener& listener);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  CallListener& listener_;
};

/** A call under way; its end is the call's. */
class CallScope {
 public:
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /** An operator, or another call that is no primitive, with its arguments. */
  template <class... Arguments>
  CallScope(const char* name, Call::Kind kind, const char* names, const Arguments&... arguments)
      : CallScope(name, kind) {
    if (call_state.listeners) announce(name, kind, [&] { return arguments_of(names, arguments...); }, {});
  }

  /** A primitive. */
  template <class Result, class... Parameters, class... Arguments>
  CallScope(const char* name, const char* names, Result (*function)(Queue&, Parameters...), Queue&,
            const Arguments&... arguments);

  ~CallScope() {
    if (call_) retire();
    call_state.operation = outer_operation_;
    call_state.module = outer_module_;
    call_state.primitives -= is_primitive_ ? 1 : 0;
    --call_state.depth;
  }

  /** Passes on what a primitive returns, for a listener that keeps the call. */
  template <class Result>
  Result returns(Result result) const {
    if (held_) held_->set_result(&result);
    return result;
  }

 private:
  CallScope(const char* name, Call::Kind kind)
      : outer_operation_(call_state.operation),
        outer_module_(call_state.module),
        is_primitive_(kind == Call::Kind::primitive) {
    if (kind == Call::Kind::module)
      call_state.module = name;
    else if (!is_primitive_ || !call_state.operation)
      call_state.operation = name;
    call_state.primitives += is_primitive_ ? 1 : 0;
    ++call_state.depth;
  }
  void announce(const char* name, Call::Kind kind, std::function<std::vector<Argument>()> arguments,
                std::function<std::shared_ptr<HeldCall>()> hold);
  void retire() noexcept;

  const char *outer_operation_, *outer_module_;
  bool is_primitive_;
  std::unique_ptr<Call> call_;
  std::shared_ptr<HeldCall> held_;
};

// ---- implementation

template <class Result, class... Parameters>
class HeldCallOf final : public HeldCall {
 public:
  using Function = Result (*)(Queue&, Parameters...);

  template <class... Arguments>
  HeldCallOf(const char* name, Function function, const Arguments&... arguments)
      : name_(name), function_(function), arguments_(Kept<std::decay_t<Parameters>>(arguments)...) {
    MemoryMap same;
    std::apply([&](auto&... kept) { (kept.adopt(same, owned_), ...); }, arguments_);
  }

  const char* name() const override { return name_; }

  void repeat(Queue& queue, MemoryMap& memory) const override {
    std::deque<Tensor> owned;
    auto arguments = arguments_;
    std::apply([&](auto&... kept) { (kept.adopt(memory, owned), ...); }, arguments);
    const auto call = [&](auto&... kept) -> Result { return function_(queue, kept.get()...); };
    if constexpr (std::is_void_v<Result>) {
      std::apply(call, arguments);
    } else {
      Result made = std::apply(call, arguments);
      std::vector<Tensor> before, after;
      Result recorded = *result_;
      for_each_tensor(recorded, [&](Tensor& t) { before.push_back(t); });
      for_each_tensor(made, [&](Tensor& t) { after.push_back(t); });
      for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i].defined()) memory.put(before[i], after[i]);
    }
  }

  void run(Queue& queue) override {
    std::apply([&](auto&... kept) { function_(queue, kept.get()...); }, arguments_);
  }

  void set_result(const void* result) override {
    if constexpr (!std::is_void_v<Result>) result_ = *static_cast<const Result*>(result);
  }

 private:
  struct Nothing {};

  const char* name_;
  Function function_;
  std::tuple<Kept<std::decay_t<Parameters>>...> arguments_;
  std::deque<Tensor> owned_;  // those that arguments point to
  std::optional<std::conditional_t<std::is_void_v<Result>, Nothing, Result>> result_;
};

template <class Result, class... Parameters, class... Arguments>
CallScope::CallScope(const char* name, const char* names, Result (*function)(Queue&, Parameters...), Queue&,
                     const Arguments&... arguments)
    : CallScope(name, Call::Kind::primitive) {
  if (call_state.listeners)
    announce(
        name, Call::Kind::primitive, [&] { return arguments_of(names, arguments...); },
        [&] { return std::make_shared<HeldCallOf<Result, Parameters...>>(name, function, arguments...); });
}

}  // namespace dlprim

/** First line of a primitive: its own name, its queue and its other parameters, all in order. */
#define ENTER(function, queue, ...) \
  const ::dlprim::CallScope entered(#function, #__VA_ARGS__, function, queue, __VA_ARGS__)
