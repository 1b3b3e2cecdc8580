#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "dlprim/core/arguments.h"

/** \file What the parts of this folder ask of arguments that are values. */

namespace dlprim {

/** Calls visit(tensor) for each tensor among the values, those within lists too. */
template <class Visit>
void for_each_tensor(std::vector<Argument>& arguments, const Visit& visit) {
  for (Argument& argument : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&argument.value))
      visit(*tensor);
    else if (auto* list = std::get_if<std::vector<Argument>>(&argument.value))
      for_each_tensor(*list, visit);
  }
}

/** Bytes from the start of its memory to the end of what the tensor can reach; 0 without elements. Throws
 * ValueError where it reaches in front of its memory, and for sizes that 64 bits do not hold. */
std::size_t bytes_reached(const Tensor& tensor);

/** Whether these are the fields of a PhiloxState. */
bool is_random_state(const std::vector<Argument>& fields);

/** "float32[2, 3]". */
std::string text_of_geometry(const Tensor& tensor);

/** "2", "0.5", "mean", "{stride: [1, 1], groups: 1}"; of a tensor what `tensor` makes of it. */
std::string text_of_value_for_people(
    const ArgumentValue& value, const std::function<std::string(const Tensor&)>& tensor = text_of_geometry);

}  // namespace dlprim
