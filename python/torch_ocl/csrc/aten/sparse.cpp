#include <ATen/ATen.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/native/SparseTensorUtils.h>
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_indices_native.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_native.h>
#include <ATen/ops/_values_native.h>
#include <ATen/ops/ccol_indices_native.h>
#include <ATen/ops/clone_native.h>
#include <ATen/ops/col_indices_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/copy_sparse_to_sparse_native.h>
#include <ATen/ops/crow_indices_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/empty_like_native.h>
#include <ATen/ops/empty_native.h>
#include <ATen/ops/indices_native.h>
#include <ATen/ops/is_coalesced_native.h>
#include <ATen/ops/permute_native.h>
#include <ATen/ops/resize_as_sparse_native.h>
#include <ATen/ops/row_indices_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/sparse_resize_and_clear_native.h>
#include <ATen/ops/sparse_resize_native.h>
#include <ATen/ops/unsqueeze_native.h>
#include <ATen/ops/values_native.h>
#include <ATen/ops/zero_native.h>
#include <torch/library.h>

#include <functional>

#include "aten/fallback.h"

/** \file Sparse tensors: their indices and values are tensors of the device. PyTorch's own functions make
 * them, take them apart and copy them; whatever computes runs on the CPU. */

namespace torch_ocl {
namespace {

at::Tensor moved(const at::Tensor& tensor, c10::Device device) {
  if (!tensor.defined() || tensor.device() == device) return tensor;
  const auto options = tensor.options().device(device);
  if (tensor.layout() == c10::kSparse)
    return at::_sparse_coo_tensor_unsafe(tensor._indices().to(device), tensor._values().to(device),
                                         tensor.sizes(), options, tensor.is_coalesced());
  if (at::sparse_csr::is_sparse_compressed(tensor)) {
    const auto* parts = at::sparse_csr::get_sparse_csr_impl(tensor);
    return at::_sparse_compressed_tensor_unsafe(parts->compressed_indices().to(device),
                                                parts->plain_indices().to(device), parts->values().to(device),
                                                tensor.sizes(), options);
  }
  return tensor.to(device);
}

/** Gives `tensor` the contents, and the shape, of one on the CPU. */
void assign(const at::Tensor& tensor, const at::Tensor& from) {
  const c10::Device device = tensor.device();
  TORCH_CHECK(tensor.layout() == from.layout(), "a result of layout ", from.layout(),
              " cannot go into a tensor of layout ", tensor.layout());
  if (tensor.layout() == c10::kSparse) {
    auto* parts = at::sparse::get_sparse_impl(tensor);
    parts->raw_resize_(from.sparse_dim(), from.dense_dim(), from.sizes());
    parts->set_indices_and_values_unsafe(from._indices().to(device), from._values().to(device));
    parts->set_coalesced(from.is_coalesced());
  } else if (at::sparse_csr::is_sparse_compressed(tensor)) {
    const auto* parts = at::sparse_csr::get_sparse_csr_impl(from);
    at::sparse_csr::get_sparse_csr_impl(tensor)->set_member_tensors(parts->compressed_indices().to(device),
                                                                    parts->plain_indices().to(device),
                                                                    parts->values().to(device), from.sizes());
  } else {
    at::_copy_from_and_resize(from, tensor);
  }
}

/** One call: the tensors among its arguments, and what stands for them on the CPU. */
class Call {
 public:
  /** The argument as the CPU takes it. */
  c10::IValue taken(const c10::IValue& value, bool is_written) {
    if (value.isTensor()) return taken(value.toTensor(), is_written);
    if (value.isTensorList()) {
      std::vector<at::Tensor> tensors;
      for (const at::Tensor& t : value.toTensorVector()) tensors.push_back(taken(t, is_written));
      return tensors;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> tensors;
      for (const std::optional<at::Tensor>& t : value.toOptionalTensorVector())
        tensors.push_back(t ? std::optional(taken(*t, is_written)) : std::nullopt);
      return tensors;
    }
    if (value.isDevice()) return c10::Device(c10::kCPU);
    return value;
  }

  void write_back() const {
    for (const Pair& pair : pairs_)
      if (pair.is_written) assign(pair.there, pair.here);
  }

  /** The result as the device has it: an argument where it is one. */
  c10::IValue given(const c10::IValue& value, c10::Device device) const {
    if (value.isTensor()) return given(value.toTensor(), device);
    if (!value.isTensorList()) return value;
    std::vector<at::Tensor> tensors;
    for (const at::Tensor& t : value.toTensorVector()) tensors.push_back(given(t, device));
    return tensors;
  }

 private:
  struct Pair {
    at::Tensor there, here;
    bool is_written;
  };

  at::Tensor taken(const at::Tensor& tensor, bool is_written) {
    if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;
    for (Pair& pair : pairs_)
      if (pair.there.is_same(tensor)) {
        pair.is_written |= is_written;
        return pair.here;
      }
    at::Tensor here = moved(tensor, c10::kCPU);
    // Some functions leave out what only a derivative needs where none is wanted.
    if (tensor.requires_grad()) here.set_requires_grad(true);
    pairs_.push_back({tensor, std::move(here), is_written});
    return pairs_.back().here;
  }

  at::Tensor given(const at::Tensor& tensor, c10::Device device) const {
    for (const Pair& pair : pairs_)
      if (pair.here.is_same(tensor)) return pair.there;
    return moved(tensor, device);
  }

  std::vector<Pair> pairs_;
};

void with_sparse_on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  note_fallback(toString(op.operator_name()));
  const auto& arguments = op.schema().arguments();
  const c10::Device device = device_of_call(op, *stack);
  generate_on_the_cpu(op, stack);
  const at::AutoDispatchBelowADInplaceOrView below;  // derivatives are the device's tensors' own
  torch::jit::Stack here;
  Call call;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* alias = arguments[i].alias_info();
    here.push_back(call.taken(torch::jit::peek(*stack, i, arguments.size()), alias && alias->isWrite()));
  }
  op.callBoxed(&here);
  call.write_back();
  torch::jit::drop(*stack, arguments.size());
  for (const c10::IValue& result : here) stack->push_back(call.given(result, device));
}

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&with_sparse_on_the_cpu>());
}

TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&with_sparse_on_the_cpu>());
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("empty.memory_format", &at::native::empty_sparse);
  m.impl("empty_like", &at::native::empty_like_sparse_coo);
  m.impl("_sparse_coo_tensor_with_dims", &at::native::new_with_dims_sparse);
  m.impl("_sparse_coo_tensor_with_dims_and_tensors", &at::native::new_with_dims_and_tensor_sparse_symint);
  m.impl("_indices", &at::native::_indices_sparse);
  m.impl("_values", &at::native::_values_sparse);
  m.impl("indices", &at::native::indices_sparse);
  m.impl("values", &at::native::values_sparse);
  m.impl("_nnz", &at::native::_nnz_sparse);
  m.impl("sparse_dim", &at::native::sparse_dim_sparse);
  m.impl("_dimI", &at::native::sparse_dim_sparse);
  m.impl("dense_dim", &at::native::dense_dim_sparse);
  m.impl("_dimV", &at::native::dense_dim_sparse);
  m.impl("is_coalesced", &at::native::is_coalesced_sparse);
  m.impl("_coalesced_", &at::native::_coalesced_sparse_);
  m.impl("sparse_resize_", &at::native::sparse_resize_);
  m.impl("sparse_resize_and_clear_", &at::native::sparse_resize_and_clear_);
  m.impl("resize_as_sparse_", &at::native::resize_as_sparse_);
  m.impl("copy_", &at::native::copy_sparse_wrapper_);
  m.impl("copy_sparse_to_sparse_", &at::native::copy_sparse_);
  m.impl("clone", &at::native::clone_sparse);
  m.impl("zero_", &at::native::zero_sparse_);
  m.impl("permute", &at::native::permute_sparse_coo);
  m.impl("unsqueeze", &at::native::unsqueeze_sparse);
}

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  m.impl("empty.memory_format", &at::native::empty_sparse_compressed);
  m.impl("empty_like", &at::native::empty_like_sparse_csr);
  m.impl("values", &at::native::values_sparse_csr);
  m.impl("crow_indices", &at::native::crow_indices_sparse_csr);
  m.impl("col_indices", &at::native::col_indices_sparse_csr);
  m.impl("ccol_indices", &at::native::ccol_indices_sparse_csr);
  m.impl("row_indices", &at::native::row_indices_sparse_csr);
  m.impl("_nnz", &at::native::_nnz_sparse_csr);
  m.impl("sparse_dim", &at::native::sparse_dim_sparse_csr);
  m.impl("dense_dim", &at::native::dense_dim_sparse_csr);
  m.impl("resize_as_sparse_", &at::native::resize_as_sparse_compressed_);
  m.impl("copy_", &at::native::copy_sparse_compressed_);
  m.impl("clone", &at::native::clone_sparse_compressed);
  m.impl("zero_", &at::native::zero_sparse_csr_);
}

/** Registers the operators for which PyTorch has a function of its own where tensors are sparse: its function
 * for all other tensors would come before the fallback. */
void register_others(torch::Library& m, c10::DispatchKey theirs, c10::DispatchKey ours) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (name.name.starts_with("aten::") && op && op->hasKernelForDispatchKey(theirs) &&
        !op->hasKernelForDispatchKey(ours))
      m.impl(toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&with_sparse_on_the_cpu>());
  }
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  register_others(m, c10::DispatchKey::SparseCPU, c10::DispatchKey::SparsePrivateUse1);
}

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  register_others(m, c10::DispatchKey::SparseCsrCPU, c10::DispatchKey::SparseCsrPrivateUse1);
}

}  // namespace
}  // namespace torch_ocl
