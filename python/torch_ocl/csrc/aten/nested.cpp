#include <ATen/ops/_nested_from_padded_native.h>
#include <ATen/ops/_nested_view_from_buffer_native.h>
#include <torch/library.h>

#include <set>
#include <string>

#include "aten/kernels.h"

/** \file Nested tensors. Jagged ones are Python around ordinary tensors, with two operators for padding.
 * Strided ones have PyTorch's own functions, where these are made of operators on what the tensors hold:
 * jagged attention goes through them. */

namespace torch_ocl {
namespace {

/** The offsets of the one jagged dimension that PyTorch has kernels for. */
at::Tensor only_offsets(at::TensorList offsets) {
  TORCH_CHECK(offsets.size() == 1, "only a single jagged dimension is supported for now, got ",
              offsets.size());
  return offsets[0].to(c10::kLong);
}

/** [rows, ...] to [sequences, longest, ...]. */
at::Tensor padded(const at::Tensor& values, at::TensorList offsets, c10::SymIntArrayRef longest,
                  double padding) {
  const at::Tensor ends = only_offsets(offsets);
  const std::int64_t sequences = ends.size(0) - 1, length = longest.at(0).expect_int();
  std::vector<std::int64_t> shape = values.sizes().vec();
  shape[0] = length;
  shape.insert(shape.begin(), sequences);
  if (values.size(0) == 0 || length == 0 || sequences == 0) return at::full(shape, padding, values.options());
  const at::Tensor starts = ends.narrow(0, 0, sequences).unsqueeze(1);
  const at::Tensor rows = starts + at::arange(length, ends.options());
  at::Tensor is_there = rows.lt(ends.narrow(0, 1, sequences).unsqueeze(1));
  for (std::int64_t dim = 1; dim < values.dim(); ++dim) is_there = is_there.unsqueeze(-1);
  const at::Tensor taken = values.index_select(0, rows.clamp_max(values.size(0) - 1).flatten()).view(shape);
  return taken.masked_fill(is_there.logical_not(), padding);
}

/** [sequences, longest, ...] to [rows, ...]; zeros for rows beyond the longest. */
at::Tensor without_padding(const at::Tensor& dense, at::TensorList offsets,
                           std::optional<c10::SymInt> total) {
  const at::Tensor ends = only_offsets(offsets);
  const std::int64_t count = total ? total->expect_int() : ends[-1].item<std::int64_t>(),
                     length = dense.size(1);
  std::vector<std::int64_t> shape = dense.sizes().slice(1).vec();
  shape[0] = count;
  if (count == 0 || dense.numel() == 0) return at::zeros(shape, dense.options());
  const at::Tensor rows = at::arange(count, ends.options());
  const at::Tensor sequences = at::bucketize(rows, ends.slice(0, 1), /*out_int32=*/false, /*right=*/true);
  const at::Tensor places = rows - ends.index_select(0, sequences);
  const at::Tensor taken =
      dense.flatten(0, 1).index_select(0, sequences * length + places.clamp_max(length - 1)).view(shape);
  at::Tensor is_beyond = places.ge(length);
  for (std::int64_t dim = 2; dim < dense.dim(); ++dim) is_beyond = is_beyond.unsqueeze(-1);
  return taken.masked_fill(is_beyond, 0);
}

/** Whether PyTorch's function for strided nested tensors on CPUs never touches memory itself. Those that also
 * serve HPUs do not, but for a few. */
bool is_made_of_operators(const c10::OperatorHandle& op) {
  static const std::set<std::string> others = {"aten::_nested_tensor_storage_offsets", "aten::bmm",
                                               "aten::to_padded_tensor",
                                               "aten::_nested_tensor_softmax_with_shape"};
  static const std::set<std::string> wrong = {"aten::native_layer_norm", "aten::native_layer_norm_backward"};
  const std::string& name = op.schema().name();
  if (!op.hasKernelForDispatchKey(c10::DispatchKey::NestedTensorCPU) || wrong.count(name) > 0) return false;
  return others.count(name) > 0 || op.hasKernelForDispatchKey(c10::DispatchKey::NestedTensorHPU);
}

void as_on_cpus(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.callBoxedForDispatchKey(c10::DispatchKey::NestedTensorCPU, *stack);
}

void refuse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, op.schema().name(),
      " takes no nested tensors of strided layout on ocl devices; take layout=torch.jagged");
}

TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse>());
}

TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, m) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (name.name.rfind("aten::", 0) != 0 || !op) continue;
    if (is_made_of_operators(*op))
      m.impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&as_on_cpus>());
    else if (op->hasKernelForDispatchKey(c10::DispatchKey::NestedTensorCPU))
      m.impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&refuse>());
  }
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("_jagged_to_padded_dense_forward", &padded);
  m.impl("_padded_dense_to_jagged_forward", &without_padding);
  // Their sizes are tensors on the host.
  library.impl("_nested_view_from_buffer", &at::native::_nested_view_from_buffer);
  library.impl("_nested_from_padded", &at::native::nested_from_padded_generic);
}

}  // namespace
}  // namespace torch_ocl
