#include "dlprim/core/class_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace dlprim {

std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> full(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  const std::string text = full ? full.get() : type.name();
  return text.substr(text.rfind(':') + 1);
}

}  // namespace dlprim
