#include <cmath>

#include "../signature.h"
#include "optim.h"

using dlprim::Value;

namespace {

ocl::Scalar scalar_from(const std::string& name, const py::handle& held) {
  if (const auto number = number_in(held, true)) return *number;
  throw ocl::TypeError(dlprim::concat("'", name, "' cannot be ", py::repr(held).cast<std::string>(),
                                      gradient_advice(held.ptr())));
}

double number_from(const std::string& name, const py::handle& held) {
  return held.is_none() ? std::nan("") : scalar_from(name, held).real();
}

py::object whole_or_not(double value) {
  if (value == std::floor(value)) return py::int_(static_cast<std::int64_t>(value));
  return py::float_(value);
}

}  // namespace

Value value_from(const std::string& name, const py::object& held) {
  if (held.is_none()) return {};
  if (py::isinstance<py::str>(held)) return held.cast<std::string>();
  if (PyFloat_Check(held.ptr())) return PyFloat_AS_DOUBLE(held.ptr());
  if (py::isinstance<py::tuple>(held) || py::isinstance<py::list>(held)) {
    std::vector<double> numbers;
    for (const py::handle item : held) numbers.push_back(number_from(name, item));
    return numbers;
  }
  // PyTorch's MultiStepLR keeps its milestones in a Counter.
  if (py::hasattr(held, "elements")) return value_from(name, py::list(held.attr("elements")()));
  if (PyCallable_Check(held.ptr())) return true;  // that there is a function
  const ocl::Scalar number = scalar_from(name, held);
  if (number.kind() == ocl::Scalar::Kind::boolean) return number.real() != 0;
  if (number.kind() == ocl::Scalar::Kind::integer) return number.integer();
  return number.real();
}

py::object python_value(const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return py::none();
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    py::list items;
    for (const double number : *numbers)
      items.append(std::isnan(number) ? py::object(py::none()) : py::object(py::float_(number)));
    return py::tuple(items);
  }
  if (const auto* flag = std::get_if<bool>(&value)) return py::bool_(*flag);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return py::int_(*whole);
  if (const auto* number = std::get_if<double>(&value)) return py::float_(*number);
  return py::str(std::get<std::string>(value));
}

py::list option_rows(const dlprim::OptionRows& rows) {
  static const char* const kinds[] = {"number", "whole",   "flag",    "pair",  "list",    "text",
                                      "maybe",  "refused", "ignored", "fixed", "callable"};
  py::list list;
  for (const dlprim::OptionRow& row : rows)
    list.append(py::make_tuple(row.name, kinds[static_cast<int>(row.kind)], python_value(row.initial),
                               row.required, row.keyword_only));
  return list;
}

py::object PythonValues::held(const char* name) const {
  return is_dict_ ? py::object(owner_[name]) : py::object(owner_.attr(name));
}

bool PythonValues::has(const char* name) const {
  return is_dict_ ? owner_.contains(name) : py::hasattr(owner_, name);
}

void PythonValues::set(const char* name, Value value) {
  py::object now = python_value(value);
  const py::object before = has(name) ? held(name) : py::object(py::none());
  if (py::isinstance<ocl::Tensor>(before)) {  // a rate that is a tensor stays that one
    before.attr("fill_")(now);
    return;
  }
  if (py::isinstance<py::tuple>(now) && !py::isinstance<py::tuple>(before)) now = py::list(now);
  if (PyLong_Check(before.ptr()) && PyFloat_Check(now.ptr()) && !PyBool_Check(before.ptr()) && !is_dict_)
    now = whole_or_not(PyFloat_AS_DOUBLE(now.ptr()));
  if (is_dict_)
    owner_[name] = now;
  else
    owner_.attr(name) = now;
}

double PythonValues::call(const char* name, std::size_t index, double argument) const {
  py::object function = held(name);
  if (py::isinstance<py::list>(function)) {
    const py::list functions(function);
    if (index >= functions.size()) return std::nan("");  // a group that came after the schedule
    function = functions[index];
  }
  return py::float_(function(whole_or_not(argument))).cast<double>();
}
