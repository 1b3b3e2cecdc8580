#include "values.h"

using ocl::nn::Arguments;
using ocl::nn::ForeignValue;
using ocl::nn::Value;

namespace {

/** A Python object that C++ passes on. */
class PythonValue : public ForeignValue {
 public:
  explicit PythonValue(py::object object) : object_(object.release().ptr()) {}
  ~PythonValue() override {
    const PythonLocked locked;
    Py_DECREF(object_);
  }
  py::object object() const { return py::reinterpret_borrow<py::object>(object_); }

  Value opened() const override {
    const PythonLocked locked;
    if (PyTuple_Check(object_) || PyList_Check(object_)) {
      Value::Sequence values;
      for (const py::handle item : object())
        values.push_back(value_of(py::reinterpret_borrow<py::object>(item)));
      return values;
    }
    if (!PyDict_Check(object_)) return {};
    Value::Mapping values;
    for (const auto& [key, item] : object().cast<py::dict>())
      values.emplace_back(py::str(key).cast<std::string>(),
                          value_of(py::reinterpret_borrow<py::object>(item)));
    return values;
  }
  std::string kind() const override {
    const PythonLocked locked;
    return Py_TYPE(object_)->tp_name;
  }

 private:
  PyObject* object_;
};

}  // namespace

py::object python_of(const Value& value) {
  if (value.is_none()) return py::none();
  if (value.flag()) return py::bool_(*value.flag());
  if (value.is_tensor()) return py::cast(value.tensor("a value"));
  if (const Value::Foreign* foreign = value.foreign()) {
    const auto* python = dynamic_cast<const PythonValue*>(foreign->get());
    return python ? python->object() : python_of((*foreign)->opened());
  }
  if (const Value::Mapping* mapping = value.mapping()) {
    py::dict result;
    for (const auto& [key, item] : *mapping) result[py::str(key)] = python_of(item);
    return result;
  }
  py::list items;
  for (const Value& item : *value.own_sequence()) items.append(python_of(item));
  return py::tuple(items);
}

Value value_of(const py::object& object) {
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr())) return object.cast<bool>();
  if (py::isinstance<ocl::Tensor>(object)) return object.cast<const ocl::Tensor&>();
  return Value(std::make_shared<PythonValue>(object));
}

py::tuple positional_of(const Arguments& arguments) {
  py::tuple result(arguments.positional.size());
  for (std::size_t i = 0; i < arguments.positional.size(); ++i)
    result[i] = python_of(arguments.positional[i]);
  return result;
}

py::dict named_of(const Arguments& arguments) {
  py::dict result;
  for (const auto& [name, value] : arguments.named) result[py::str(name)] = python_of(value);
  return result;
}

Arguments arguments_of(const py::tuple& positional, const py::dict& named) {
  Arguments result;
  for (const py::handle value : positional)
    result.positional.push_back(value_of(py::reinterpret_borrow<py::object>(value)));
  for (const auto& [name, value] : named)
    result.named.emplace_back(name.cast<std::string>(), value_of(py::reinterpret_borrow<py::object>(value)));
  return result;
}
