#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ocl {

/** What is said of an operator: a row of operators.def, of the pointwise table or of the reduction table. */
struct OperatorRow {
  std::string name, family, dtypes, derivative, source, documentation;
};

/** Every operator of the library. */
const std::vector<OperatorRow>& operator_table();

/** The row of that name. Throws ValueError. */
const OperatorRow& operator_row(std::string_view name);

}  // namespace ocl
