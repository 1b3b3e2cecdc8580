#pragma once

#include <string_view>

namespace ocl {

/** Whether the dtypes of a row (operators.def) include complex ones: "any", but not "any but complex"; what
 * names them. */
constexpr bool includes_complex(std::string_view dtypes) {
  const bool is_named = dtypes.find("complex") != std::string_view::npos;
  if (dtypes.substr(0, 3) == "any") return !is_named;
  return is_named;
}

}  // namespace ocl
