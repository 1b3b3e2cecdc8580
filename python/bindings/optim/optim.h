#pragma once

#include "../casters.h"
#include "nn/nn.h"

/** A setting as Python has it. Throws TypeError that names the setting. */
dlprim::Value value_from(const std::string& name, const py::object& held);
/** Several numbers become a tuple. */
py::object python_value(const dlprim::Value& value);
/** The rows of a table: [(name, kind, default, required, keyword_only)]. */
py::list option_rows(const dlprim::OptionRows& rows);

/** The items of a dict, or the attributes of any other object, as named values. Needs Python's lock. */
class PythonValues : public dlprim::NamedValues {
 public:
  explicit PythonValues(py::object owner)
      : owner_(std::move(owner)), is_dict_(py::isinstance<py::dict>(owner_)) {}

  bool has(const char* name) const override;
  dlprim::Value get(const char* name) const override { return value_from(name, held(name)); }
  void set(const char* name, dlprim::Value value) override;
  double call(const char* name, std::size_t index, double argument) const override;

 private:
  py::object held(const char* name) const;

  py::object owner_;
  bool is_dict_;
};

void bind_schedules(py::module_& m);
