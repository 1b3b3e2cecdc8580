#include "dlprim/platform/interrupts.h"

#include <array>
#include <csignal>

namespace dlprim {
namespace {

constexpr std::array signals{SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2};

}  // namespace

struct InterruptsHeld::Before {
  sigset_t mask;
};

InterruptsHeld::InterruptsHeld() : before_(std::make_unique<Before>()) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  pthread_sigmask(SIG_BLOCK, &held, &before_->mask);
}

InterruptsHeld::~InterruptsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_->mask, nullptr);
}

struct SignalHandlersKept::Before {
  std::array<struct sigaction, signals.size()> handlers;
};

SignalHandlersKept::SignalHandlersKept() : before_(std::make_unique<Before>()) {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &before_->handlers[i]);
}

SignalHandlersKept::~SignalHandlersKept() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_->handlers[i], nullptr);
}

}  // namespace dlprim
