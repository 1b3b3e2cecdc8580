#include "autograd/ops/index_expression.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

#include <algorithm>

#include "aten/kernels.h"
#include "aten/row_kernels.h"

/** \file x[i, j, mask] with tensors, for reading and writing, and what else is chosen by a mask. */

namespace torch_ocl {
namespace {

using Indices = c10::List<std::optional<at::Tensor>>;

/** Indices of aten as an expression of ocl's. */
struct Expression {
  ocl::IndexItems items;
  /** Where the result has a dimension too many: where there are places alone that are one number each. (For
   * such an expression ocl makes a view, which waits for the number.) */
  std::optional<std::int64_t> added;

  Expression(const at::Tensor& self, const Indices& given) {
    std::vector<std::int64_t> single;
    bool has_others = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::optional<at::Tensor> index = given.get(i);
      if (!index || !index->defined()) {
        items.emplace_back(ocl::Slice());
        continue;
      }
      const at::Tensor here = index->to(self.device());
      const bool is_place =
          here.dim() == 0 && here.scalar_type() != c10::kBool && here.scalar_type() != c10::kByte;
      if (is_place) single.push_back(static_cast<std::int64_t>(i));
      has_others |= !is_place;
      items.emplace_back(tensor_to_read(is_place ? here.unsqueeze(0) : here));
    }
    if (single.empty() || has_others) return;
    const bool are_neighbours =
        single.back() - single.front() + 1 == static_cast<std::int64_t>(single.size());
    added = are_neighbours ? single.front() : 0;
  }
};

at::Tensor index(const at::Tensor& self, const Indices& indices) {
  const Expression expression(self, indices);
  const at::Tensor made =
      result_of(ocl::index(tensor_to_read(self), expression.items), {tensor_to_read(self)});
  return expression.added ? made.squeeze(*expression.added) : made;
}

at::Tensor& index_out(const at::Tensor& self, const Indices& indices, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "index_out: self (", self.scalar_type(),
              ") and result (", out.scalar_type(), ") must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  for (const std::optional<at::Tensor>& index : indices)
    if (index && index->defined()) at::assert_no_overlap(out, *index);
  const at::Tensor made = torch_ocl::index(self, indices);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

at::Tensor& index_put(at::Tensor& self, const Indices& indices, const at::Tensor& value, bool accumulate,
                      bool /*unsafe*/) {
  // PyTorch's CPU fills by a mask then, whatever the number's dtype.
  const bool is_number = value.dim() == 0 && !accumulate && indices.size() == 1 && indices.get(0) &&
                         indices.get(0)->defined() && indices.get(0)->scalar_type() == c10::kBool;
  TORCH_CHECK_INDEX(is_number || self.scalar_type() == value.scalar_type(),
                    "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
                    " for the destination and ", value.scalar_type(), " for the source.");
  at::assert_no_internal_overlap(self);
  const Expression expression(self, indices);
  const at::Tensor given = expression.added && value.dim() > 0 ? value.unsqueeze(*expression.added) : value;
  ocl::Tensor target = tensor_to_write(self);
  if (given.is_cpu() && given.dim() == 0)
    ocl::index_put_(target, expression.items, scalar_of(given.item()), accumulate);
  else
    ocl::index_put_(target, expression.items, tensor_to_read(given.to(self.device())), accumulate);
  return self;
}

at::Tensor& masked_scatter(at::Tensor& self, const at::Tensor& mask, const at::Tensor& source) {
  TORCH_CHECK(mask.scalar_type() == c10::kBool,
              "masked_scatter_ only supports boolean masks, but got mask with dtype ", mask.scalar_type());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: expected self and source to have same dtypes but got ", self.scalar_type(),
              " and ", source.scalar_type());
  const at::Tensor places = at::nonzero(mask.expand(self.sizes()).reshape({-1})).reshape({-1});
  TORCH_CHECK(source.numel() >= places.numel(), "Number of elements of source < number of ones in mask");
  return self.put_(places, source.reshape({-1}).narrow(0, 0, places.numel()));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("index.Tensor", &index);
  m.impl("index.Tensor_out", &index_out);
  m.impl("_index_put_impl_", &index_put);
  m.impl("masked_scatter_", &masked_scatter);
}

}  // namespace
}  // namespace torch_ocl
