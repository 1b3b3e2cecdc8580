#include "runtime/generator.h"

#include <ATen/Utils.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <deque>

#include "runtime/devices.h"
#include "runtime/graph.h"

namespace torch_ocl {

Generator::Generator(c10::DeviceIndex device)
    : GeneratorImpl({c10::kPrivateUse1, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      state_{c10::default_rng_seed_val, 0} {}

void Generator::require_no_capture() const {
  TORCH_CHECK(!capturing(device().index()),
              "the state of a generator of ocl was asked for or set while its device's work is captured");
}

std::uint64_t Generator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return current_seed();
}

void Generator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == sizeof state_, "the state of a generator of ocl has ", sizeof state_,
              " bytes, got ", state.numel());
  std::memcpy(&this->state(), state.data(), sizeof state_);
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  const at::Tensor state = at::empty({sizeof state_}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
  std::memcpy(state.mutable_data_ptr(), &this->state(), sizeof state_);
  return state.getIntrusivePtr();
}

dlprim::PhiloxState Generator::next(std::int64_t count) {
  dlprim::CommandGraph* const graph = capturing(device().index());
  if (!graph) return move_past(count);
  return graph->draw([self = c10::intrusive_ptr<Generator>::reclaim_copy(this), count] {
    const std::lock_guard lock(self->mutex_);
    return self->move_past(count);
  });
}

dlprim::PhiloxState Generator::move_past(std::int64_t count) {
  const dlprim::PhiloxState now = state_;
  state_.offset += dlprim::philox_increment(count);
  return now;
}

Generator* Generator::clone_impl() const {
  auto* copy = new Generator(device().index());
  copy->state_ = state_;
  return copy;
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  // Lives as long as the process; devices do not come and go.
  static const auto& all = *[] {
    auto* made = new std::deque<at::Generator>;
    for (c10::DeviceIndex i = 0; i < device_count(); ++i) made->push_back(at::make_generator<Generator>(i));
    return made;
  }();
  const c10::DeviceIndex index = device < 0 ? current_device() : device;
  TORCH_CHECK(static_cast<std::size_t>(index) < all.size(),
              "there is no device ocl:", static_cast<int>(index));
  return all[static_cast<std::size_t>(index)];
}

dlprim::PhiloxState draw(const std::optional<at::Generator>& given, c10::Device device, std::int64_t count) {
  auto* generator = at::get_generator_or_default<Generator>(given, default_generator(device.index()));
  TORCH_CHECK(generator->device() == device, "expected a generator of ", device, ", got one of ",
              generator->device());
  const std::lock_guard lock(generator->mutex_);
  return generator->next(count);
}

}  // namespace torch_ocl
