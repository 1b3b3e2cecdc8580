#include "autograd/ops/count.h"
#include "operator_binder.h"

using ocl::Tensor;
using OptionalDim = std::optional<std::int64_t>;

namespace {

/** The values alone, or a tuple with what was asked for beside them. */
py::object wanted(const ocl::UniqueValues& found) {
  const auto& [values, inverse, counts] = found;
  py::list all;
  for (const Tensor& t : {values, inverse, counts})
    if (t.defined()) all.append(t);
  return all.size() == 1 ? py::object(all[0]) : py::object(py::tuple(all));
}

py::object unique(const Tensor& input, bool sorted, bool return_inverse, bool return_counts,
                  OptionalDim dim) {
  ocl::UniqueValues found;
  {
    const PythonUnlocked without_lock;
    found = ocl::unique(input, sorted, return_inverse, return_counts, dim);
  }
  return wanted(found);
}

py::object unique_consecutive(const Tensor& input, bool return_inverse, bool return_counts, OptionalDim dim) {
  ocl::UniqueValues found;
  {
    const PythonUnlocked without_lock;
    found = ocl::unique_consecutive(input, return_inverse, return_counts, dim);
  }
  return wanted(found);
}

}  // namespace

void bind_count(const OperatorBinder& bind) {
  const auto both = [&](const char* name, const auto& function, const auto&... arguments) {
    bind.module().def(name, function, py::arg("input"), arguments..., OperatorBinder::doc(name));
    bind.tensor().def(name, function, arguments..., OperatorBinder::doc(name));
  };
  both("unique", &unique, py::arg("sorted") = true, py::arg("return_inverse") = false,
       py::arg("return_counts") = false, py::arg("dim") = py::none());
  both("unique_consecutive", &unique_consecutive, py::arg("return_inverse") = false,
       py::arg("return_counts") = false, py::arg("dim") = py::none());
}
