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

/** Makes of each row of the table a function of the module and, but for where, a method of Tensor, whose
 * first input is the tensor. Rows of a kind are called through a pointer, so that their binding is compiled
 * once. */
struct RowBinder {
  py::module_& m;
  py::class_<Tensor>& tensor;

  void unary(const char* name, Tensor (*row)(const Tensor&), const char* doc) const { both(name, row, doc); }
  void unary(const char* name, Tensor (*row)(const Tensor&, const Scalar&), const char* p, const Scalar& p0,
             const char* doc) const {
    both(
        name, [row, p0](const Tensor& input, Number p) { return row(input, p.value_or(p0)); }, doc,
        py::arg(p) = shown_default(p, p0.real()));
  }
  /** `is_bounded`: at least one of the two numbers must be given. */
  void unary(const char* name, Tensor (*row)(const Tensor&, const Scalar&, const Scalar&), const char* p,
             const Scalar& p0, const char* q, const Scalar& q0, bool is_bounded, const char* doc) const {
    const auto call = [=](const Tensor& input, Number first, Number second) {
      dlprim::require(first || second || !is_bounded, name, ": at least one of '", p, "' or '", q,
                      "' must not be None");
      return row(input, first.value_or(p0), second.value_or(q0));
    };
    both(name, call, doc, py::arg(p) = py::none(), py::arg(q) = py::none());
  }
  void binary(const char* name, Tensor (*row)(const Operand&, const Operand&), const char* doc) const {
    m.def(name, row, py::arg("input"), py::arg(second_name(name)), WithoutLock(), doc);
    tensor.def(
        name, [row](const Tensor& input, const Operand& other) { return row(input, other); },
        py::arg(second_name(name)), WithoutLock(), doc);
  }
  void binary(const char* name, Tensor (*row)(const Operand&, const Operand&, const Scalar&), const char* p,
              const Scalar& p0, const char* doc) const {
    m.def(name, row, py::arg("input"), py::arg("other"), py::kw_only(), py::arg(p) = p0, WithoutLock(), doc);
    tensor.def(
        name,
        [row](const Tensor& input, const Operand& other, const Scalar& p) { return row(input, other, p); },
        py::arg("other"), py::kw_only(), py::arg(p) = p0, WithoutLock(), doc);
  }
  void ternary(const char* name, Tensor (*row)(const Operand&, const Operand&, const Operand&),
               const char* doc) const {
    const auto names = ternary_names(name);
    m.def(name, row, py::arg(names[0]), py::arg(names[1]), py::arg(names[2]), WithoutLock(), doc);
    if (std::string_view(name) == "where") return;
    tensor.def(
        name, [row](const Tensor& a, const Operand& b, const Operand& c) { return row(a, b, c); },
        py::arg(names[1]), py::arg(names[2]), WithoutLock(), doc);
  }
  void ternary(const char* name, Tensor (*row)(const Operand&, const Operand&, const Operand&, const Scalar&),
               const char* p, const Scalar& p0, const char* doc) const {
    const auto names = ternary_names(name);
    m.def(name, row, py::arg(names[0]), py::arg(names[1]), py::arg(names[2]), py::kw_only(), py::arg(p) = p0,
          WithoutLock(), doc);
    tensor.def(
        name,
        [row](const Tensor& a, const Operand& b, const Operand& c, const Scalar& p) {
          return row(a, b, c, p);
        },
        py::arg(names[1]), py::arg(names[2]), py::kw_only(), py::arg(p) = p0, WithoutLock(), doc);
  }

 private:
  template <class Function, class... Arguments>
  void both(const char* name, const Function& function, const char* doc,
            const Arguments&... arguments) const {
    m.def(name, function, py::arg("input"), arguments..., WithoutLock(), doc);
    tensor.def(name, function, arguments..., WithoutLock(), doc);
  }
};

void bind_table(const RowBinder& bind) {
#define UNARY(name, types, forward, da, doc) bind.unary(#name, &ocl::name, doc);
#define UNARY_P(name, p, p0, types, forward, da, doc) bind.unary(#name, &ocl::name, #p, p0, doc);
#define UNARY_PQ(name, p, p0, q, q0, types, forward, da, doc) \
  bind.unary(#name, &ocl::name, #p, p0, #q, q0, dlprim::TypeRule::types == dlprim::TypeRule::Bounded, doc);
#define BINARY(name, types, forward, da, db, doc) bind.binary(#name, &ocl::name, doc);
#define BINARY_P(name, p, p0, types, forward, da, db, doc) bind.binary(#name, &ocl::name, #p, p0, doc);
#define TERNARY(name, types, forward, da, db, dc, doc) bind.ternary(#name, &ocl::name, doc);
#define TERNARY_P(name, p, p0, types, forward, da, db, dc, doc) bind.ternary(#name, &ocl::name, #p, p0, doc);
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
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
void bind_symbol(py::class_<Tensor>& tensor, const char* name,
                 Tensor (*row)(const Operand&, const Operand&)) {
  tensor.def(
      name, [row](const Tensor& a, const Operand& b) { return row(a, b); }, py::is_operator(), WithoutLock());
  tensor.def(
      name,
      [row](const Tensor& a, const NumpyArray& array) {
        const Tensor b = tensor_beside(a, array);
        const PythonUnlocked unlocked;
        return row(a, b);
      },
      py::is_operator());
}

void bind_reflected_symbol(py::class_<Tensor>& tensor, const char* name,
                           Tensor (*row)(const Operand&, const Operand&)) {
  tensor.def(
      name, [row](const Tensor& a, const Operand& b) { return row(b, a); }, py::is_operator(), WithoutLock());
}

void bind_symbols(py::class_<Tensor>& tensor) {
#define CALL(name) [](const Operand& a, const Operand& b) { return ocl::name(a, b); }
#define OPERATOR(symbol, name) bind_symbol(tensor, "__" #symbol "__", CALL(name));
#define BOTH_SIDES(symbol, name) \
  OPERATOR(symbol, name)         \
  bind_reflected_symbol(tensor, "__r" #symbol "__", CALL(name));
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
#undef CALL
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
  bind_table({m, tensor});
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
