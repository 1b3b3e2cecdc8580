#include <c10/core/Allocator.h>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/allocator.h"
#include "runtime/devices.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

using Memory = std::shared_ptr<dlprim::Storage>;

void release(void* memory) {
  delete static_cast<Memory*>(memory);
}

/** What PyTorch takes for a pointer is the place of the Memory on the host: OpenCL's buffers have no address.
 */
struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(c10::kPrivateUse1, current_device());
    auto* memory = new Memory(device_of(device.index()).allocator().allocate(bytes));
    return {memory, memory, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    const auto all = [&](const void* memory) {
      dlprim::Tensor whole;
      whole.storage = *static_cast<const Memory*>(memory);
      whole.dtype = dlprim::DType::uint8;
      whole.shape = {static_cast<std::int64_t>(bytes)};
      whole.strides = {1};
      return whole;
    };
    const dlprim::Tensor from = all(source), to = all(destination);
    dlprim::copy(from.device().queue(), from, to);
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)

}  // namespace
}  // namespace torch_ocl
