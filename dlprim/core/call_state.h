#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace dlprim {

class CallListener;

/** The implementation that a primitive chose from a family's list (implementation.h). */
struct ChosenImplementation {
  const char* family;
  const char* name;
  /** The multiply-adds of the problem that it was chosen for; 0 where it is no product, part of one, or
   * nobody listens. */
  double multiply_adds = 0;
  bool is_product = false;  // or part of one
};

/** The calls that the thread is in, as the seam (call.h) keeps them. Names live as long as the process or the
 * call; null for none. */
struct CallState {
  const char* operation = nullptr;  // the innermost operator or backward step, or a primitive outside of any
  const char* module = nullptr;     // the innermost module, as nn/module_scope.h calls it
  const ChosenImplementation* implementation = nullptr;  // whose work is being enqueued
  int depth = 0, primitives = 0;  // calls that are open, and how many of them are primitives
  std::uint64_t numbered = 0;     // what a listener numbered the outermost primitive with; 0 for none
  std::vector<CallListener*>* listeners = nullptr;
  bool has_elements = true;  // false where new tensors get no memory (shapes_only.h)
};
inline thread_local CallState call_state{};

/** Whether CallState::module is kept although nobody listens: while devices profile, or anomalies are looked
 * for. */
inline std::atomic<int> module_name_users{0};
inline bool names_modules() {
  return module_name_users.load(std::memory_order_relaxed) > 0;
}

/** Throws Error: `what` cannot be had under ShapesOnly. */
[[noreturn]] void throw_no_elements(const char* what);

/** Tells the thread's listeners, of which there is one at least, what was chosen and why. */
void tell_of_choice(const ChosenImplementation& chosen, const std::string& reasons);

/** Tells the thread's listeners of a command outside of any primitive. */
void tell_of_escape(const char* command);

/** Tells the thread's listeners that the host is about to read elements. */
void tell_of_reading();

/** To be called where the host reads elements of a tensor. */
inline void note_reading() {
  if (call_state.listeners) tell_of_reading();
}

/** To be called for every command that is enqueued. */
inline void note_command(const char* command) {
  if (call_state.listeners && call_state.primitives == 0) tell_of_escape(command);
}

}  // namespace dlprim
