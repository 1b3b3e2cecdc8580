#include "dlprim/runtime/measured_choices.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "dlprim/runtime/device_info.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {
namespace {

struct ShippedChoice {
  const char *device, *family, *problem, *implementation;
};

constexpr ShippedChoice shipped_choices[] = {
#define SHIPPED(device, family, problem, implementation) {device, family, problem, implementation},
#include "dlprim/runtime/shipped_choices.def"
#undef SHIPPED
    {"", "", "", ""}};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void MeasuredChoices::add(Entry entry) {
  const auto [first, last] = entries_.equal_range(entry.key.hash());
  const auto same = std::find_if(first, last, [&](const auto& at) {
    return at.second.key == entry.key && at.second.family == entry.family;
  });
  if (same != last)
    same->second = std::move(entry);
  else
    entries_.emplace(entry.key.hash(), std::move(entry));
  is_empty_ = false;
}

void MeasuredChoices::load() {
  const auto add_read = [this](const std::string& family, const std::string& problem,
                               const std::string& implementation) {
    if (const auto key = ProblemKey::from_text(problem)) add({*key, family, implementation});
  };
  const std::lock_guard lock(mutex_);
  for (const ShippedChoice& shipped : shipped_choices)
    if (device_.name == shipped.device) add_read(shipped.family, shipped.problem, shipped.implementation);
  for (const MeasuredChoice& choice : measured())
    add_read(choice.family, choice.problem, choice.implementation);
}

bool MeasuredChoices::are_none() {
  std::call_once(loaded_, [this] { load(); });
  return is_empty_;
}

int MeasuredChoices::find(const ImplementationFamily& family, const ProblemKey& key) {
  if (are_none()) return -1;
  const std::shared_lock lock(mutex_);
  const auto [first, last] = entries_.equal_range(key.hash());
  for (auto at = first; at != last; ++at)
    if (at->second.key == key && at->second.family == family.name())
      return family.find(at->second.implementation);
  return -1;
}

void MeasuredChoices::keep(const ProblemKey& key, const MeasuredChoice& choice) {
  {
    const std::lock_guard lock(mutex_);
    add({key, choice.family, choice.implementation});
  }
  KernelCache::global().store_choice(device_.name, choice);
}

std::vector<MeasuredChoice> MeasuredChoices::measured() const {
  return KernelCache::global().choices(device_.name);
}

void MeasuredChoices::forget() {
  KernelCache::global().forget_choices(device_.name);
  {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    is_empty_ = true;
  }
  load();
}

double measured_seconds(Queue& queue, const std::function<void()>& run) {
  constexpr double long_enough = 2e-3;  // what waiting costs is a hundredth of it
  constexpr int rounds = 3, most_runs = 1000;
  run();
  queue.finish();
  double least = std::numeric_limits<double>::infinity();
  int runs = 1;
  for (int round = 0; round < rounds;) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) run();
    queue.finish();
    const double taken = seconds_since(start);
    if (taken < long_enough && runs < most_runs) {
      runs = std::min(most_runs, 2 * runs);
      continue;
    }
    least = std::min(least, taken / runs);
    ++round;
  }
  return least;
}

}  // namespace dlprim
