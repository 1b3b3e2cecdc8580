#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include "dlprim/ops/random/random.h"

namespace torch_ocl {

/** A stream of random numbers by Philox counters: the same for a seed on every device. Its state is 16 bytes,
 * seed and counter. Who draws holds the generator's mutex_, as with PyTorch's others. */
class Generator final : public c10::GeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex device);
  static c10::DeviceType device_type() { return c10::kPrivateUse1; }

  void set_current_seed(std::uint64_t seed) override { state_ = {seed, 0}; }
  std::uint64_t current_seed() const override { return state_.seed; }
  std::uint64_t seed() override;
  void set_offset(std::uint64_t offset) override { state_.offset = offset; }
  std::uint64_t get_offset() const override { return state_.offset; }
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  /** The state for a call that draws `count` numbers; moves on past them. */
  dlprim::PhiloxState next(std::int64_t count);

 private:
  Generator* clone_impl() const override;

  dlprim::PhiloxState state_;
};

/** The one that operators on that device draw from; -1: the current one. */
const at::Generator& default_generator(c10::DeviceIndex device);
/** The state for a call on that device that draws `count` numbers from `given`, or from the default one.
 * Throws where it is of another device. */
dlprim::PhiloxState draw(const std::optional<at::Generator>& given, c10::Device device, std::int64_t count);

}  // namespace torch_ocl
