#include "dlprim/export/program_tensors.h"

#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"

namespace dlprim {
std::size_t bytes_reached(const Tensor& tensor) {
  const auto fail = [&] {
    throw ValueError(concat("a tensor of sizes ", tensor.shape, ", strides ", tensor.strides, " and offset ",
                            tensor.offset, " does not lie in memory"));
  };
  if (tensor.shape.size() != tensor.strides.size() || tensor.offset < 0) fail();
  std::int64_t low = tensor.offset, high = tensor.offset, elements = 1;
  bool is_empty = false, fits = true;
  for (int d = 0; d < tensor.rank(); ++d) {
    if (tensor.shape[d] < 0) fail();
    is_empty = is_empty || tensor.shape[d] == 0;
    std::int64_t way = 0;
    if (tensor.shape[d] > 1)
      fits = fits && try_multiply(tensor.strides[d], tensor.shape[d] - 1, way) &&
             try_add(way < 0 ? low : high, way, way < 0 ? low : high);
    fits = fits && (tensor.shape[d] == 0 || try_multiply(elements, tensor.shape[d], elements));
  }
  if (is_empty) return 0;
  std::int64_t bytes = 0;
  if (!fits || low < 0 || !try_add(high, 1, high) ||
      !try_multiply(high, static_cast<std::int64_t>(size_of(tensor.dtype)), bytes))
    fail();
  return static_cast<std::size_t>(bytes);
}

bool is_random_state(const std::vector<Argument>& fields) {
  return fields.size() == 2 && fields[0].name == "seed" && fields[1].name == "offset" &&
         std::holds_alternative<std::int64_t>(fields[0].value) &&
         std::holds_alternative<std::int64_t>(fields[1].value);
}

std::string text_of_geometry(const Tensor& tensor) {
  return concat(name(tensor.dtype), tensor.shape);
}

std::string text_of_value_for_people(const ArgumentValue& value,
                                     const std::function<std::string(const Tensor&)>& tensor) {
  if (std::holds_alternative<std::monostate>(value)) return "None";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return concat(*whole);
  if (const auto* number = std::get_if<double>(&value)) return concat(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* held = std::get_if<Tensor>(&value)) return tensor(*held);
  const auto& list = std::get<std::vector<Argument>>(value);
  const bool is_struct = !list.empty() && !list.front().name.empty();
  std::string text;
  for (const Argument& element : list) {
    if (!text.empty()) text += ", ";
    if (is_struct) text += element.name + ": ";
    text += text_of_value_for_people(element.value, tensor);
  }
  return is_struct ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace dlprim
