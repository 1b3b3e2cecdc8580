#include "autograd/ops/pointwise.h"
#include "operator_binder.h"
#include "pointwise_names.h"

using ocl::Operand;
using ocl::Scalar;
using ocl::Tensor;

namespace {

using Number = std::optional<Scalar>;  // None stands for the default

/** The default of a parameter in a signature: None where PyTorch has that say that there is no
 * such number. */
py::object shown_default(std::string_view parameter, double value) {
  return parameter == "eps" ? py::none() : py::object(py::float_(value));
}

// Each row of the table becomes a function of the module and, but for the ternary ones, a method of Tensor.
void bind_table(py::module_& m, py::class_<Tensor>& tensor) {
// A function with its first argument named, and a method whose first argument is the tensor.
#define BOTH(name, function, ...)                        \
  m.def(#name, function, py::arg("input"), __VA_ARGS__); \
  tensor.def(#name, function, __VA_ARGS__);
#define UNARY(name, types, forward, da, doc) \
  BOTH(name, [](const Tensor& input) { return ocl::name(input); }, WithoutLock(), doc)
#define UNARY_P(name, p, p0, types, forward, da, doc)                                          \
  BOTH(name, ([](const Tensor& input, Number p) { return ocl::name(input, p.value_or(p0)); }), \
       py::arg(#p) = shown_default(#p, p0), WithoutLock(), doc)
#define UNARY_PQ(name, p, p0, q, q0, types, forward, da, doc)                              \
  BOTH(name, ([](const Tensor& input, Number p, Number q) {                                \
         dlprim::require(p || q || dlprim::TypeRule::types != dlprim::TypeRule::Bounded,   \
                         #name ": at least one of '" #p "' or '" #q "' must not be None"); \
         return ocl::name(input, p.value_or(p0), q.value_or(q0));                          \
       }),                                                                                 \
       py::arg(#p) = py::none(), py::arg(#q) = py::none(), WithoutLock(), doc)
#define BINARY(name, types, forward, da, db, doc)                                                \
  m.def(                                                                                         \
      #name, [](const Operand& input, const Operand& other) { return ocl::name(input, other); }, \
      py::arg("input"), py::arg(second_name(#name)), WithoutLock(), doc);                        \
  tensor.def(                                                                                    \
      #name, [](const Tensor& input, const Operand& other) { return ocl::name(input, other); },  \
      py::arg(second_name(#name)), WithoutLock(), doc);
#define BINARY_P(name, p, p0, types, forward, da, db, doc)                                                   \
  m.def(                                                                                                     \
      #name,                                                                                                 \
      [](const Operand& input, const Operand& other, const Scalar& p) {                                      \
        return ocl::name(input, other, p);                                                                   \
      },                                                                                                     \
      py::arg("input"), py::arg("other"), py::kw_only(), py::arg(#p) = p0, WithoutLock(), doc);              \
  tensor.def(                                                                                                \
      #name,                                                                                                 \
      [](const Tensor& input, const Operand& other, const Scalar& p) { return ocl::name(input, other, p); }, \
      py::arg("other"), py::kw_only(), py::arg(#p) = p0, WithoutLock(), doc);
// PyTorch's names of the three inputs; a method's first input is the tensor.
#define TERNARY(name, types, forward, da, db, dc, doc)                                                      \
  m.def(                                                                                                    \
      #name, [](const Operand& a, const Operand& b, const Operand& c) { return ocl::name(a, b, c); },       \
      py::arg(ternary_names(#name)[0]), py::arg(ternary_names(#name)[1]), py::arg(ternary_names(#name)[2]), \
      WithoutLock(), doc);                                                                                  \
  if (std::string_view(#name) != "where")                                                                   \
    tensor.def(                                                                                             \
        #name, [](const Tensor& a, const Operand& b, const Operand& c) { return ocl::name(a, b, c); },      \
        py::arg(ternary_names(#name)[1]), py::arg(ternary_names(#name)[2]), WithoutLock(), doc);
#define TERNARY_P(name, p, p0, types, forward, da, db, dc, doc)                                             \
  m.def(                                                                                                    \
      #name,                                                                                                \
      [](const Operand& a, const Operand& b, const Operand& c, const Scalar& p) {                           \
        return ocl::name(a, b, c, p);                                                                       \
      },                                                                                                    \
      py::arg(ternary_names(#name)[0]), py::arg(ternary_names(#name)[1]), py::arg(ternary_names(#name)[2]), \
      py::kw_only(), py::arg(#p) = p0, WithoutLock(), doc);                                                 \
  tensor.def(                                                                                               \
      #name,                                                                                                \
      [](const Tensor& a, const Operand& b, const Operand& c, const Scalar& p) {                            \
        return ocl::name(a, b, c, p);                                                                       \
      },                                                                                                    \
      py::arg(ternary_names(#name)[1]), py::arg(ternary_names(#name)[2]), py::kw_only(), py::arg(#p) = p0,  \
      WithoutLock(), doc);
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
#undef BOTH
}

/** Bounds of clamp of which one is a tensor. */
void bind_tensor_bounds(const OperatorBinder& bind) {
  using Bound = std::optional<Operand>;
  const auto held = [](const ocl::Clamping& way) { return apply_pointwise(way.op, way.inputs); };
  bind.both(
      "clamp",
      [held](const Tensor& input, const Bound& min, const Bound& max) {
        return held(ocl::clamping(input, min, max));
      },
      py::arg("min") = py::none(), py::arg("max") = py::none());
  bind.both(
      "clamp_min",
      [held](const Tensor& input, const Operand& min) { return held(ocl::clamping(input, min, {})); },
      py::arg("min"));
  bind.both(
      "clamp_max",
      [held](const Tensor& input, const Operand& max) { return held(ocl::clamping(input, {}, max)); },
      py::arg("max"));
}

// The array of an operand becomes a tensor on the other operand's device. Where it stands on the left NumPy
// asks Tensor.__array_ufunc__.
void bind_symbols(py::class_<Tensor>& tensor) {
#define OPERATOR(symbol, name)                                                              \
  tensor.def(                                                                               \
      "__" #symbol "__", [](const Tensor& a, const Operand& b) { return ocl::name(a, b); }, \
      py::is_operator(), WithoutLock());                                                    \
  tensor.def(                                                                               \
      "__" #symbol "__",                                                                    \
      [](const Tensor& a, const py::array& array) {                                         \
        const Tensor b = tensor_beside(a, array);                                           \
        const PythonUnlocked unlocked;                                                      \
        return ocl::name(a, b);                                                             \
      },                                                                                    \
      py::is_operator());
#define BOTH_SIDES(symbol, name)                                                             \
  OPERATOR(symbol, name)                                                                     \
  tensor.def(                                                                                \
      "__r" #symbol "__", [](const Tensor& a, const Operand& b) { return ocl::name(b, a); }, \
      py::is_operator(), WithoutLock());
  BOTH_SIDES(add, add)
  BOTH_SIDES(sub, sub)
  BOTH_SIDES(mul, mul)
  BOTH_SIDES(truediv, div)
  BOTH_SIDES(floordiv, floor_divide)
  BOTH_SIDES(mod, remainder)
  BOTH_SIDES(pow, pow)
  BOTH_SIDES(and, bitwise_and)
  BOTH_SIDES(or, bitwise_or)
  BOTH_SIDES(xor, bitwise_xor)
  BOTH_SIDES(lshift, bitwise_left_shift)
  BOTH_SIDES(rshift, bitwise_right_shift)
  OPERATOR(eq, eq)
  OPERATOR(ne, ne)
  OPERATOR(lt, lt)
  OPERATOR(le, le)
  OPERATOR(gt, gt)
  OPERATOR(ge, ge)
#undef BOTH_SIDES
#undef OPERATOR
  tensor.def("__neg__", [](const Tensor& a) { return ocl::neg(a); }, WithoutLock());
  tensor.def("__invert__", [](const Tensor& a) { return ocl::bitwise_not(a); }, WithoutLock());
  tensor.def("__abs__", [](const Tensor& a) { return ocl::abs(a); }, WithoutLock());
}

py::list pointwise_rows_as_dicts() {
  py::list rows;
  for (const dlprim::PointwiseOp& op : dlprim::pointwise_table()) {
    py::dict row, parameters;
    for (const dlprim::PointwiseParameter& p : op.parameters) parameters[py::str(p.name)] = p.default_value;
    constexpr const char* types[] = {"Float", "Same",     "Number", "Power",
                                     "Bool",  "Integral", "Where",  "Bounded"};
    row["name"] = op.name;
    row["inputs"] = op.inputs;
    row["parameters"] = parameters;
    row["types"] = types[static_cast<int>(op.types)];
    row["forward"] = op.forward;
    row["gradients"] = op.gradients;
    row["documentation"] = op.documentation;
    rows.append(row);
  }
  return rows;
}

}  // namespace

void bind_pointwise(const OperatorBinder& bind) {
  py::module_& m = bind.module();
  py::class_<Tensor>& tensor = bind.tensor();
  bind_table(m, tensor);
  bind_tensor_bounds(bind);
  bind_symbols(tensor);
  tensor.def(
      "where",
      [](const Tensor& input, const Tensor& condition, const Operand& other) {
        return ocl::where(condition, input, other);
      },
      py::arg("condition"), py::arg("other"), WithoutLock(), OperatorBinder::doc("where"));
  const auto divide = [](const Operand& input, const Operand& other,
                         const std::optional<std::string>& rounding_mode) {
    if (!rounding_mode) return ocl::div(input, other);
    if (*rounding_mode == "floor") return ocl::div_floor(input, other);
    dlprim::require(*rounding_mode == "trunc",
                    "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
                    *rounding_mode, "'");
    return ocl::div_trunc(input, other);
  };
  m.def("div", divide, py::arg("input"), py::arg("other"), py::kw_only(), py::arg("rounding_mode"),
        WithoutLock());
  tensor.def(
      "div",
      [divide](const Tensor& input, const Operand& other, const std::optional<std::string>& rounding_mode) {
        return divide(input, other, rounding_mode);
      },
      py::arg("other"), py::kw_only(), py::arg("rounding_mode"), WithoutLock());
  m.def(
      "pow", [](const Scalar& self, const Tensor& exponent) { return ocl::pow(self, exponent); },
      py::arg("self"), py::arg("exponent"), WithoutLock());
  m.def(
      "polygamma", [](std::int64_t n, const Tensor& input) { return ocl::polygamma(n, input); }, py::arg("n"),
      py::arg("input"), WithoutLock(), OperatorBinder::doc("polygamma"));
  tensor.def(
      "polygamma", [](const Tensor& input, std::int64_t n) { return ocl::polygamma(n, input); }, py::arg("n"),
      WithoutLock(), OperatorBinder::doc("polygamma"));
  bind.both(
      "nan_to_num",
      [](const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
         std::optional<double> neginf) { return ocl::nan_to_num(input, nan, posinf, neginf); },
      py::arg("nan") = 0.0, py::arg("posinf") = py::none(), py::arg("neginf") = py::none());
  bind.both(
      "round", [](const Tensor& input, std::int64_t decimals) { return ocl::round(input, decimals); },
      py::kw_only(), py::arg("decimals"));
  m.def(
      "gelu",
      [](const Tensor& input, const std::string& approximate) {
        if (approximate == "none") return ocl::gelu(input);
        dlprim::require(approximate == "tanh", "approximate argument must be either none or tanh, got ",
                        approximate);
        return ocl::gelu_tanh(input);
      },
      py::arg("input"), py::arg("approximate"), WithoutLock());
  m.def("pointwise_table", &pointwise_rows_as_dicts, "The rows of the pointwise operator table, as dicts.");
}
