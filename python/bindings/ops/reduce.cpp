#include "dlprim/ops/reduce/reduce.h"
#include "operator_binder.h"

using ocl::Tensor;

void bind_reduce(const OperatorBinder& bind) {
#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc) \
  bind.both(                                                                   \
      #name,                                                                   \
      [](const Tensor& input, const DimArgument& dim, bool keepdim) {          \
        return ocl::name(input, dims_of(dim), keepdim);                        \
      },                                                                       \
      py::arg("dim") = py::none(), py::arg("keepdim") = false);
#include "dlprim/ops/reduce/table.def"
  bind.module().def(
      "reduction_table",
      [] {
        py::list rows;
        for (const dlprim::ReductionOp& op : dlprim::reduction_table()) {
          py::dict row;
          row["name"] = op.name;
          row["map"] = op.map;
          row["combine"] = op.combine;
          row["finish"] = op.finish;
          row["gradient"] = op.gradient;
          row["documentation"] = op.documentation;
          rows.append(row);
        }
        return rows;
      },
      "The rows of the reduction table, as dicts.");
  bind.both("argmax", &ocl::argmax, py::arg("dim") = py::none(), py::arg("keepdim") = false);
  bind.both("argmin", &ocl::argmin, py::arg("dim") = py::none(), py::arg("keepdim") = false);
}
