#pragma once

#include <array>
#include <string_view>

/** PyTorch's name of a row's second input. */
inline const char* second_name(std::string_view op) {
  return op == "pow"                ? "exponent"
         : op == "heaviside"        ? "values"
         : op == "clamp_min_tensor" ? "min"
         : op == "clamp_max_tensor" ? "max"
                                    : "other";
}

/** PyTorch's names of a row's three inputs. */
inline std::array<const char*, 3> ternary_names(std::string_view op) {
  if (op == "clamp_tensor") return {"input", "min", "max"};
  if (op == "where") return {"condition", "input", "other"};
  if (op == "lerp") return {"input", "end", "weight"};
  return {"input", "tensor1", "tensor2"};
}
