#include "autograd/ops/sort.h"
#include "autograd/ops/scan.h"
#include "values_indices.h"

using ocl::Tensor;

void bind_sort(const OperatorBinder& bind) {
  bind.both(
      "sort",
      [](const Tensor& input, std::int64_t dim, bool descending, bool /*stable: always*/) {
        return ValuesIndices("sort", ocl::sort(input, dim, descending));
      },
      py::arg("dim") = -1, py::arg("descending") = false, py::arg("stable") = false);
  bind.both(
      "argsort",
      [](const Tensor& input, std::int64_t dim, bool descending, bool /*stable: always*/) {
        return ocl::argsort(input, dim, descending);
      },
      py::arg("dim") = -1, py::arg("descending") = false, py::arg("stable") = false);
  bind.both(
      "topk",
      [](const Tensor& input, std::int64_t k, std::int64_t dim, bool largest, bool sorted) {
        return ValuesIndices("topk", ocl::topk(input, k, dim, largest, sorted));
      },
      py::arg("k"), py::arg("dim") = -1, py::arg("largest") = true, py::arg("sorted") = true);
  bind.both(
      "kthvalue",
      [](const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim) {
        return ValuesIndices("kthvalue", ocl::kthvalue(input, k, dim, keepdim));
      },
      py::arg("k"), py::arg("dim") = -1, py::arg("keepdim") = false);
  bind.both(
      "median",
      [](const Tensor& input, std::int64_t dim, bool keepdim) {
        return ValuesIndices("median", ocl::median(input, dim, keepdim));
      },
      py::arg("dim"), py::arg("keepdim") = false);
  bind.both(
      "nanmedian",
      [](const Tensor& input, std::int64_t dim, bool keepdim) {
        return ValuesIndices("nanmedian", ocl::nanmedian(input, dim, keepdim));
      },
      py::arg("dim"), py::arg("keepdim") = false);
  bind.both(
      "mode",
      [](const Tensor& input, std::int64_t dim, bool keepdim) {
        return ValuesIndices("mode", ocl::mode(input, dim, keepdim));
      },
      py::arg("dim") = -1, py::arg("keepdim") = false);
  bind.both(
      "cummax",
      [](const Tensor& input, std::int64_t dim) { return ValuesIndices("cummax", ocl::cummax(input, dim)); },
      py::arg("dim"));
  bind.both(
      "cummin",
      [](const Tensor& input, std::int64_t dim) { return ValuesIndices("cummin", ocl::cummin(input, dim)); },
      py::arg("dim"));
}
