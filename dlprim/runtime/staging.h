#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dlprim/runtime/pinned_memory.h"

namespace dlprim {

/**
 * Page-locked memory of the host, in slots, through which large transfers of ordinary memory pass. A driver
 * copies from and to memory that may be swapped out at a fraction of the bus's rate, and keeps its caller
 * waiting meanwhile. A transfer goes slot by slot, so that the host's copying and the bus's overlap. The
 * slots are taken in turn, and a new one is made where the next is still in use, up to a limit. So an upload
 * of up to that much does not wait for the device.
 *
 * One transfer at a time uses it, and holds a DeviceLock where it calls it.
 */
class Staging {
 public:
  static constexpr std::size_t slot_bytes = 4 << 20, most_slots = 16;

  struct Slot {
    MappedBuffer mapped;
    cl::Event transfer;       // the last one, of any device; null for none
    bool holds_data = false;  // that the host has not taken yet

    bool is_free() const;
  };

  explicit Staging(const Device& device) : device_(device) {}

  /** Forgets what an earlier transfer has left in slots. */
  void begin();
  /** The slot to use next, which holds no data. Its last transfer may still be under way (Slot::transfer). */
  Slot& next();
  /** Slots made so far. */
  std::size_t slots() const { return slots_.size(); }

 private:
  const Device& device_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t turn_ = 0;
};

}  // namespace dlprim
