#include "autograd/tensor/tensor.h"

#include "autograd/tape/engine.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {

using dlprim::require;

Tensor::Tensor(dlprim::Tensor data, bool requires_grad) : impl_(std::make_shared<TensorImpl>()) {
  impl_->data = std::move(data);
  if (requires_grad) requires_grad_();
}

const dlprim::Tensor& Tensor::data() const {
  require(defined(), "an undefined tensor was used");
  return impl_->data;
}

std::int64_t Tensor::size(std::int64_t dim) const {
  require<IndexError>(this->dim() > 0, "size: a scalar has no dimension ", dim);
  return shape()[dlprim::wrap_dim(dim, this->dim(), "size")];
}

bool Tensor::requires_grad() const {
  return impl_->requires_grad() || history(*impl_).node;
}
bool Tensor::is_leaf() const {
  return !history(*impl_).node;
}
Tensor Tensor::grad() const {
  return impl_->grad();
}
std::shared_ptr<Node> Tensor::grad_fn() const {
  return history(*impl_).node;
}
std::uint32_t Tensor::version() const {
  return data().storage->version();
}

Tensor& Tensor::requires_grad_(bool requires_grad) {
  require<AutogradError>(
      is_leaf() || requires_grad,
      "you can only change requires_grad flags of leaf variables. Use detach() to get one.");
  require<AutogradError>(!requires_grad || is_differentiable(dtype()),
                         "only tensors of floating or complex dtype can require gradients, got ",
                         name(dtype()));
  impl_->set_requires_grad(requires_grad);
  return *this;
}

void Tensor::set_grad(const Tensor& grad) {
  if (grad.defined())
    require(grad.shape() == shape() && grad.dtype() == dtype() && grad.device() == device(),
            "grad: expected shape ", shape(), " and dtype ", name(dtype()), " on ", data().device().name(),
            ", got ", grad.shape(), " and ", name(grad.dtype()), " on ", grad.data().device().name());
  impl_->set_grad(grad);
}

void Tensor::retain_grad() {
  require<AutogradError>(requires_grad(), "can't retain_grad on a tensor that does not require grad");
  if (is_leaf() || impl_->retains_grad.exchange(true)) return;
  ocl::retain_grad(*impl_);
}

HookHandle Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) {
  return ocl::register_post_accumulate_grad_hook(*this, std::move(hook), {});
}

HookHandle Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) {
  return ocl::register_hook(*this, std::move(hook), {});
}

void HookHandle::remove() {
  if (const std::shared_ptr<Node> node = node_.lock()) node->remove_hook(number_);
}

Tensor Tensor::detach() const {
  return Tensor(data());
}

Tensor& Tensor::detach_() {
  require<AutogradError>(!impl_->base.defined(), "Can't detach views in-place. Use detach() instead.");
  impl_->set_made_by({});
  impl_->retains_grad = false;
  impl_->set_requires_grad(false);
  return *this;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
  ocl::backward({*this}, {gradient}, retain_graph, create_graph);
}

std::vector<char> Tensor::to_bytes() const {
  std::vector<char> bytes(static_cast<std::size_t>(numel()) * size_of(dtype()));
  copy_bytes_to(bytes.data());
  return bytes;
}

void Tensor::copy_bytes_to(void* destination) const {
  const dlprim::Tensor source = row_major(data());
  source.device().queue().read(source, destination,
                               static_cast<std::size_t>(source.numel()) * size_of(source.dtype));
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  constexpr DType wanted = dlprim::dtype_of<T>();
  if (wanted == DType::float64 && dtype() != wanted && !device()->info().fp64) {  // then the host converts
    if (!is_floating(dtype())) {
      const std::vector<std::int64_t> whole = to_vector<std::int64_t>();
      return {whole.begin(), whole.end()};
    }
    const std::vector<float> values = to_vector<float>();
    return {values.begin(), values.end()};
  }
  if (dtype() != wanted) {
    const dlprim::Tensor converted = dlprim::Tensor::empty(*device(), shape(), wanted);
    dlprim::copy(device()->queue(), data(), converted);
    return Tensor(converted).to_vector<T>();
  }
  std::vector<T> values(static_cast<std::size_t>(numel()));
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<char> bytes = to_bytes();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = bytes[i] != 0;
  } else {
    copy_bytes_to(values.data());
  }
  return values;
}

template <class T>
T Tensor::item() const {
  require(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr DType wanted = dlprim::dtype_of<T>();
    if (dtype() != wanted) {
      const Scalar number = dlprim::is_complex(dtype()) ? Scalar(to_vector<std::complex<double>>()[0])
                            : is_floating(dtype())      ? Scalar(to_vector<double>()[0])
                                                        : Scalar(to_vector<std::int64_t>()[0]);
      dlprim::require_holds("item", wanted, number);
      return static_cast<T>(number.integer());
    }
  }
  return to_vector<T>()[0];
}

#define INSTANTIATE(T)                               \
  template std::vector<T> Tensor::to_vector() const; \
  template T Tensor::item() const;
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
INSTANTIATE(std::int32_t)
INSTANTIATE(std::uint8_t)
INSTANTIATE(bool)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace ocl
