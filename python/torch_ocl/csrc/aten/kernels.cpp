#include "aten/kernels.h"

namespace torch_ocl {

bool is_for_kernels(const c10::IValue& value) {
  if (value.isTensor()) return is_for_kernels(value.toTensor());
  if (value.isComplexDouble()) return false;
  if (!value.isList()) return true;
  for (const c10::IValue& one : value.toListRef())
    if (!is_for_kernels(one)) return false;
  return true;
}

c10::OperatorHandle Kernels::operator_of(const std::string& name) {
  const std::size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + name.substr(0, dot)).c_str(),
                                                        overload.c_str());
}

}  // namespace torch_ocl
