#include "autograd/autograd.h"
#include "operator_binder.h"

namespace {

py::list table_as_dicts() {
  py::list rows;
  for (const ocl::OperatorRow& operator_row : ocl::operator_table()) {
    py::dict row;
    row["name"] = operator_row.name;
    row["family"] = operator_row.family;
    row["dtypes"] = operator_row.dtypes;
    row["derivative"] = operator_row.derivative;
    row["source"] = operator_row.source;
    row["documentation"] = operator_row.documentation;
    py::list forms;
    for (const ocl::OperatorForm& form : operator_row.forms) {
      py::list names;
      for (const ocl::OperatorParameter& parameter : form.parameters())
        names.append(py::make_tuple(parameter.name, parameter.type, parameter.initial));
      forms.append(py::tuple(names));
    }
    row["forms"] = forms;
    rows.append(row);
  }
  return rows;
}

/** PyTorch's second names of operators: (other name, name). */
constexpr const char* second_names[][2] = {
    {"absolute", "abs"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"clip", "clamp"},
    {"clip_", "clamp_"},
    {"concat", "cat"},
    {"concatenate", "cat"},
    {"divide", "div"},
    {"divide_", "div_"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"moveaxis", "movedim"},
    {"multiply", "mul"},
    {"multiply_", "mul_"},
    {"negative", "neg"},
    {"negative_", "neg_"},
    {"not_equal", "ne"},
    {"subtract", "sub"},
    {"subtract_", "sub_"},
    {"swapdims", "swapaxes"},
    {"true_divide", "div"},
    {"unfold", "unfold_dimension"},
};

void bind_second_names(py::module_& m, py::class_<ocl::Tensor>& tensor) {
  for (const auto& [other, name] : second_names)
    for (const py::object& owner : {static_cast<py::object&>(m), static_cast<py::object&>(tensor)})
      if (py::hasattr(owner, name) && !py::hasattr(owner, other))
        owner.attr(other) = owner.attr("__dict__")[name];  // not the bare function, which a class gives
}

/** The rows of operators.def, those of boxes in a module of their own. */
void bind_rows(const OperatorBinder& usual, const OperatorBinder& of_boxes) {
  const OperatorBinder* bind = &usual;
#define FAMILY(name) bind = std::string_view(name) == "Boxes" ? &of_boxes : &usual;
#define MEMBER(...)
#define OPERATOR(name, result, parameters, face, ...) \
  bind->row(#name, ocl::rows::name, ocl::Face::face,  \
            static_cast<decltype(&ocl::signatures::name)>(&ocl::name));
#define OVERLOAD(name, key, result, parameters, face)        \
  bind->row(#name, ocl::rows::name##_##key, ocl::Face::face, \
            static_cast<decltype(&ocl::signatures::name##_##key)>(&ocl::name));
#include "autograd/ops/operators.def"
#undef FAMILY
#undef MEMBER
#undef OPERATOR
#undef OVERLOAD
}

}  // namespace

void bind_operators(py::module_& m, py::class_<ocl::Tensor>& tensor) {
  m.def("operator_table", &table_as_dicts, "What is said of every operator, as dicts.");
  bind_generator(m);
  const OperatorBinder bind(m, tensor);
  py::module_ ops = m.def_submodule("_ops", "Operators on boxes, as torchvision.ops.");
  bind_rows(bind, OperatorBinder(ops, tensor));
  bind_creation(bind);
  bind_random(bind);
  bind_views(bind);
  bind_inplace(bind);
  bind_pointwise(bind);
  bind_reduce(bind);
  bind_linalg(bind);
  bind_pool(bind);
  bind_resample(bind);
  bind_norm(bind);
  bind_loss(bind);
  bind_attention(bind);
  bind_rnn(bind);
  bind_index(bind);
  bind_sort(bind);
  bind_count(bind);
  bind_second_names(m, tensor);
}
