#include <torch/library.h>

#include "aten/row_kernels.h"
#include "autograd/ops/count.h"
#include "autograd/tensor/creation.h"

/** \file Operators that mean the same in ocl: rows of its registry, under aten's names. */

namespace torch_ocl {
namespace {

using ocl::Tensor;
using GivenDim = std::optional<std::int64_t>;

/** With an empty tensor in the place of what was not asked for, as aten returns it. */
ocl::UniqueValues all_of(ocl::UniqueValues found) {
  auto& [values, inverse, counts] = found;
  for (Tensor* left_out : {&inverse, &counts})
    if (!left_out->defined()) *left_out = ocl::empty({0}, ocl::DType::int64, values.device());
  return found;
}

ocl::UniqueValues unique_values(const Tensor& x, bool sorted, bool inverse, bool counts) {
  return all_of(ocl::unique(x, sorted, inverse, counts));
}
ocl::TensorPair unique_without_counts(const Tensor& x, bool sorted, bool inverse) {
  const auto [values, places, counts] = unique_values(x, sorted, inverse, false);
  return ocl::TensorPair(values, places);
}
ocl::UniqueValues unique_entries(const Tensor& x, std::int64_t dim, bool sorted, bool inverse, bool counts) {
  return all_of(ocl::unique(x, sorted, inverse, counts, dim));
}
ocl::UniqueValues unique_runs(const Tensor& x, bool inverse, bool counts, GivenDim dim) {
  return all_of(ocl::unique_consecutive(x, inverse, counts, dim));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  using ocl::operator_form;
  // Sorting, and running sums and products.
  m.row("sort.stable", operator_form("sort"), {{}, {"stable"}});
  m.row("topk");
  m.row("cumsum");
  m.row("cumprod");
  m.row("cummax");
  m.row("cummin");
  m.row("logcumsumexp");
  m.row("_logcumsumexp", operator_form("logcumsumexp"));
  m.row("kthvalue");
  m.row("median");
  m.row("nanmedian");
  m.row("median.dim", operator_form("median", "dim"));
  m.row("nanmedian.dim", operator_form("nanmedian", "dim"));
  m.row("mode");
  // One index for each element, and of whole entries of a dimension.
  m.row("gather", operator_form("gather"), {{}, {"sparse_grad"}});
  m.row("scatter.src", operator_form("scatter"));
  m.row("scatter.value", operator_form("scatter"), {{{"value", "src"}}, {}});
  m.row("scatter_add");
  m.row("index_select");
  m.row("index_add");
  m.row("index_copy");
  m.row("index_fill.int_Scalar", operator_form("index_fill"));
  m.row("index_fill.int_Tensor", operator_form("index_fill"));
  m.row("scatter_reduce.two", operator_form("scatter_reduce"));
  m.row("index_reduce");
  m.row("take");
  m.row("put_");
  // Elements that a mask chooses.
  m.row("masked_fill.Scalar", operator_form("masked_fill"));
  m.row("masked_fill.Tensor", operator_form("masked_fill"));
  m.row("masked_select");
  m.row("nonzero");
  // Which values occur, how often, and where they belong.
  const ArgumentNames values{{{"self", "input"}}, {}};
  m.row("searchsorted.Tensor", operator_form("searchsorted"), values);
  m.row("searchsorted.Scalar", operator_form("searchsorted"), values);
  m.row("bucketize.Tensor", operator_form("bucketize"));
  m.row("isin.Tensor_Tensor", operator_form("isin"));
  m.row("isin.Tensor_Scalar", operator_form("isin"), {{{"test_element", "test_elements"}}, {}});
  m.row("bincount");
  m.row("histc");
  m.function("_unique2", &unique_values);
  m.function("_unique", &unique_without_counts);
  m.function("unique_dim", &unique_entries);
  m.function("unique_consecutive", &unique_runs);
  // Products and vectors.
  m.row("addbmm");
  m.row("addr");
  m.row("linalg_cross", operator_form("cross"));
  m.row("renorm");
  // Elements in another order.
  m.row("tril");
  m.row("triu");
  m.row("flip");
  m.row("trace");
  m.row("channel_shuffle");
}

}  // namespace
}  // namespace torch_ocl
