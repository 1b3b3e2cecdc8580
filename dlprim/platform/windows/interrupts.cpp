#include "dlprim/platform/interrupts.h"

// Windows calls handlers of Ctrl-C in a thread of its own, and a process that ends another sends no signal.
namespace dlprim {

struct InterruptsHeld::Before {};
InterruptsHeld::InterruptsHeld() = default;
InterruptsHeld::~InterruptsHeld() = default;

struct SignalHandlersKept::Before {};
SignalHandlersKept::SignalHandlersKept() = default;
SignalHandlersKept::~SignalHandlersKept() = default;

}  // namespace dlprim
