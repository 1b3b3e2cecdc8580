#include "dlprim/core/recorder.h"

namespace dlprim {

Recorder::Recorder() : listening_(std::make_unique<Listening>(*this)) {}

Recorder::~Recorder() = default;

void Recorder::stop() {
  listening_.reset();
}

void Recorder::enter(const Call& call) {
  const bool is_outermost = call_state.primitives == 1;  // those within are done again by the one around them
  if (call.kind == Call::Kind::primitive && is_outermost) calls_.push_back(call.hold());
}

void Recorder::replay(Queue& queue, MemoryMap& memory) const {
  for (const std::shared_ptr<HeldCall>& call : calls_) call->repeat(queue, memory);
}

}  // namespace dlprim
