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
    rows.append(row);
  }
  return rows;
}

/** PyTorch's second names of operators: (other name, name). */
constexpr const char* second_names[][2] = {
    {"absolute", "abs"},   {"arccos", "acos"},    {"arccosh", "acosh"},     {"arcsin", "asin"},
    {"arcsinh", "asinh"},  {"arctan", "atan"},    {"arctan2", "atan2"},     {"arctanh", "atanh"},
    {"clip", "clamp"},     {"clip_", "clamp_"},   {"concat", "cat"},        {"concatenate", "cat"},
    {"divide", "div"},     {"divide_", "div_"},   {"greater", "gt"},        {"greater_equal", "ge"},
    {"less", "lt"},        {"less_equal", "le"},  {"moveaxis", "movedim"},  {"multiply", "mul"},
    {"multiply_", "mul_"}, {"negative", "neg"},   {"negative_", "neg_"},    {"not_equal", "ne"},
    {"subtract", "sub"},   {"subtract_", "sub_"}, {"swapdims", "swapaxes"}, {"true_divide", "div"},
};

void bind_second_names(py::module_& m, py::class_<ocl::Tensor>& tensor) {
  for (const auto& [other, name] : second_names)
    for (const py::object& owner : {static_cast<py::object&>(m), static_cast<py::object&>(tensor)})
      if (py::hasattr(owner, name) && !py::hasattr(owner, other))
        owner.attr(other) = owner.attr("__dict__")[name];  // not the bare function, which a class gives
}

}  // namespace

void bind_operators(py::module_& m, py::class_<ocl::Tensor>& tensor) {
  m.def("operator_table", &table_as_dicts, "What is said of every operator, as dicts.");
  const OperatorBinder bind(m, tensor);
  bind_creation(bind);
  bind_random(bind);
  bind_views(bind);
  bind_inplace(bind);
  bind_compare(bind);
  bind_pointwise(bind);
  bind_activation(bind);
  bind_reduce(bind);
  bind_scan(bind);
  bind_linalg(bind);
  bind_conv(bind);
  bind_pool(bind);
  bind_resample(bind);
  bind_norm(bind);
  bind_softmax(bind);
  bind_loss(bind);
  bind_attention(bind);
  bind_rnn(bind);
  bind_index(bind);
  bind_sort(bind);
  py::module_ ops = m.def_submodule("_ops", "Operators on boxes, as torchvision.ops.");
  bind_box(OperatorBinder(ops, tensor));
  bind_second_names(m, tensor);
}
