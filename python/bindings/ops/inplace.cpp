#include <set>
#include "autograd/autograd.h"

#include "operator_binder.h"
#include "pointwise_names.h"

using dlprim::PointwiseOp;
using ocl::Operand;
using ocl::Scalar;
using ocl::Tensor;

namespace {

using Number = std::optional<Scalar>;  // None stands for the default

/** Pointwise operators that PyTorch has no method in place for. */
const std::set<std::string> without_method{"div_floor",
                                           "div_trunc",
                                           "gelu_tanh",
                                           "maximum",
                                           "minimum",
                                           "logaddexp",
                                           "where",
                                           "prelu_kernel",
                                           "isnan",
                                           "isinf",
                                           "isfinite",
                                           "round_decimals",
                                           "clamp_tensor",
                                           "clamp_min_tensor",
                                           "clamp_max_tensor",
                                           "isposinf",
                                           "isneginf",
                                           "signbit",
                                           "angle",
                                           "special_entr",
                                           "special_xlog1py",
                                           "hardshrink",
                                           "softshrink",
                                           "rsub",
                                           "fmax",
                                           "fmin",
                                           "logaddexp2"};

Scalar number_or_default(const PointwiseOp& op, std::size_t i, const Number& given) {
  return given.value_or(op.parameters[i].default_value);
}

/** x.NAME_(...) for a row of the pointwise table. */
void bind_in_place(py::class_<Tensor>& tensor, const PointwiseOp& op) {
  const std::string name = op.name + "_", doc = "In place: " + op.documentation;
  const auto parameter = [&](std::size_t i) { return py::arg(op.parameters[i].name.c_str()); };
  const auto write = [&op](Tensor& t, const std::vector<Operand>& inputs,
                           const std::vector<Scalar>& parameters = {}) -> Tensor& {
    apply_pointwise_in_place(op, t, inputs, parameters);
    return t;
  };
  const auto def = [&](auto function, const auto&... arguments) {
    tensor.def(name.c_str(), function, arguments..., itself, WithoutLock(), doc.c_str());
  };
  const std::size_t parameters = op.parameters.size();
  if (op.inputs == 1 && parameters == 0)
    def([write](Tensor& t) -> Tensor& { return write(t, {t}); });
  else if (op.inputs == 1 && parameters == 1)
    def([write, &op](Tensor& t,
                     const Number& p) -> Tensor& { return write(t, {t}, {number_or_default(op, 0, p)}); },
        parameter(0) = py::none());
  else if (op.inputs == 1 && parameters == 2)
    def(
        [write, &op](Tensor& t, const Number& p, const Number& q) -> Tensor& {
          dlprim::require(p || q || op.types != dlprim::TypeRule::Bounded, op.name, "_: at least one of '",
                          op.parameters[0].name, "' or '", op.parameters[1].name, "' must not be None");
          return write(t, {t}, {number_or_default(op, 0, p), number_or_default(op, 1, q)});
        },
        parameter(0) = py::none(), parameter(1) = py::none());
  else if (op.inputs == 2 && parameters == 0)
    def([write](Tensor& t, const Operand& other) -> Tensor& { return write(t, {t, other}); },
        py::arg(second_name(op.name)));
  else if (op.inputs == 2 && parameters == 1)
    def([write](Tensor& t, const Operand& other,
                const Scalar& p) -> Tensor& { return write(t, {t, other}, {p}); },
        py::arg("other"), py::kw_only(),
        parameter(0) =
            op.parameters[0].default_value == 1 ? Scalar(1) : Scalar(op.parameters[0].default_value));
  else if (op.inputs == 3 && parameters == 0)
    def([write](Tensor& t, const Operand& b, const Operand& c) -> Tensor& { return write(t, {t, b, c}); },
        py::arg("end"), py::arg("weight"));
  else
    def([write](Tensor& t, const Operand& b, const Operand& c,
                const Scalar& p) -> Tensor& { return write(t, {t, b, c}, {p}); },
        py::arg("tensor1"), py::arg("tensor2"), py::kw_only(), parameter(0) = Scalar(1));
}

/** x += y and its kin. */
void bind_symbols_in_place(py::class_<Tensor>& tensor) {
  const auto write = [](const PointwiseOp& op, Tensor& t, const Operand& other) -> Tensor& {
    apply_pointwise_in_place(op, t, {t, other}, std::vector<Scalar>(op.parameters.size(), 1));
    return t;
  };
  for (const auto& [symbol, name] : {std::pair("__iadd__", "add"),
                                     {"__isub__", "sub"},
                                     {"__imul__", "mul"},
                                     {"__itruediv__", "div"},
                                     {"__ifloordiv__", "floor_divide"},
                                     {"__imod__", "remainder"},
                                     {"__ipow__", "pow"},
                                     {"__iand__", "bitwise_and"},
                                     {"__ior__", "bitwise_or"},
                                     {"__ixor__", "bitwise_xor"},
                                     {"__ilshift__", "bitwise_left_shift"},
                                     {"__irshift__", "bitwise_right_shift"}}) {
    const PointwiseOp& op = dlprim::pointwise_op(name);
    tensor.def(
        symbol, [&op, write](Tensor& t, const Operand& other) -> Tensor& { return write(op, t, other); },
        py::is_operator(), itself, WithoutLock());
    tensor.def(
        symbol,
        [&op, write](Tensor& t, const NumpyArray& array) -> Tensor& {
          const Tensor other = tensor_beside(t, array);
          const PythonUnlocked unlocked;
          return write(op, t, other);
        },
        py::is_operator(), itself);
  }
}

/** Bounds of clamp_ of which one is a tensor. */
void bind_tensor_bounds_in_place(const OperatorBinder& bind) {
  using Bound = std::optional<Operand>;
  const auto write = [](Tensor& t, const Bound& min, const Bound& max) -> Tensor& {
    const ocl::Clamping way = ocl::clamping(t, min, max);
    apply_pointwise_in_place(way.op, t, way.inputs);
    return t;
  };
  py::class_<Tensor>& tensor = bind.tensor();
  tensor.def("clamp_", write, py::arg("min") = py::none(), py::arg("max") = py::none(), itself,
             WithoutLock());
  tensor.def(
      "clamp_min_", [write](Tensor& t, const Operand& min) -> Tensor& { return write(t, min, {}); },
      py::arg("min"), itself, WithoutLock());
  tensor.def(
      "clamp_max_", [write](Tensor& t, const Operand& max) -> Tensor& { return write(t, {}, max); },
      py::arg("max"), itself, WithoutLock());
}

}  // namespace

void bind_inplace(const OperatorBinder& bind) {
  for (const PointwiseOp& op : dlprim::pointwise_table())
    if (!without_method.count(op.name)) bind_in_place(bind.tensor(), op);
  bind_tensor_bounds_in_place(bind);
  bind_symbols_in_place(bind.tensor());
  bind.tensor().def(
      "nan_to_num_",
      [](Tensor& t, std::optional<double> nan, std::optional<double> posinf,
         std::optional<double> neginf) -> Tensor& { return t.nan_to_num_(nan, posinf, neginf); },
      py::arg("nan") = 0.0, py::arg("posinf") = py::none(), py::arg("neginf") = py::none(), itself,
      WithoutLock());
  bind.tensor().def(
      "round_", [](Tensor& t, std::int64_t decimals) -> Tensor& { return t.round_(decimals); }, py::kw_only(),
      py::arg("decimals"), itself, WithoutLock());
  bind.tensor().def(
      "div_",
      [](Tensor& t, const Operand& other, const std::optional<std::string>& rounding_mode) -> Tensor& {
        if (!rounding_mode) return t.div_(other);
        dlprim::require(*rounding_mode == "floor" || *rounding_mode == "trunc",
                        "div_ expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
                        *rounding_mode, "'");
        return *rounding_mode == "floor" ? t.div_floor_(other) : t.div_trunc_(other);
      },
      py::arg("other"), py::kw_only(), py::arg("rounding_mode"), itself, WithoutLock());
  bind.method(
      "copy_", [](Tensor& t, const Tensor& source, bool) -> Tensor& { return t.copy_(source); },
      py::arg("src"), py::arg("non_blocking") = false, itself);
  bind.tensor().def(
      "copy_",
      [](Tensor& t, const NumpyArray& source, bool non_blocking) -> Tensor& {
        const Tensor uploaded = tensor_of(source, std::nullopt, t.device(), non_blocking);
        const PythonUnlocked unlocked;
        return t.copy_(uploaded);
      },
      py::arg("src"), py::arg("non_blocking") = false, itself,
      "From a NumPy array: the upload overlaps with what the device computes; non_blocking as in "
      "ocl.tensor.");
  bind.method(
      "fill_",
      [](Tensor& t, const Operand& value) -> Tensor& {
        if (!value.is_tensor()) return t.fill_(value.number());
        dlprim::require(value.tensor().dim() == 0,
                        "fill_ only supports 0-dimension value tensor but got tensor with ",
                        value.tensor().dim(), " dimensions.");
        return t.copy_(value.tensor());
      },
      py::arg("value"), itself);
  bind.method("zero_", [](Tensor& t) -> Tensor& { return t.zero_(); }, itself);
}
