#include "dlprim/runtime/transfers.h"

#include <algorithm>
#include <deque>

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/host_copy.h"
#include "dlprim/runtime/lifetime.h"

namespace dlprim {
namespace {

constexpr std::size_t pieces_under_way = 4;  // of a download

}  // namespace

Transfers::Lane::Lane(const Device& device) : queue(device.context(), device.handle()), staging(device) {}

std::unique_lock<std::mutex> Transfers::Lane::begin() {
  std::unique_lock lock(turn, std::defer_lock);
  // Whoever held it when the process began to exit has it for good.
  if (!lifetime::is_exiting_thread()) lock.lock();
  const DeviceLock device(mutex);
  staging.begin();
  return lock;
}

void Transfers::upload(const Region& to, const char* source, const std::vector<cl::Event>& after,
                       const Note& note) {
  const auto turn = up_.begin();
  for (std::size_t done = 0; done < to.bytes; done += Staging::slot_bytes) {
    const std::size_t piece = std::min(to.bytes - done, Staging::slot_bytes);
    Staging::Slot& slot = [&]() -> Staging::Slot& {
      const DeviceLock lock(up_.mutex);
      Staging::Slot& next = up_.staging.next();
      if (!next.is_free()) next.transfer.wait();
      return next;
    }();
    HostCopier::shared().copy(slot.mapped.memory, source + done, piece);
    {
      const DeviceLock lock(up_.mutex);
      up_.queue.enqueueWriteBuffer(to.buffer, CL_FALSE, to.start + done, piece, slot.mapped.memory,
                                   done ? nullptr : &after, &slot.transfer);
      up_.queue.flush();
    }
    note(slot.transfer);
  }
}

cl::Event Transfers::upload_directly(const Region& to, const void* source,
                                     const std::vector<cl::Event>& after) {
  cl::Event done;
  const DeviceLock lock(up_.mutex);
  up_.queue.enqueueWriteBuffer(to.buffer, CL_FALSE, to.start, to.bytes, source, &after, &done);
  up_.queue.flush();
  return done;
}

void Transfers::wait_for_upload(const cl::Event& done) {
  const DeviceLock lock(up_.mutex);
  done.wait();
}

void Transfers::download(const Region& from, const std::vector<cl::Event>& after, const Consume& consume) {
  struct Piece {
    Staging::Slot* slot;
    std::size_t start, bytes;
  };
  const auto turn = down_.begin();
  std::deque<Piece> under_way;
  for (std::size_t asked = 0; asked < from.bytes || !under_way.empty();) {
    if (asked < from.bytes && under_way.size() < pieces_under_way) {
      const DeviceLock lock(down_.mutex);
      Staging::Slot& slot = down_.staging.next();
      if (!slot.is_free()) slot.transfer.wait();
      const std::size_t piece = std::min(from.bytes - asked, Staging::slot_bytes);
      down_.queue.enqueueReadBuffer(from.buffer, CL_FALSE, from.start + asked, piece, slot.mapped.memory,
                                    asked ? nullptr : &after, &slot.transfer);
      down_.queue.flush();
      slot.holds_data = true;
      under_way.push_back({&slot, asked, piece});
      asked += piece;
      continue;
    }
    const Piece piece = under_way.front();
    under_way.pop_front();
    {
      const DeviceLock lock(down_.mutex);
      piece.slot->transfer.wait();
    }
    if (const cl::Event reader = consume(piece.start, piece.slot->mapped.memory, piece.bytes); reader())
      piece.slot->transfer = reader;
    piece.slot->holds_data = false;
  }
}

void Transfers::download_directly(const Region& from, void* destination,
                                  const std::vector<cl::Event>& after) {
  const DeviceLock lock(down_.mutex);
  cl::Event done;
  down_.queue.enqueueReadBuffer(from.buffer, CL_FALSE, from.start, from.bytes, destination, &after, &done);
  down_.queue.flush();
  done.wait();
}

std::size_t Transfers::staging_slots() {
  std::size_t slots = 0;
  for (Lane* lane : {&up_, &down_}) {
    const DeviceLock lock(lane->mutex);
    slots += lane->staging.slots();
  }
  return slots;
}

void Transfers::lock_for_exit() {
  up_.mutex.lock();
  down_.mutex.lock();
}

}  // namespace dlprim
