#include "dlprim/runtime/barred_implementations.h"

#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/kernel_cache.h"

namespace dlprim {

void BarredImplementations::load() {
  std::call_once(loaded_, [this] {
    entries_ = KernelCache::global().barred(device_, driver_);
    is_empty_ = entries_.empty();
  });
}

std::uint64_t BarredImplementations::of(const ImplementationFamily& family) {
  load();
  if (is_empty_) return 0;
  const std::shared_lock lock(mutex_);
  std::uint64_t bits = 0;
  for (const BarredImplementation& entry : entries_) {
    if (entry.family != family.name()) continue;
    // Another version of the library may have had others.
    if (const int i = family.find(entry.implementation); i >= 0) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

std::vector<BarredImplementation> BarredImplementations::list() {
  load();
  const std::shared_lock lock(mutex_);
  return entries_;
}

void BarredImplementations::bar(const BarredImplementation& barred) {
  require_implementation(barred.family, barred.implementation);
  load();
  KernelCache::global().store_barred(device_, driver_, barred);
  const std::lock_guard lock(mutex_);
  entries_ = KernelCache::global().barred(device_, driver_);
  is_empty_ = entries_.empty();
}

void BarredImplementations::unbar() {
  load();
  KernelCache::global().forget_barred(device_, driver_);
  const std::lock_guard lock(mutex_);
  entries_.clear();
  is_empty_ = true;
}

}  // namespace dlprim
