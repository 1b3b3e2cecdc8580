#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "autograd/ops/operator_form.h"

namespace ocl {

/** How Python offers an operator: as a function, a method, both, or as python/bindings/ops says by hand.
 * Tensor has methods for `method`, `both` and `both_by_hand`. */
enum class Face { function, method, both, by_hand, both_by_hand };

/** The description of an operator: a row of operators.def, of the pointwise table or of the reduction table.
 */
struct OperatorRow {
  std::string name, family, dtypes, derivative, source, documentation;
  /** Its C++ functions; empty for rows of tables and for members. */
  std::vector<OperatorForm> forms;
};

/** Every operator of the library. */
const std::vector<OperatorRow>& operator_table();

/** The row of that name. Throws ValueError. */
const OperatorRow& operator_row(std::string_view name);

/** One of its forms, as operators.def tells them apart: "" is that of the row itself. Throws ValueError. */
const OperatorForm& operator_form(std::string_view name, std::string_view key = "");
/** That row, or null. */
const OperatorForm* find_operator_form(std::string_view name, std::string_view key = "");

}  // namespace ocl
