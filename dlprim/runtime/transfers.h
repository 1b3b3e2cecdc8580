#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "dlprim/runtime/opencl.h"
#include "dlprim/runtime/staging.h"

namespace dlprim {

class Device;

/** A piece of device memory as transfers name it. */
struct Region {
  const cl::Buffer& buffer;
  std::size_t start, bytes;
};

/**
 * Carries large transfers of one device beside its queue. It has an in-order queue and staging memory for
 * each direction, so that neither uploads, nor downloads, nor kernels wait for one another unless they are
 * told to. Who calls says what a transfer comes `after`; Queue does, by these rules:
 *  - An upload comes after the commands that may use its memory: all so far. For memory that has not been
 * used since it was allocated, it comes after those enqueued when the memory was last given back
 * (Storage::last_use).
 *  - The first command that uses the memory comes after the upload (Queue::await_upload). Memory that is
 *    given back before counts as used then.
 *  - A download comes after all commands so far. Its caller waits, so that nothing need come after it.
 *
 * Thread safe. Never waits for the lock of another direction or of the queue.
 */
class Transfers {
 public:
  using Note = std::function<void(const cl::Event& done)>;
  /** Gets the bytes of a download from `start` on, piece by piece, in order, in page-locked memory. It may
   * leave them to a command, whose event it gives back: until then they stay as they are. */
  using Consume = std::function<cl::Event(std::size_t start, const void* piece, std::size_t bytes)>;

  explicit Transfers(const Device& device) : up_(device), down_(device) {}

  /** Enqueues an upload of ordinary memory, which is free on return; calls `note` with the event of each
   * piece, of which the last stands for all. */
  void upload(const Region& to, const char* source, const std::vector<cl::Event>& after, const Note& note);
  /** Enqueues an upload of memory that stays as it is until the event. */
  cl::Event upload_directly(const Region& to, const void* source, const std::vector<cl::Event>& after);
  void wait_for_upload(const cl::Event& done);

  /** Downloads through staging memory. Waits. */
  void download(const Region& from, const std::vector<cl::Event>& after, const Consume& consume);
  /** Downloads to page-locked memory. Waits. */
  void download_directly(const Region& from, void* destination, const std::vector<cl::Event>& after);

  /** Slots of staging memory that transfers have needed so far. */
  std::size_t staging_slots();
  /** See Device::shut_down. */
  void lock_for_exit();

 private:
  struct Lane {
    explicit Lane(const Device& device);

    /** Keeps other transfers out of the staging memory. A plain lock, held across DeviceLocks: the thread
     * that ends the process passes without. */
    std::unique_lock<std::mutex> begin();

    std::mutex turn;
    std::mutex mutex;  // of what follows
    cl::CommandQueue queue;
    Staging staging;
  };

  Lane up_, down_;
};

}  // namespace dlprim
