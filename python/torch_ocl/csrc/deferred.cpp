#include "deferred.h"

#include <algorithm>

#include "dlprim/runtime/lifetime.h"
#include "runtime/errors.h"
#include "runtime/place.h"
#include "tensors.h"

namespace torch_ocl {

struct PendingWork {
  std::shared_ptr<const Deferred> work;
  dlprim::DType dtype;
  dlprim::Dims shape;
  std::vector<Place*> places;                             // that wait for it
  std::vector<std::shared_ptr<PendingWork>> foundations;  // work that this stands on, kept
  std::vector<std::weak_ptr<PendingWork>> above;          // work that stands on this
  const dlprim::CommandGraph* graph;                      // that it is captured in; null for none

  void run_into(const Place& place) const {
    work->run({place.memory, dtype, shape, dlprim::contiguous_strides(shape)});
  }
};

namespace {

/** Held while work is put off, found or run: who comes second finds it enqueued. */
std::recursive_mutex& deferring() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}
using Lock = std::unique_lock<std::recursive_mutex>;

void stop_waiting(Place& place) {
  if (!place.contents) return;
  std::vector<Place*>& places = place.contents->places;
  places.erase(std::find(places.begin(), places.end(), &place));
  place.contents.reset();
}

/** All that was put off and may not have run. */
std::vector<std::weak_ptr<PendingWork>>& all_pending() {
  static auto& all = *new std::vector<std::weak_ptr<PendingWork>>;
  return all;
}

void forget_expired(std::vector<std::weak_ptr<PendingWork>>& works) {
  works.erase(std::remove_if(works.begin(), works.end(), [](const auto& one) { return one.expired(); }),
              works.end());
}

/** Makes what was put off, and what stands on it, everywhere. */
void run_everywhere(const std::vector<std::weak_ptr<PendingWork>>& works) {
  for (const auto& one : works)
    if (const std::shared_ptr<PendingWork> work = one.lock()) {
      while (!work->places.empty()) work->places.back()->settle_contents();
      run_everywhere(work->above);
    }
}

void watch(Place& place, std::vector<std::weak_ptr<PendingWork>>& works,
           const std::shared_ptr<PendingWork>& work) {
  forget_expired(works);
  works.push_back(work);
  place.is_watched.store(true, std::memory_order_release);
}

Place* place_under(const at::Tensor& tensor) {
  return place_behind(tensor.storage().data_ptr());
}

void wait_for(const std::shared_ptr<PendingWork>& work, Place& place) {
  stop_waiting(place);
  work->places.push_back(&place);
  place.contents = work;
  place.is_watched.store(true, std::memory_order_release);
}

}  // namespace

Place::~Place() {
  // In a forked child the lock may be that of a thread which is not there.
  if (!is_watched.load(std::memory_order_acquire) || dlprim::lifetime::is_forked()) return;
  const Lock lock(deferring());
  stop_waiting(*this);
}

// A forked child has no device: whoever uses the memory there is told so.
void Place::make_contents() {
  if (dlprim::lifetime::is_forked()) return;
  const Lock lock(deferring());
  if (!contents) return;
  with_errors_of_torch([&] { contents->run_into(*this); });
  stop_waiting(*this);  // after it: what found no memory is tried again
}

void Place::run_readers() {
  if (dlprim::lifetime::is_forked()) return;
  const Lock lock(deferring());
  run_everywhere(readers);
  readers.clear();
  if (!contents) is_watched.store(false, std::memory_order_release);
}

bool fills_its_memory(const at::Tensor& tensor) {
  return tensor.is_privateuseone() && tensor.layout() == c10::kStrided && place_under(tensor) &&
         tensor.storage_offset() == 0 && tensor.is_contiguous() && !tensor.is_neg() &&
         tensor.storage().nbytes() == tensor.nbytes();
}

void defer(const at::Tensor& result, std::shared_ptr<const Deferred> work,
           std::initializer_list<std::reference_wrapper<const at::Tensor>> inputs) {
  const Lock lock(deferring());
  Place& place = *place_under(result);
  const dlprim::CommandGraph* const graph = dlprim::capturing(device_under(result));
  const auto pending = std::make_shared<PendingWork>(PendingWork{
      std::move(work), dtype_of(result.scalar_type()), dims_of(result.sizes()), {}, {}, {}, graph});
  bool is_shared = place.is_shared;
  for (const at::Tensor& input : inputs)
    if (input.defined()) is_shared |= place_under(input)->is_shared;
  if (is_shared) {
    place.settle();
    pending->run_into(place);
    return;
  }
  for (const at::Tensor& input : inputs) {
    if (!input.defined()) continue;
    Place& read = *place_under(input);
    if (read.contents) {
      watch(read, read.contents->above, pending);
      pending->foundations.push_back(read.contents);
    } else {
      watch(read, read.readers, pending);
    }
  }
  place.settle();
  wait_for(pending, place);
  std::vector<std::weak_ptr<PendingWork>>& all = all_pending();
  if (all.size() == all.capacity()) forget_expired(all);
  all.push_back(pending);
}

void run_deferred(const dlprim::CommandGraph* graph) {
  const Lock lock(deferring());
  std::vector<std::weak_ptr<PendingWork>> works = all_pending();
  works.erase(std::remove_if(works.begin(), works.end(),
                             [&](const auto& one) {
                               const std::shared_ptr<PendingWork> work = one.lock();
                               return !work || work->graph != graph;
                             }),
              works.end());
  run_everywhere(works);
}

bool defer_copy(const at::Tensor& source, const at::Tensor& copy) {
  const FoundDeferred<Deferred> found = deferred_work(source);
  if (!found || !fills_its_memory(copy) || copy.sizes() != source.sizes() ||
      copy.scalar_type() != source.scalar_type() || copy.device() != source.device() ||
      place_under(copy)->is_shared || place_under(copy) == place_under(source))
    return false;
  Place& place = *place_under(copy);
  place.settle_readers();
  if (!place_under(source)->contents) return false;  // it read what is overwritten, and was made now
  wait_for(place_under(source)->contents, place);
  return true;
}

FoundDeferred<Deferred> deferred_work(const at::Tensor& tensor) {
  if (!tensor.is_privateuseone() || tensor.layout() != c10::kStrided) return {};
  const Place* place = place_under(tensor);
  if (!place || !place->is_watched.load(std::memory_order_acquire) || dlprim::lifetime::is_forked())
    return {};
  Lock lock(deferring());
  const PendingWork* pending = place->contents.get();
  if (!pending || !fills_its_memory(tensor) || !has_kernels(tensor.scalar_type()) ||
      dtype_of(tensor.scalar_type()) != pending->dtype || dims_of(tensor.sizes()) != pending->shape)
    return {};
  return {std::move(lock), pending->work};
}

void note_overwritten(const at::Tensor& tensor) {
  const Lock lock(deferring());
  stop_waiting(*place_under(tensor));
}

void share_memory(const at::Tensor& tensor) {
  const Lock lock(deferring());
  Place& place = *place_under(tensor);
  place.is_shared = true;
  place.settle();
}

}  // namespace torch_ocl
