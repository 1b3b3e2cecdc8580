#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace dlprim {

/**
 * Keeps Ctrl-C (SIGINT) from this thread for its scope, and from threads and processes started in it. The
 * linker that an implementation runs gets the terminal's signal too: a build would fail, or the
 * implementation abort. Other threads still get the signal, or this one when the scope ends.
 */
class InterruptsHeld {
 public:
  InterruptsHeld() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~InterruptsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

 private:
  sigset_t before_;
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
  SignalHandlersKept() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &before_[i]);
  }
  ~SignalHandlersKept() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  SignalHandlersKept(const SignalHandlersKept&) = delete;
  SignalHandlersKept& operator=(const SignalHandlersKept&) = delete;

 private:
  static constexpr std::array signals{SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, signals.size()> before_;
};

}  // namespace dlprim
