#include "row_function.h"

namespace {

/** The default of a parameter, which has one. */
py::object default_in_python(const ocl::OperatorParameter& parameter) {
  const ocl::OperatorValue value = ocl::default_of(parameter);
  if (ocl::is_nothing(value)) return py::none();
  if (const auto* word = std::get_if<std::string>(&value)) return py::str(*word);
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return py::cast(*numbers);
  const ocl::Scalar number = std::get<ocl::Scalar>(value);
  if (number.kind() == ocl::Scalar::Kind::boolean) return py::bool_(number.integer() != 0);
  if (number.kind() == ocl::Scalar::Kind::floating || parameter.type == "double")
    return py::float_(number.real());
  return py::int_(number.integer());
}

}  // namespace

void RowFunction::describe(py::detail::function_record& record, const RowDescription& row) {
  record.name = const_cast<char*>(row.name);  // pybind11 copies these
  record.doc = const_cast<char*>(row.documentation);
  record.scope = row.scope;
  record.sibling = py::getattr(row.scope, row.name, py::none());
  record.is_method = row.is_method;
  for (const ocl::OperatorParameter& p : row.parameters) {
    const bool is_self = row.is_method && record.args.empty();
    const bool may_be_none = p.is_optional_tensor() || p.type.find("Tensor&") == std::string::npos;
    if (p.is_keyword_only && record.nargs_pos == 0)
      record.nargs_pos = static_cast<std::uint16_t>(record.args.size());
    const py::handle value = p.initial.empty() ? py::handle() : default_in_python(p).release();
    record.args.emplace_back(is_self ? "self" : p.name.c_str(), nullptr, value, true, may_be_none);
  }
  if (record.nargs_pos == 0) record.nargs_pos = static_cast<std::uint16_t>(record.args.size());
}
