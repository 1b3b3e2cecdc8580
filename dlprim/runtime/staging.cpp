#include "dlprim/runtime/staging.h"

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"

namespace dlprim {

std::unique_lock<std::mutex> Staging::begin() {
  std::unique_lock lock(mutex_, std::defer_lock);
  // Whoever held it when the process began to exit has it for good.
  if (!lifetime::is_exiting_thread()) lock.lock();
  for (const auto& slot : slots_) slot->holds_data = false;
  return lock;
}

Staging::Slot& Staging::next() {
  const auto is_free = [](const Slot& slot) {
    return !slot.transfer() || slot.transfer.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() <= CL_COMPLETE;
  };
  std::size_t turn = slots_.empty() ? 0 : turn_ % slots_.size();
  const bool is_usable = !slots_.empty() && !slots_[turn]->holds_data && is_free(*slots_[turn]);
  if (!is_usable && slots_.size() < most_slots) {
    auto slot = std::make_unique<Slot>();
    slot->buffer = cl::Buffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, slot_bytes);
    // On a queue of its own: nothing that is enqueued elsewhere is waited for.
    const cl::CommandQueue mapping(device_.context(), device_.handle());
    slot->memory = mapping.enqueueMapBuffer(slot->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, slot_bytes);
    // Before the one whose turn it would be: that is the oldest.
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(turn), std::move(slot));
  }
  while (slots_[turn]->holds_data) turn = (turn + 1) % slots_.size();
  turn_ = turn + 1;
  return *slots_[turn];
}

}  // namespace dlprim
