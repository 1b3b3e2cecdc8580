#pragma once

#include <cstdint>
#include <mutex>

#include "autograd/tensor/device.h"
#include "dlprim/core/arguments.h"
#include "dlprim/ops/random/random.h"

namespace ocl {

/**
 * A stream of random numbers: Philox counters under one seed. A seed gives the same numbers on every device
 * and every run. Each device has a default generator; thread safe.
 */
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : state_{seed, 0} {}
  void manual_seed(std::uint64_t seed);
  /** Seeds it with a number that is different every time, and gives that number. */
  std::uint64_t seed();
  std::uint64_t initial_seed() const;
  /** Where the stream stands; set_state goes on from there. */
  dlprim::PhiloxState state() const;
  void set_state(dlprim::PhiloxState state);
  /** The state for a call that draws `numel` numbers; moves on past them. */
  dlprim::PhiloxState next(std::int64_t numel);

 private:
  mutable std::mutex mutex_;
  dlprim::PhiloxState state_;
};

inline dlprim::ArgumentValue argument_value(const Generator& generator) {
  return dlprim::value_of(generator.state());
}

/** The generator that random operators on `device` draw from. */
Generator& default_generator(const Device& device);
/** `generator`, or the default one of `device` where it is null. */
inline Generator& generator_or_default(Generator* generator, const Device& device) {
  return generator ? *generator : default_generator(device);
}

/** Seeds the default generator of every device, as torch.manual_seed. */
void manual_seed(std::uint64_t seed);
/** The seed of the last manual_seed (a random one before any). */
std::uint64_t initial_seed();

}  // namespace ocl
