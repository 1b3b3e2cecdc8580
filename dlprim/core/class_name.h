#pragma once

#include <string>
#include <typeinfo>

namespace dlprim {

/** The name of a class without its namespaces: "Linear". */
std::string class_name(const std::type_info& type);

}  // namespace dlprim
