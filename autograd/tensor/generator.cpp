#include "autograd/tensor/generator.h"

#include <map>
#include <memory>
#include <random>

namespace ocl {
namespace {

std::uint64_t fresh_seed() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

struct Generators {
  std::mutex mutex;
  std::uint64_t seed = fresh_seed();
  std::map<int, std::unique_ptr<Generator>> by_device;
};

Generators& generators() {
  static auto* all = new Generators;
  return *all;
}

}  // namespace

void Generator::manual_seed(std::uint64_t seed) {
  std::lock_guard<std::mutex> lock(mutex_);
  state_ = {seed, 0};
}

std::uint64_t Generator::seed() {
  const std::uint64_t seed = fresh_seed();
  manual_seed(seed);
  return seed;
}

dlprim::PhiloxState Generator::state() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

void Generator::set_state(dlprim::PhiloxState state) {
  std::lock_guard<std::mutex> lock(mutex_);
  state_ = state;
}

std::uint64_t Generator::initial_seed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return state_.seed;
}

dlprim::PhiloxState Generator::next(std::int64_t numel) {
  std::lock_guard<std::mutex> lock(mutex_);
  const dlprim::PhiloxState current = state_;
  if (dlprim::call_state.has_elements) state_.offset += dlprim::philox_increment(numel);
  return current;
}

Generator& default_generator(const Device& device) {
  Generators& all = generators();
  std::lock_guard<std::mutex> lock(all.mutex);
  std::unique_ptr<Generator>& slot = all.by_device[device->index()];
  if (!slot) slot = std::make_unique<Generator>(all.seed);
  return *slot;
}

void manual_seed(std::uint64_t seed) {
  Generators& all = generators();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.seed = seed;
  for (auto& [index, generator] : all.by_device) generator->manual_seed(seed);
}

std::uint64_t initial_seed() {
  Generators& all = generators();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.seed;
}

}  // namespace ocl
