#pragma once

#include <csignal>

namespace dlprim {

/**
 * Keeps Ctrl-C (SIGINT) from this thread for its scope, and from threads and processes started in it: the
 * linker that an implementation runs gets the terminal's signal too, and a build would fail, or the
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

}  // namespace dlprim
