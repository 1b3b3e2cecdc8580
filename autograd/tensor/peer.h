#pragma once

#include <atomic>

namespace ocl {

struct TensorImpl;

/**
 * The object that stands for a tensor in another language: one for the tensor's life, so that its identity,
 * its class and what is attached to it stay. While that language refers to the object, the object owns the
 * tensor; when C++ alone holds the tensor, the tensor owns the object, until it is given out again.
 *
 * It changes only under that language's lock. A destructor, which runs without it, asks is_owned() first.
 */
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /** Null where there is none. */
  void* object() const { return object_.load(std::memory_order_acquire); }
  /** Whether the tensor owns the object. */
  bool is_owned() const { return is_owned_.load(std::memory_order_acquire); }

  void set(void* object) { object_.store(object, std::memory_order_release); }
  void set_owned(bool is_owned) { is_owned_.store(is_owned, std::memory_order_release); }

  /** The language's action for an owned object whose tensor goes: it may take the tensor's successor(). */
  inline static void (*let_go)(TensorImpl& dying) = nullptr;

 private:
  std::atomic<void*> object_{nullptr};
  std::atomic<bool> is_owned_{false};
};

}  // namespace ocl
