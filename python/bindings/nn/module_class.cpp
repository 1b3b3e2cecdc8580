#include "module_class.h"

std::string call_documentation(const std::vector<CallArgument>& arguments, const char* result) {
  std::string plain, typed;
  for (const CallArgument& argument : arguments) {
    const std::string standard = argument.standard ? argument.standard : "";
    plain += dlprim::concat(", ", argument.name, standard.empty() ? "" : "=", standard);
    typed +=
        dlprim::concat(", ", argument.name, ": ", argument.type, standard.empty() ? "" : " = ", standard);
  }
  return dlprim::concat("forward(self", plain, ")\n--\n\nforward(self", typed, ") -> ", result);
}

py::function override_of(const void* module, const std::type_info& type, const char* name) {
  const py::detail::type_info* known = py::detail::get_type_info(type);
  return known ? py::detail::get_type_override(module, known, name) : py::function();
}

Tensor forward_in_python(const py::function& written, const Tensor& x) {
  return written(x).cast<Tensor>();
}

Value call_in_python(const py::function& written, const Arguments& arguments) {
  return value_of(written(*positional_of(arguments), **named_of(arguments)));
}

std::string name_in_python(const Module& module) {
  const PythonLocked locked;
  return class_name(half_of(module));
}

std::string repr_in_python(const Module& module) {
  const PythonLocked locked;
  return py::repr(half_of(module)).cast<std::string>();
}

void train_in_python(const Module& module, bool mode) {
  const PythonLocked locked;
  half_of(module).attr("train")(mode);
}

void apply_in_python(const Module& module, const std::function<void(Module&)>& function) {
  const PythonLocked locked;
  half_of(module).attr("apply")(
      py::cpp_function([function](const py::object& each) { function(each.cast<Module&>()); }));
}

void end_construction(py::detail::value_and_holder& self) {
  self.type->init_instance(self.inst, nullptr);  // what ends a constructor may use the object as any other
  take_up_attributes(object_in(self));
}
