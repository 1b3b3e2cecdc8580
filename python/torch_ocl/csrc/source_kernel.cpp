#include "source_kernel.h"

#include <ATen/record_function.h>

#include <sstream>
#include <utility>

#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/queue.h"
#include "dlprim/runtime/sha256.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

/** The source with the files of dlprim in place of the lines that name them. */
std::string with_files(const std::string& source) {
  constexpr const char* opening = "#include \"";
  const std::size_t opening_size = std::char_traits<char>::length(opening);
  std::istringstream lines(source);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(opening, 0) == 0)
      text += dlprim::expanded_source(line.substr(opening_size, line.rfind('"') - opening_size));
    else
      text += line;
    text += '\n';
  }
  return text;
}

dlprim::Range range_of(const SourceKernel::Sizes& global, const SourceKernel::Sizes& local) {
  dlprim::Range range;
  for (std::size_t d = 0; d < global.size(); ++d) {
    TORCH_CHECK_VALUE(global[d] >= 1 && local[d] >= 1, "a launch needs positive sizes, got global ",
                      global[d], " and local ", local[d]);
    range.global[d] = static_cast<std::size_t>(global[d]);
    range.local[d] = static_cast<std::size_t>(local[d]);
  }
  return range;
}

}  // namespace

SourceKernel::SourceKernel(std::string source, std::string name, std::string options,
                           const std::vector<std::string>& checks)
    : source_(std::move(source)),
      name_(std::move(name)),
      options_(std::move(options)),
      identity_(dlprim::concat(name_, " ", dlprim::sha256_hex(dlprim::concat(source_, '\0', options_)))) {
  for (const std::string& message : checks)
    checks_.push_back(dlprim::find_or_register_check(message, dlprim::CheckError::index));
}

dlprim::Kernel& SourceKernel::kernel_on(dlprim::Device& device) {
  return handle_.get(device.index(), [&]() -> dlprim::Kernel& {
    return device.programs().generated_kernel(identity_, name_.c_str(), options_.c_str(),
                                              [&] { return with_files(source_); });
  });
}

void SourceKernel::launch(const std::vector<at::Tensor>& tensors, const std::vector<Number>& numbers,
                          const Sizes& global, const Sizes& local) {
  TORCH_CHECK_VALUE(!tensors.empty(), name_,
                    ": a kernel is launched on the device of its tensors, and got none");
  RECORD_FUNCTION(name_, c10::ArrayRef<const c10::IValue>{});  // the operator that profilers show
  std::vector<dlprim::Tensor> raws;
  raws.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK_VALUE(tensor.device() == tensors.front().device(), name_,
                      ": expected tensors of one device, got ", tensors.front().device(), " and ",
                      tensor.device());
    raws.push_back(bits_of(tensor));
  }
  dlprim::Device& device = device_under(tensors.front());
  const bool has_fp64 = device.info().fp64;
  device.queue().launch_arguments(kernel_on(device), range_of(global, local), [&](auto&& set) {
    for (const dlprim::Tensor& tensor : raws) set(tensor);
    for (const Number& number : numbers) {
      if (const auto* whole = std::get_if<std::int64_t>(&number))
        set(static_cast<cl_long>(*whole));
      else if (has_fp64)
        set(static_cast<cl_double>(std::get<double>(number)));
      else
        set(static_cast<cl_float>(std::get<double>(number)));
    }
    for (const dlprim::DeviceCheck& check : checks_) set(check);
  });
}

}  // namespace torch_ocl
