#include "dlprim/ops/reduce/reduce.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "named_result.h"
#include "operator_binder.h"

using ocl::DType;
using ocl::Tensor;

namespace {

using OptionalDType = std::optional<DType>;

/** The overload that is given a dtype of the result. */
void bind_with_dtype(const OperatorBinder& bind, const char* name,
                     Tensor (*function)(const Tensor&, const ocl::DimList&, bool, DType)) {
  bind.both(
      name,
      [function](const Tensor& input, const DimArgument& dim, bool keepdim, DType dtype) {
        return function(input, dims_of(dim), keepdim, dtype);
      },
      py::arg("dim") = py::none(), py::arg("keepdim") = false, py::kw_only(), py::arg("dtype"));
}

using AlongDim = std::pair<Tensor, Tensor> (*)(const Tensor&, std::int64_t, bool);

/** max and min along a dimension. */
void bind_extreme(const OperatorBinder& bind, const char* name, AlongDim along_dim) {
  const auto named = [name, along_dim](const Tensor& input, std::int64_t dim, bool keepdim) {
    std::pair<Tensor, Tensor> result;
    {
      const PythonUnlocked without_lock;
      result = along_dim(input, dim, keepdim);
    }
    return values_and_indices(name, result.first, result.second);
  };
  const char* doc = OperatorBinder::doc(name);
  bind.module().def(name, named, py::arg("input"), py::arg("dim"), py::arg("keepdim") = false, doc);
  bind.tensor().def(name, named, py::arg("dim"), py::arg("keepdim") = false, doc);
}

/** var and its like: with PyTorch's older argument `unbiased`, alone or after dim, or with correction. */
template <class Function>
void bind_moments(const OperatorBinder& bind, const char* name, const Function& function) {
  bind.both(
      name,
      [function](const Tensor& input, bool unbiased) { return function(input, {}, unbiased ? 1 : 0, false); },
      py::arg("unbiased").noconvert());
  bind.both(
      name,
      [function](const Tensor& input, const DimArgument& dim, std::optional<bool> unbiased, bool keepdim,
                 std::optional<double> correction) {
        return function(input, dims_of(dim), correction.value_or(unbiased.value_or(true) ? 1 : 0), keepdim);
      },
      py::arg("dim") = py::none(), py::arg("unbiased") = py::none(), py::arg("keepdim") = false,
      py::kw_only(), py::arg("correction") = py::none());
}

/** The truth of every element by itself, which all and any, and they alone, give for an empty tuple of
 * dimensions. */
Tensor truth_of(const Tensor& input) {
  return ocl::to(ocl::ne(input, 0), dlprim::reduction("all").result_dtype(input.dtype()));
}

using NormOrder = std::variant<double, std::string>;

double order_of(const NormOrder& p) {
  if (const auto* number = std::get_if<double>(&p)) return *number;
  const std::string& name = std::get<std::string>(p);
  if (name == "fro") return 2;
  throw ocl::ValueError("norm: expected a number or 'fro' for p, got '" + name + "'");
}

Tensor norm_of(const Tensor& input, const NormOrder& p, const DimArgument& dim, bool keepdim,
               const OptionalDType& dtype) {
  return ocl::norm(dtype ? ocl::to(input, *dtype) : input, order_of(p), dims_of(dim), keepdim);
}

void bind_norms(const OperatorBinder& bind) {
  bind.both("norm", &norm_of, py::arg("p") = "fro", py::arg("dim") = py::none(), py::arg("keepdim") = false,
            py::arg("dtype") = py::none());
  bind.function("vector_norm", &norm_of, py::arg("ord") = 2.0, py::arg("dim") = py::none(),
                py::arg("keepdim") = false, py::kw_only(), py::arg("dtype") = py::none());
}

void bind_without_nan(const OperatorBinder& bind, const char* name,
                      Tensor (*function)(const Tensor&, const ocl::DimList&, bool)) {
  bind.both(
      name,
      [function](const Tensor& input, const DimArgument& dim, bool keepdim, const OptionalDType& dtype) {
        return function(dtype ? ocl::to(input, *dtype) : input, dims_of(dim), keepdim);
      },
      py::arg("dim") = py::none(), py::arg("keepdim") = false, py::kw_only(), py::arg("dtype") = py::none());
}

}  // namespace

void bind_reduce(const OperatorBinder& bind) {
#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc)                      \
  bind.both(                                                                                        \
      #name,                                                                                        \
      [](const Tensor& input, const DimArgument& dim, bool keepdim) {                               \
        constexpr bool is_truth = dlprim::ReductionResult::result == dlprim::ReductionResult::Bool; \
        if (is_truth && dim && dims_of(dim).empty()) return truth_of(input);                        \
        return ocl::name(input, dims_of(dim), keepdim);                                             \
      },                                                                                            \
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
  bind_with_dtype(bind, "sum", &ocl::sum);
  bind_with_dtype(bind, "mean", &ocl::mean);
  bind_with_dtype(bind, "prod", &ocl::prod);
  bind_extreme(bind, "max", &ocl::max);
  bind_extreme(bind, "min", &ocl::min);
  bind_moments(bind, "var", &ocl::var);
  bind_moments(bind, "std", &ocl::std);
  bind_moments(bind, "var_mean", &ocl::var_mean);
  bind_moments(bind, "std_mean", &ocl::std_mean);
  bind.both(
      "logsumexp",
      [](const Tensor& input, const DimArgument& dim, bool keepdim) {
        return ocl::logsumexp(input, dims_of(dim), keepdim);
      },
      py::arg("dim"), py::arg("keepdim") = false);
  bind_norms(bind);
  bind_without_nan(bind, "nansum", &ocl::nansum);
  bind_without_nan(bind, "nanmean", &ocl::nanmean);
  const auto aminmax = [](const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
    std::pair<Tensor, Tensor> result;
    {
      const PythonUnlocked without_lock;
      result = ocl::aminmax(input, dim, keepdim);
    }
    static const NamedPair extremes("aminmax", "min", "max");
    return extremes(result.first, result.second);
  };
  const char* doc = OperatorBinder::doc("aminmax");
  bind.module().def("aminmax", aminmax, py::arg("input"), py::kw_only(), py::arg("dim") = py::none(),
                    py::arg("keepdim") = false, doc);
  bind.tensor().def("aminmax", aminmax, py::kw_only(), py::arg("dim") = py::none(),
                    py::arg("keepdim") = false, doc);
}
