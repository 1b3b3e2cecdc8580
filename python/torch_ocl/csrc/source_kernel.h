#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dlprim/runtime/error_word.h"
#include "dlprim/runtime/program.h"

namespace torch_ocl {

/**
 * A kernel of a source that a code generator wrote (torch.compile), ready to launch on tensors of PyTorch.
 *
 * The source is OpenCL C whose lines `#include "core/common.cl"` name kernel files of dlprim. It is built at
 * the first launch on a device, through the kernel cache. The kernel's parameters, in order: for each tensor
 * `BUFFER(type, name)`; then the numbers, `long` or `REAL_NUMBER`; then for each check `CHECK_ARGS`.
 */
class SourceKernel {
 public:
  using Number = std::variant<std::int64_t, double>;
  using Sizes = std::array<std::int64_t, 3>;

  /** `checks`: messages, which the offending value follows; the failing check raises IndexError where the
   * host waits. */
  SourceKernel(std::string source, std::string name, std::string options,
               const std::vector<std::string>& checks);

  /** Enqueues it on the device of the tensors, of which there is one at least; waits for nothing. `global` is
   * rounded up to whole work groups of `local`. A tensor starts at its own element 0, whatever its strides;
   * one of a dtype that has no kernels is given as BUFFER of its size's integers, and as bytes where that
   * is 2. */
  void launch(const std::vector<at::Tensor>& tensors, const std::vector<Number>& numbers, const Sizes& global,
              const Sizes& local);

  const std::string& name() const { return name_; }
  const std::string& source() const { return source_; }

 private:
  dlprim::Kernel& kernel_on(dlprim::Device& device);

  std::string source_, name_, options_, identity_;
  std::vector<dlprim::DeviceCheck> checks_;
  dlprim::KernelHandle handle_;
};

}  // namespace torch_ocl
