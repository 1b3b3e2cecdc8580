#pragma once

#include <memory>

namespace dlprim {

/**
 * Keeps Ctrl-C (SIGINT) from this thread for its scope, and from threads and processes started in it. The
 * linker that an implementation runs gets the terminal's signal too: a build would fail, or the
 * implementation abort. Other threads still get the signal, or this one when the scope ends.
 */
class InterruptsHeld {
 public:
  InterruptsHeld();
  ~InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

/**
 * Gives the process's handlers of signals that ask for something back at its scope's end. LLVM, in PoCL, Mesa
 * and Intel's runtime, replaces them when devices are listed or, in Intel's, a context is made. One new
 * handler is of SIGUSR1 and never calls the program's. The kernel takes the others away as they are called,
 * so that the second of two quick Ctrl-C ends the program by default. LLVM uses them only to delete
 * half-written files. Its handlers of crashes stay.
 */
class SignalHandlersKept {
 public:
  SignalHandlersKept();
  ~SignalHandlersKept();
  SignalHandlersKept(const SignalHandlersKept&) = delete;
  SignalHandlersKept& operator=(const SignalHandlersKept&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

}  // namespace dlprim
