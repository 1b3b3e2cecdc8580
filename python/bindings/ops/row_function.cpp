#include "row_function.h"

namespace {

/** The default of a parameter, which a row writes as C++. */
py::object default_of(const ocl::OperatorParameter& parameter) {
  const std::string& text = parameter.initial;
  if (text == "{}" || text == "std::nullopt" || text == "nullptr") return py::none();
  if (text == "true" || text == "false") return py::bool_(text == "true");
  constexpr std::string_view reduction = "Reduction::";
  if (text.compare(0, reduction.size(), reduction) == 0) return py::str(text.substr(reduction.size()));
  const py::object value = py::module_::import("ast").attr("literal_eval")(text);
  if (parameter.type == "double") return py::float_(value);
  return value;
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
    const bool may_be_none =
        p.type.find("OptionalTensor") != std::string::npos || p.type.find("Tensor&") == std::string::npos;
    if (p.is_keyword_only && record.nargs_pos == 0)
      record.nargs_pos = static_cast<std::uint16_t>(record.args.size());
    const py::handle value = p.initial.empty() ? py::handle() : default_of(p).release();
    record.args.emplace_back(is_self ? "self" : p.name.c_str(), nullptr, value, true, may_be_none);
  }
  if (record.nargs_pos == 0) record.nargs_pos = static_cast<std::uint16_t>(record.args.size());
}
