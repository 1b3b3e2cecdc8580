// Written by tools/generate_methods.py from the rows of operators.def: each calls its function.
// clang-format off
#include "autograd/autograd.h"

namespace ocl {

Tensor Tensor::bernoulli(Generator* generator) const { return ocl::bernoulli(*this, generator); }
Tensor Tensor::bernoulli(double p, Generator* generator) const { return ocl::bernoulli(*this, p, generator); }
Tensor Tensor::multinomial(std::int64_t num_samples, bool replacement, Generator* generator) const { return ocl::multinomial(*this, num_samples, replacement, generator); }
TensorList Tensor::split(const std::vector<std::int64_t>& sizes, std::int64_t dim) const { return ocl::split(*this, sizes, dim); }
TensorList Tensor::split(std::int64_t split_size, std::int64_t dim) const { return ocl::split(*this, split_size, dim); }
TensorList Tensor::chunk(std::int64_t chunks, std::int64_t dim) const { return ocl::chunk(*this, chunks, dim); }
TensorList Tensor::unbind(std::int64_t dim) const { return ocl::unbind(*this, dim); }
Tensor Tensor::repeat(const std::vector<std::int64_t>& repeats) const { return ocl::repeat(*this, repeats); }
Tensor Tensor::tile(const std::vector<std::int64_t>& dims) const { return ocl::tile(*this, dims); }
Tensor Tensor::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim) const { return ocl::repeat_interleave(*this, repeats, dim); }
Tensor Tensor::repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim) const { return ocl::repeat_interleave(*this, repeats, dim); }
Tensor Tensor::flip(const std::vector<std::int64_t>& dims) const { return ocl::flip(*this, dims); }
Tensor Tensor::roll(const std::vector<std::int64_t>& shifts, const std::vector<std::int64_t>& dims) const { return ocl::roll(*this, shifts, dims); }
Tensor Tensor::fliplr() const { return ocl::fliplr(*this); }
Tensor Tensor::flipud() const { return ocl::flipud(*this); }
Tensor Tensor::rot90(std::int64_t k, const std::vector<std::int64_t>& dims) const { return ocl::rot90(*this, k, dims); }
Tensor Tensor::view(const std::vector<std::int64_t>& shape) const { return ocl::view(*this, shape); }
Tensor Tensor::view(DType dtype) const { return ocl::view(*this, dtype); }
Tensor Tensor::reshape(const std::vector<std::int64_t>& shape) const { return ocl::reshape(*this, shape); }
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const { return ocl::flatten(*this, start_dim, end_dim); }
Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const { return ocl::transpose(*this, dim0, dim1); }
Tensor Tensor::permute(const std::vector<std::int64_t>& dims) const { return ocl::permute(*this, dims); }
Tensor Tensor::t() const { return ocl::t(*this); }
Tensor Tensor::squeeze(std::optional<std::int64_t> dim) const { return ocl::squeeze(*this, dim); }
Tensor Tensor::squeeze(const std::vector<std::int64_t>& dims) const { return ocl::squeeze(*this, dims); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return ocl::unsqueeze(*this, dim); }
Tensor Tensor::expand(const std::vector<std::int64_t>& shape) const { return ocl::expand(*this, shape); }
Tensor Tensor::unflatten(std::int64_t dim, const std::vector<std::int64_t>& sizes) const { return ocl::unflatten(*this, dim, sizes); }
Tensor Tensor::movedim(const std::vector<std::int64_t>& source, const std::vector<std::int64_t>& destination) const { return ocl::movedim(*this, source, destination); }
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const { return ocl::diagonal(*this, offset, dim1, dim2); }
Tensor Tensor::as_strided(const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& stride, std::optional<std::int64_t> storage_offset) const { return ocl::as_strided(*this, size, stride, storage_offset); }
Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const { return ocl::narrow(*this, dim, start, length); }
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const { return ocl::select(*this, dim, index); }
Tensor Tensor::contiguous(MemoryFormat format) const { return ocl::contiguous(*this, format); }
Tensor Tensor::clone(MemoryFormat format) const { return ocl::clone(*this, format); }
Tensor Tensor::swapaxes(std::int64_t axis0, std::int64_t axis1) const { return ocl::swapaxes(*this, axis0, axis1); }
Tensor Tensor::expand_as(const Tensor& other) const { return ocl::expand_as(*this, other); }
Tensor Tensor::view_as(const Tensor& other) const { return ocl::view_as(*this, other); }
Tensor Tensor::unfold_dimension(std::int64_t dimension, std::int64_t size, std::int64_t step) const { return ocl::unfold_dimension(*this, dimension, size, step); }
Tensor Tensor::conj() const { return ocl::conj(*this); }
Tensor Tensor::vdot(const Tensor& other) const { return ocl::vdot(*this, other); }
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return ocl::isclose(*this, other, rtol, atol, equal_nan); }
bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return ocl::allclose(*this, other, rtol, atol, equal_nan); }
bool Tensor::equal(const Tensor& other) const { return ocl::equal(*this, other); }
Tensor Tensor::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return ocl::nan_to_num(*this, nan, posinf, neginf); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const { return ocl::argmax(*this, dim, keepdim); }
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const { return ocl::argmin(*this, dim, keepdim); }
Tensor Tensor::max() const { return ocl::max(*this); }
Tensor Tensor::min() const { return ocl::min(*this); }
TensorPair Tensor::max(std::int64_t dim, bool keepdim) const { return ocl::max(*this, dim, keepdim); }
TensorPair Tensor::min(std::int64_t dim, bool keepdim) const { return ocl::min(*this, dim, keepdim); }
Tensor Tensor::max(const Tensor& other) const { return ocl::max(*this, other); }
Tensor Tensor::min(const Tensor& other) const { return ocl::min(*this, other); }
Tensor Tensor::var(const DimList& dims, double correction, bool keepdim) const { return ocl::var(*this, dims, correction, keepdim); }
Tensor Tensor::std(const DimList& dims, double correction, bool keepdim) const { return ocl::std(*this, dims, correction, keepdim); }
Tensor Tensor::logsumexp(const DimList& dims, bool keepdim) const { return ocl::logsumexp(*this, dims, keepdim); }
Tensor Tensor::norm(double p, const DimList& dims, bool keepdim) const { return ocl::norm(*this, p, dims, keepdim); }
TensorPair Tensor::aminmax(std::optional<std::int64_t> dim, bool keepdim) const { return ocl::aminmax(*this, dim, keepdim); }
Tensor Tensor::nansum(const DimList& dims, bool keepdim) const { return ocl::nansum(*this, dims, keepdim); }
Tensor Tensor::nanmean(const DimList& dims, bool keepdim) const { return ocl::nanmean(*this, dims, keepdim); }
Tensor Tensor::cumsum(std::int64_t dim, std::optional<DType> dtype) const { return ocl::cumsum(*this, dim, dtype); }
Tensor Tensor::cumprod(std::int64_t dim, std::optional<DType> dtype) const { return ocl::cumprod(*this, dim, dtype); }
Tensor Tensor::diff(std::int64_t n, std::int64_t dim, const OptionalTensor& prepend, const OptionalTensor& append) const { return ocl::diff(*this, n, dim, prepend, append); }
TensorPair Tensor::cummax(std::int64_t dim) const { return ocl::cummax(*this, dim); }
TensorPair Tensor::cummin(std::int64_t dim) const { return ocl::cummin(*this, dim); }
Tensor Tensor::logcumsumexp(std::int64_t dim) const { return ocl::logcumsumexp(*this, dim); }
Tensor Tensor::prelu(const Tensor& weight) const { return ocl::prelu(*this, weight); }
Tensor Tensor::mm(const Tensor& mat2) const { return ocl::mm(*this, mat2); }
Tensor Tensor::bmm(const Tensor& mat2) const { return ocl::bmm(*this, mat2); }
Tensor Tensor::matmul(const Tensor& other) const { return ocl::matmul(*this, other); }
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return ocl::addmm(*this, mat1, mat2, beta, alpha); }
Tensor Tensor::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return ocl::baddbmm(*this, batch1, batch2, beta, alpha); }
Tensor Tensor::dot(const Tensor& tensor) const { return ocl::dot(*this, tensor); }
Tensor Tensor::outer(const Tensor& vec2) const { return ocl::outer(*this, vec2); }
Tensor Tensor::trace() const { return ocl::trace(*this); }
Tensor Tensor::mv(const Tensor& vec) const { return ocl::mv(*this, vec); }
Tensor Tensor::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return ocl::addmv(*this, mat, vec, beta, alpha); }
Tensor Tensor::addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const { return ocl::addr(*this, vec1, vec2, beta, alpha); }
Tensor Tensor::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return ocl::addbmm(*this, batch1, batch2, beta, alpha); }
Tensor Tensor::inner(const Tensor& other) const { return ocl::inner(*this, other); }
Tensor Tensor::kron(const Tensor& other) const { return ocl::kron(*this, other); }
Tensor Tensor::cross(const Tensor& other, std::optional<std::int64_t> dim) const { return ocl::cross(*this, other, dim); }
Tensor Tensor::renorm(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const { return ocl::renorm(*this, p, dim, maxnorm); }
Tensor Tensor::softmax(std::int64_t dim, std::optional<DType> dtype) const { return ocl::softmax(*this, dim, dtype); }
Tensor Tensor::log_softmax(std::int64_t dim, std::optional<DType> dtype) const { return ocl::log_softmax(*this, dim, dtype); }
Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const { return ocl::gather(*this, dim, index); }
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Operand& src) const { return ocl::scatter(*this, dim, index, src); }
Tensor Tensor::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const { return ocl::scatter_add(*this, dim, index, src); }
Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const { return ocl::index_select(*this, dim, index); }
Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return ocl::index_add(*this, dim, index, source, alpha); }
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, const Operand& value) const { return ocl::index_fill(*this, dim, index, value); }
Tensor Tensor::index_copy(std::int64_t dim, const Tensor& index, const Tensor& source) const { return ocl::index_copy(*this, dim, index, source); }
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim) const { return ocl::take_along_dim(*this, indices, dim); }
Tensor Tensor::tril(std::int64_t diagonal) const { return ocl::tril(*this, diagonal); }
Tensor Tensor::triu(std::int64_t diagonal) const { return ocl::triu(*this, diagonal); }
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, const Operand& src) { return ocl::scatter_(*this, dim, index, src); }
Tensor& Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) { return ocl::scatter_add_(*this, dim, index, src); }
Tensor& Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) { return ocl::index_add_(*this, dim, index, source, alpha); }
Tensor& Tensor::index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source) { return ocl::index_copy_(*this, dim, index, source); }
Tensor Tensor::take(const Tensor& index) const { return ocl::take(*this, index); }
Tensor& Tensor::put_(const Tensor& index, const Tensor& source, bool accumulate) { return ocl::put_(*this, index, source, accumulate); }
Tensor Tensor::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) const { return ocl::scatter_reduce(*this, dim, index, src, reduce, include_self); }
Tensor Tensor::index_reduce(std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool include_self) const { return ocl::index_reduce(*this, dim, index, source, reduce, include_self); }
Tensor Tensor::masked_select(const Tensor& mask) const { return ocl::masked_select(*this, mask); }
Tensor Tensor::masked_fill(const Tensor& mask, const Operand& value) const { return ocl::masked_fill(*this, mask, value); }
Tensor Tensor::nonzero() const { return ocl::nonzero(*this); }
Tensor& Tensor::masked_fill_(const Tensor& mask, const Operand& value) { return ocl::masked_fill_(*this, mask, value); }
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const { return ocl::masked_scatter(*this, mask, source); }
TensorPair Tensor::sort(std::int64_t dim, bool descending) const { return ocl::sort(*this, dim, descending); }
Tensor Tensor::argsort(std::int64_t dim, bool descending) const { return ocl::argsort(*this, dim, descending); }
TensorPair Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool sorted) const { return ocl::topk(*this, k, dim, largest, sorted); }
TensorPair Tensor::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const { return ocl::kthvalue(*this, k, dim, keepdim); }
Tensor Tensor::median() const { return ocl::median(*this); }
TensorPair Tensor::median(std::int64_t dim, bool keepdim) const { return ocl::median(*this, dim, keepdim); }
Tensor Tensor::nanmedian() const { return ocl::nanmedian(*this); }
TensorPair Tensor::nanmedian(std::int64_t dim, bool keepdim) const { return ocl::nanmedian(*this, dim, keepdim); }
TensorPair Tensor::mode(std::int64_t dim, bool keepdim) const { return ocl::mode(*this, dim, keepdim); }
Tensor Tensor::quantile(const Operand& q, std::optional<std::int64_t> dim, bool keepdim, const std::string& interpolation) const { return ocl::quantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::nanquantile(const Operand& q, std::optional<std::int64_t> dim, bool keepdim, const std::string& interpolation) const { return ocl::nanquantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::bincount(const OptionalTensor& weights, std::int64_t minlength) const { return ocl::bincount(*this, weights, minlength); }
Tensor Tensor::histc(std::int64_t bins, const Scalar& min, const Scalar& max) const { return ocl::histc(*this, bins, min, max); }

}  // namespace ocl
