#include "autograd/ops/resample.h"
#include "../sizes.h"
#include "autograd/ops/grid_sample.h"
#include "autograd/ops/pad.h"
#include "operator_binder.h"

using ocl::Tensor;

namespace {

/** One entry for every spatial dimension, one that stands for all of them, or none. */
template <class T>
struct PerDimension {
  std::vector<T> entries;
  bool is_one_number = false;
};

/** The entries; a single one is repeated for the dimensions of `x` after batch and channels. */
template <class T>
std::vector<T> entries_of(const PerDimension<T>& given, const ocl::Tensor& x) {
  if (!given.is_one_number) return given.entries;
  return std::vector<T>(static_cast<std::size_t>(std::max(x.dim() - 2, 0)), given.entries[0]);
}

}  // namespace

namespace pybind11::detail {

/** A number is looked for first: arrays and tensors without dimensions pass for sequences. */
template <class T>
struct type_caster<PerDimension<T>> {
  using Choices = std::variant<T, std::vector<T>>;
  PYBIND11_TYPE_CASTER(PerDimension<T>, make_caster<Choices>::name + const_name(" | None"));

  bool load(handle source, bool) {
    if (source.is_none()) return true;
    make_caster<T> number;
    value.is_one_number = number.load(source, true);
    if (value.is_one_number) {
      value.entries = {cast_op<T>(number)};
      return true;
    }
    make_caster<std::vector<T>> numbers;
    if (!numbers.load(source, true)) return false;
    value.entries = cast_op<std::vector<T>&&>(std::move(numbers));
    return true;
  }
};

}  // namespace pybind11::detail

void bind_resample(const OperatorBinder& bind) {
  bind.function(
      "interpolate",
      [](const Tensor& input, const PerDimension<std::int64_t>& size,
         const PerDimension<double>& scale_factor, const std::string& mode, std::optional<bool> align_corners,
         std::optional<bool> recompute_scale_factor, bool antialias) {
        return ocl::interpolate(input, entries_of(size, input), entries_of(scale_factor, input), mode,
                                align_corners, recompute_scale_factor, antialias);
      },
      py::arg("size") = py::none(), py::arg("scale_factor") = py::none(), py::arg("mode") = "nearest",
      py::arg("align_corners") = py::none(), py::arg("recompute_scale_factor") = py::none(),
      py::arg("antialias") = false);
}
