#include "autograd/ops/sort.h"
#include "values_indices.h"

using ocl::Tensor;

void bind_sort(const OperatorBinder& bind) {
  bind.both(
      "sort",
      [](const Tensor& input, std::int64_t dim, bool descending, bool /*stable: always*/) {
        return ValuesIndices(ocl::sort(input, dim, descending));
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
        return ValuesIndices(ocl::topk(input, k, dim, largest, sorted));
      },
      py::arg("k"), py::arg("dim") = -1, py::arg("largest") = true, py::arg("sorted") = true);
}
