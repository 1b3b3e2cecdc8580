#include "python_lock.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"

namespace {

using namespace std::chrono_literals;
using dlprim::lifetime::sleep_for_good;

enum class Interpreter {
  runs,
  ends,   // only threads that C++ has called Python in go on, until that call returns
  closed  // none goes on
};

std::atomic<Interpreter> interpreter{Interpreter::runs};
std::atomic<int> entering{0};     // threads between their look at `interpreter` and having the lock
std::atomic<int> called_back{0};  // threads within PythonLocked
thread_local int depth = 0;       // of this thread's PythonLocked
thread_local bool ends_interpreter = false;

bool has_lock() {
  return Py_IsInitialized() && PyGILState_Check();
}

void give_up_lock() {
  if (has_lock()) PyEval_SaveThread();
}

bool may_enter() {
  if (ends_interpreter) return true;
  const Interpreter now = interpreter;
  return now == Interpreter::runs || (now == Interpreter::ends && depth > 0);
}

/** Runs `take`, which asks for the lock. */
template <class Take>
void enter(const Take& take) {
  ++entering;
  if (!may_enter()) {
    --entering;
    sleep_for_good();
  }
  take();
  --entering;
}

/** Waits until a count has come to `target`, or for `patience`. */
void wait_for(const std::atomic<int>& count, int target, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (count > target && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
}

/** At the end of the interpreter, with its threads still alive: sends those to sleep that are in C++. */
void end_threads() {
  ends_interpreter = true;
  interpreter = Interpreter::ends;
  PyThreadState* state = PyEval_SaveThread();
  wait_for(called_back, depth > 0, 2s);
  interpreter = Interpreter::closed;
  wait_for(entering, 0, 2s);
  PyEval_RestoreThread(state);
  dlprim::Device::shut_down();
}

void after_fork_in_child() {
  entering = 0;
  called_back = depth > 0;
}

}  // namespace

PythonUnlocked::~PythonUnlocked() {
  enter([this] { PyEval_RestoreThread(state_); });
}

PythonLocked::PythonLocked() {
  if (has_lock()) {
    lock_.emplace();
    if (depth++ == 0) ++called_back;
    return;
  }
  enter([this] {
    lock_.emplace();
    if (depth++ == 0) ++called_back;
  });
}

PythonLocked::~PythonLocked() {
  // Python ends a thread within its own frames too, by unwinding ours: the lock is no longer to be given
  // back.
  if (!ends_interpreter && interpreter == Interpreter::closed && !has_lock()) sleep_for_good();
  lock_.reset();
  if (--depth == 0) --called_back;
}

void guard_end_of_interpreter() {
  dlprim::lifetime::before_sleep = give_up_lock;
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  py::module_::import("atexit").attr("register")(py::cpp_function(&end_threads));
}
