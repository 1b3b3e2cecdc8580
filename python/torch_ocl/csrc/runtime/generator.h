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

  // A replay draws from the state that it finds: within a capture there is none to see or to set.
  void set_current_seed(std::uint64_t seed) override { state() = {seed, 0}; }
  std::uint64_t current_seed() const override { return state().seed; }
  std::uint64_t seed() override;
  void set_offset(std::uint64_t offset) override { state().offset = offset; }
  std::uint64_t get_offset() const override { return state().offset; }
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  /** The state for a call that draws `count` numbers; moves on past them. In a capture each replay does that
   * instead. */
  dlprim::PhiloxState next(std::int64_t count);

 private:
  Generator* clone_impl() const override;
  void require_no_capture() const;
  dlprim::PhiloxState& state() {
    require_no_capture();
    return state_;
  }
  const dlprim::PhiloxState& state() const {
    require_no_capture();
    return state_;
  }
  dlprim::PhiloxState move_past(std::int64_t count);

  dlprim::PhiloxState state_;
};

/** The one that operators on that device draw from; -1: the current one. */
const at::Generator& default_generator(c10::DeviceIndex device);
/** The state for a call on that device that draws `count` numbers from `given`, or from the default one.
 * Throws where it is of another device. */
dlprim::PhiloxState draw(const std::optional<at::Generator>& given, c10::Device device, std::int64_t count);

}  // namespace torch_ocl
