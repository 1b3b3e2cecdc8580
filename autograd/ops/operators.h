#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ocl {

/** How Python offers an operator: as a function, a method, both, or as python/bindings/ops says by hand. */
enum class Face { function, method, both, by_hand };

/** What is said of an operator: a row of operators.def, of the pointwise table or of the reduction table. */
struct OperatorRow {
  std::string name, family, dtypes, derivative, source, documentation;
  /** The parameters of its C++ function, one text for each form, as they are written; empty for rows of
   * tables and for members. */
  std::vector<std::string> forms;
};

/** Every operator of the library. */
const std::vector<OperatorRow>& operator_table();

/** The row of that name. Throws ValueError. */
const OperatorRow& operator_row(std::string_view name);

/** One parameter of a row, in pieces. */
struct OperatorParameter {
  std::string type, name, initial;  // initial: the default as C++ text, empty where there is none
  bool is_keyword_only = false;
};

/** The parameters of a row's text: "(const Tensor& input, std::int64_t dim = -1)". */
std::vector<OperatorParameter> operator_parameters(std::string_view text);

}  // namespace ocl
