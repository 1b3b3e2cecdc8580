#include "dlprim/runtime/staging.h"

#include "dlprim/runtime/device.h"

namespace dlprim {

bool Staging::Slot::is_free() const {
  return !transfer() || transfer.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() <= CL_COMPLETE;
}

void Staging::begin() {
  for (const auto& slot : slots_) slot->holds_data = false;
}

Staging::Slot& Staging::next() {
  std::size_t turn = slots_.empty() ? 0 : turn_ % slots_.size();
  const bool is_usable = !slots_.empty() && !slots_[turn]->holds_data && slots_[turn]->is_free();
  if (!is_usable && slots_.size() < most_slots) {
    auto slot = std::make_unique<Slot>();
    slot->mapped = MappedBuffer::create(device_, slot_bytes);
    // Before the one whose turn it would be: that is the oldest.
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(turn), std::move(slot));
  }
  while (slots_[turn]->holds_data) turn = (turn + 1) % slots_.size();
  turn_ = turn + 1;
  return *slots_[turn];
}

}  // namespace dlprim
