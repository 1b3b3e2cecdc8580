#pragma once

#include <cmath>  // INFINITY in the operator table
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/ops/row_dtypes.h"
#include "autograd/tensor/device.h"
#include "autograd/tensor/tensor_options.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/core/scalar.h"
#include "dlprim/core/tensor.h"

namespace ocl {

using dlprim::AutogradError;
using dlprim::DeviceError;
using dlprim::Dims;
using dlprim::DType;
using dlprim::Error;
using dlprim::FileError;
using dlprim::IndexError;
using dlprim::KernelBuildError;
using dlprim::MemoryFormat;
using dlprim::OutOfMemoryError;
using dlprim::Scalar;
using dlprim::TypeError;
using dlprim::ValueError;
using dlprim::ZeroDivisionError;

// The dtypes by libtorch's names.
inline constexpr DType kFloat32 = DType::float32, kFloat = kFloat32, kFloat64 = DType::float64,
                       kDouble = kFloat64, kFloat16 = DType::float16, kHalf = kFloat16,
                       kBFloat16 = DType::bfloat16, kInt64 = DType::int64, kLong = kInt64,
                       kInt32 = DType::int32, kInt = kInt32, kInt16 = DType::int16, kShort = kInt16,
                       kInt8 = DType::int8, kChar = kInt8, kUInt8 = DType::uint8, kByte = kUInt8,
                       kBool = DType::boolean;

class Generator;
class IndexItem;
class Node;
class Operand;
class Tensor;
template <class T, std::size_t N>
class Accessor;
struct TensorImpl;
struct Edge;

using TensorList = std::vector<Tensor>;
using TensorPair = std::pair<Tensor, Tensor>;
/** A Tensor that may be undefined: the type says so to readers, and to rows of operators. */
using OptionalTensor = Tensor;
using DimList = std::vector<std::int64_t>;

/** A type that stands for any whole number, but for no bool and no list: sum(1) beside sum({0, 1}). */
template <class T>
using IfWhole = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>;

/** The result of register_hook. */
class HookHandle {
 public:
  HookHandle(std::weak_ptr<Node> node, int number) : node_(std::move(node)), number_(number) {}
  /** Ends the hook; does nothing a second time. */
  void remove();

 private:
  std::weak_ptr<Node> node_;
  int number_;
};

/**
 * A tensor on an OpenCL device that the tape can follow. A handle: copies are the same tensor.
 *
 *     ocl::Tensor w = ocl::randn({3, 2}).requires_grad_();
 *     ocl::Tensor loss = ocl::sum(ocl::square(ocl::matmul(x, w) - y));
 *     loss.backward();
 *     w.grad();  // d loss / d w
 *
 * Operators enqueue and return; only item(), to_vector(), printing and synchronize() wait. The functions in
 * autograd/ops are methods too where PyTorch has them as methods.
 */
class Tensor {
 public:
  /** No tensor: defined() is false. */
  Tensor() = default;
  /** Wraps a raw tensor. */
  explicit Tensor(dlprim::Tensor data, bool requires_grad = false);
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  ~Tensor() = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  /** Assigning to what is no variable writes its elements, as in libtorch: `x[0] = y`, `x.select(1, 2) = 0`.
   */
  Tensor& operator=(const Operand& value) &&;
  Tensor& operator=(const Tensor& value) &&;
  Tensor& operator=(Tensor&& value) &&;

  bool defined() const { return impl_ != nullptr; }
  /** The raw tensor: the memory, free of the tape. */
  const dlprim::Tensor& data() const;
  const Dims& shape() const { return data().shape; }
  const Dims& sizes() const { return shape(); }
  const Dims& strides() const { return data().strides; }
  DType dtype() const { return data().dtype; }
  DType scalar_type() const { return dtype(); }
  bool is_floating_point() const { return is_floating(dtype()); }
  bool is_complex() const { return dlprim::is_complex(dtype()); }
  Device device() const { return data().device(); }
  /** The dtype and the device, for a tensor that is to be made like this one. */
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }
  int dim() const { return data().rank(); }
  int ndimension() const { return dim(); }
  std::int64_t numel() const { return data().numel(); }
  std::int64_t element_size() const { return static_cast<std::int64_t>(size_of(dtype())); }
  std::int64_t nbytes() const { return numel() * element_size(); }
  /** Size of dimension `dim`, which may be negative. Throws IndexError. */
  std::int64_t size(std::int64_t dim) const;
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const {
    return dlprim::is_contiguous(data(), format);
  }

  bool requires_grad() const;
  /** Asks for gradients (a leaf only; floating dtypes only). Throws AutogradError. */
  Tensor& requires_grad_(bool requires_grad = true);
  Tensor& set_requires_grad(bool requires_grad) { return requires_grad_(requires_grad); }
  bool is_leaf() const;
  /** The sum of the gradients that backward has brought here; undefined before the first. */
  Tensor grad() const;
  /** Replaces the gradient; an undefined tensor drops it. Throws ValueError when shapes differ. */
  void set_grad(const Tensor& grad);
  /** Keeps the gradient of a tensor that is no leaf; asked twice, it keeps it once. */
  void retain_grad();
  /** Calls `hook` with the gradient of this tensor in every backward; what it returns, if defined, replaces
   * it. */
  HookHandle register_hook(std::function<Tensor(const Tensor&)> hook);
  /** Calls `hook` with this leaf as soon as a backward pass has added all there is to its grad: before the
   * pass goes on to other leaves, so that an optimizer step or a transfer may begin. Throws AutogradError for
   * a tensor that is no leaf. (torch.Tensor.register_post_accumulate_grad_hook) */
  HookHandle register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook);
  /** This tensor's memory, unknown to the tape. */
  Tensor detach() const;
  /** Makes this tensor a leaf that no graph knows. Throws AutogradError for a view. */
  Tensor& detach_();
  /** Times this memory was written in place. */
  std::uint32_t version() const;
  /** The tape's record of how the tensor was made; null for a leaf. */
  std::shared_ptr<Node> grad_fn() const;

  /**
   * Gradients of this tensor with respect to the leaves, added to their grad(). `gradient`: of this tensor's
   * shape; may be left out for a single element. Throws AutogradError.
   */
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false) const;

  /** The value of a one-element tensor, converted to T. Waits. Throws ValueError for more elements. */
  template <class T = float>
  T item() const;
  /** The elements in row-major order, converted to T. Waits. */
  template <class T = float>
  std::vector<T> to_vector() const;
  /** The bytes of the elements in row-major order. Waits. */
  std::vector<char> to_bytes() const;
  /** Reads to memory of the caller's: numel() * size_of(dtype()) bytes. */
  void copy_bytes_to(void* destination) const;
  /** Entries for reading, `x.accessor<float, 2>()[1][2]`, from a copy that is made here: later writes do not
   * show. Waits. Throws TypeError for another dtype, ValueError for another number of dimensions. */
  template <class T, std::size_t N>
  Accessor<T, N> accessor() const;
  /** libtorch's pointer to the elements, which does not compile here. */
  template <class T>
  T* data_ptr() const {
    static_assert(sizeof(T) == 0,
                  "memory of an OpenCL device has no address on the host: x.to_vector<T>() copies the "
                  "elements, x.copy_bytes_to(p) writes them to memory of yours, x.copy_(ocl::from_blob(p, "
                  "sizes)) reads them from there");
    return nullptr;
  }

  // One method per pointwise operator: autograd/ops/pointwise.h.
#define UNARY(name, ...) Tensor name() const;
#define UNARY_P(name, p, p0, ...) Tensor name(const Scalar& p = p0) const;
#define UNARY_PQ(name, p, p0, q, q0, ...) Tensor name(const Scalar& p = p0, const Scalar& q = q0) const;
#define BINARY(name, ...) Tensor name(const Operand& b) const;
#define BINARY_P(name, p, p0, ...) Tensor name(const Operand& b, const Scalar& p = p0) const;
#define TERNARY(name, ...)
#define TERNARY_P(name, p, p0, ...) \
  Tensor name(const Operand& b, const Operand& c, const Scalar& p = p0) const;
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"

  // Bounds that are tensors, with gradients; an undefined one is no bound.
  Tensor clamp(const Tensor& min, const Tensor& max = {}) const;
  Tensor clamp_min(const Tensor& min) const;
  Tensor clamp_max(const Tensor& max) const;
  Tensor polygamma(std::int64_t n) const;
  /** To the nearest multiple of 10 to the power of -decimals. */
  Tensor round(std::int64_t decimals) const;

  Tensor lerp(const Operand& end, const Operand& weight) const;
  /** This tensor where `condition` holds, `other` elsewhere. */
  Tensor where(const Tensor& condition, const Operand& other) const;

  // Reductions over `dims` (all where empty): autograd/ops/reduce.h.
#define REDUCTION(name, ...) Tensor name(const DimList& dims = {}, bool keepdim = false) const;
#include "dlprim/ops/reduce/table.def"
  Tensor sum(const DimList& dims, bool keepdim, DType dtype) const;
  Tensor mean(const DimList& dims, bool keepdim, DType dtype) const;
  Tensor sum(DType dtype) const { return sum({}, false, dtype); }

  // The methods of the registry: autograd/ops/operators.def.
#include "autograd/ops/declare_methods.def"

  // One number in the place of several, as libtorch's IntArrayRef takes it.
#define ONE_NUMBER(name)                                              \
  template <class Int, class... More, class = IfWhole<Int>>           \
  Tensor name(Int number, const More&... more) const {                \
    return name(DimList{static_cast<std::int64_t>(number)}, more...); \
  }
#define REDUCTION(name, ...) ONE_NUMBER(name)
#include "dlprim/ops/reduce/table.def"
  ONE_NUMBER(var)
  ONE_NUMBER(std)
  ONE_NUMBER(logsumexp)
  ONE_NUMBER(nansum)
  ONE_NUMBER(nanmean)
  ONE_NUMBER(view)
  ONE_NUMBER(reshape)
  ONE_NUMBER(expand)
  ONE_NUMBER(repeat)
  ONE_NUMBER(tile)
  ONE_NUMBER(flip)
#undef ONE_NUMBER
  template <class Int, class = IfWhole<Int>>
  Tensor norm(double p, Int dim, bool keepdim = false) const {
    return norm(p, DimList{static_cast<std::int64_t>(dim)}, keepdim);
  }
  template <class Int, class = IfWhole<Int>>
  Tensor roll(Int shift, const DimList& dims = {}) const {
    return roll(DimList{static_cast<std::int64_t>(shift)}, dims);
  }
  template <class Int, class Other, class = IfWhole<Int>, class = IfWhole<Other>>
  Tensor roll(Int shift, Other dim) const {
    return roll(shift, DimList{static_cast<std::int64_t>(dim)});
  }
  template <class Int, class Other, class = IfWhole<Int>, class = IfWhole<Other>>
  Tensor movedim(Int source, Other destination) const {
    return movedim(DimList{static_cast<std::int64_t>(source)},
                   DimList{static_cast<std::int64_t>(destination)});
  }
  // With n - 1 for the number of elements, or n.
  template <class Bool, class = std::enable_if_t<std::is_same_v<Bool, bool>>>
  Tensor var(Bool unbiased) const {
    return var(DimList(), unbiased ? 1 : 0);
  }
  template <class Bool, class = std::enable_if_t<std::is_same_v<Bool, bool>>>
  Tensor std(Bool unbiased) const {
    return std(DimList(), unbiased ? 1 : 0);
  }

  // Parts: autograd/ops/index_expression.h.
  /** Entry `index` of the first dimension: a view. */
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  /** Means index({places}). */
  Tensor operator[](const Tensor& places) const;
  Tensor index(const std::vector<IndexItem>& items) const;
  Tensor& index_put_(const std::vector<IndexItem>& items, const Operand& value, bool accumulate = false);
  /** Every `step`-th entry of `dim` from `start` to before `end`, which default to its ends. */
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
               std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1) const;

  Tensor to(DType dtype, MemoryFormat format = MemoryFormat::preserve) const;
  Tensor to(MemoryFormat format) const;
  Tensor to(const Device& device) const;
  Tensor to(const Device& device, DType dtype) const { return to(device).to(dtype); }
  Tensor to(const TensorOptions& options) const {
    const Tensor moved = options.has_device() ? to(options.device()) : *this;
    return options.has_dtype() ? moved.to(options.dtype()) : moved;
  }
  Tensor toType(DType dtype) const { return to(dtype); }
  /** On an OpenCL device that is a CPU: the tensor itself where it is on one, else a copy. */
  Tensor cpu() const;
  /** Whether a CPU computes it. No device is CUDA's. */
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return false; }
  Tensor type_as(const Tensor& other) const { return to(other.device()).to(other.dtype()); }

  // They have this tensor's dtype and device unless others are given: autograd/ops/creation_options.cpp.
  Tensor new_empty(const DimList& size, const TensorOptions& given = {}) const;
  Tensor new_zeros(const DimList& size, const TensorOptions& given = {}) const;
  Tensor new_ones(const DimList& size, const TensorOptions& given = {}) const;
  Tensor new_full(const DimList& size, const Scalar& value, const TensorOptions& given = {}) const;

  // In place: one method per pointwise operator, and those of autograd/ops/inplace.h. A written value must
  // keep its shape and hold the result's dtype.
#define UNARY(name, ...) Tensor& name##_();
#define UNARY_P(name, p, p0, ...) Tensor& name##_(const Scalar& p = p0);
#define UNARY_PQ(name, p, p0, q, q0, ...) Tensor& name##_(const Scalar& p = p0, const Scalar& q = q0);
#define BINARY(name, ...) Tensor& name##_(const Operand& b);
#define BINARY_P(name, p, p0, ...) Tensor& name##_(const Operand& b, const Scalar& p = p0);
#define TERNARY(name, ...)
#define TERNARY_P(name, p, p0, ...) Tensor& name##_(const Operand& b, const Operand& c, const Scalar& p = p0);
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
  // A const handle can write too, as in libtorch: the handle does not change, its elements do.
#define IN_PLACE(name, parameters, arguments) \
  const Tensor& name parameters const {       \
    Tensor(*this).name arguments;             \
    return *this;                             \
  }
#define UNARY(name, ...) IN_PLACE(name##_, (), ())
#define UNARY_P(name, p, p0, ...) IN_PLACE(name##_, (const Scalar& p = p0), (p))
#define UNARY_PQ(name, p, p0, q, q0, ...) \
  IN_PLACE(name##_, (const Scalar& p = p0, const Scalar& q = q0), (p, q))
#define BINARY(name, ...) IN_PLACE(name##_, (const Operand& b), (b))
#define BINARY_P(name, p, p0, ...) IN_PLACE(name##_, (const Operand& b, const Scalar& p = p0), (b, p))
#define TERNARY(name, ...)
#define TERNARY_P(name, p, p0, ...) \
  IN_PLACE(name##_, (const Operand& b, const Operand& c, const Scalar& p = p0), (b, c, p))
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
  IN_PLACE(copy_, (const Tensor& source), (source))
  IN_PLACE(fill_, (const Scalar& value), (value))
  IN_PLACE(zero_, (), ())
#undef IN_PLACE
  Tensor& lerp_(const Operand& end, const Operand& weight);
  Tensor& clamp_(const Tensor& min, const Tensor& max = {});
  Tensor& clamp_min_(const Tensor& min);
  Tensor& clamp_max_(const Tensor& max);
  Tensor& polygamma_(std::int64_t n);
  Tensor& nan_to_num_(std::optional<double> nan = {}, std::optional<double> posinf = {},
                      std::optional<double> neginf = {});
  Tensor& round_(std::int64_t decimals);
  Tensor& operator+=(const Operand& b) { return add_(b); }
  Tensor& operator-=(const Operand& b) { return sub_(b); }
  Tensor& operator*=(const Operand& b) { return mul_(b); }
  Tensor& operator/=(const Operand& b) { return div_(b); }
  Tensor& operator&=(const Operand& b) { return bitwise_and_(b); }
  Tensor& operator|=(const Operand& b) { return bitwise_or_(b); }
  Tensor& operator^=(const Operand& b) { return bitwise_xor_(b); }
  Tensor& copy_(const Tensor& source);
  Tensor& fill_(const Scalar& value);
  Tensor& zero_();

  // Random numbers in place, from `generator` or the device's default one: autograd/ops/random.h.
  Tensor& uniform_(double from = 0, double to = 1, Generator* generator = nullptr);
  Tensor& normal_(double mean = 0, double std = 1, Generator* generator = nullptr);
  Tensor& bernoulli_(double p = 0.5, Generator* generator = nullptr);
  Tensor& exponential_(double lambd = 1, Generator* generator = nullptr);
  /** Whole numbers in [from, to), from 0 on where one number is given; without an upper bound all that the
   * dtype holds, up to where it holds every one. */
  Tensor& random_(std::optional<std::int64_t> from, std::optional<std::int64_t> to,
                  Generator* generator = nullptr);
  Tensor& random_(std::int64_t to) { return random_(0, to); }
  Tensor& random_() { return random_(std::nullopt, std::nullopt); }

  TensorImpl& impl() const { return *impl_; }
  const std::shared_ptr<TensorImpl>& impl_pointer() const { return impl_; }
  friend bool is_same(const Tensor& a, const Tensor& b) { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<TensorImpl> impl_;
};

/** An operand of a binary operator: a tensor or a number. */
class Operand {
 public:
  Operand() = default;
  Operand(const Tensor& tensor) : tensor_(tensor), is_tensor_(true) {}
  Operand(const Scalar& number) : number_(number) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T number) : number_(number) {}

  /** Whether it is a tensor: an undefined one is, which operators refuse. */
  bool is_tensor() const { return is_tensor_; }
  const Tensor& tensor() const { return tensor_; }
  const Scalar& number() const { return number_; }

 private:
  Tensor tensor_;
  Scalar number_ = 0;
  bool is_tensor_ = false;
};

/** The elements as PyTorch prints them: `tensor([1., 2.], device='ocl:0')`. Waits. */
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace ocl
