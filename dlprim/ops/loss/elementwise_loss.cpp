#include "dlprim/ops/loss/elementwise_loss.h"

#include <algorithm>

#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/table.h"

namespace dlprim {

const PointwiseOp& elementwise_loss(std::string_view name) {
#define BINARY(name, types, forward, da, db, doc) {#name, 2, {}, TypeRule::types, forward, {da, db}, doc},
#define BINARY_P(name, p, p0, types, forward, da, db, doc) \
  {#name, 2, {{#p, p0}}, TypeRule::types, forward, {da, db}, doc},
#define TERNARY(name, types, forward, da, db, dc, doc) \
  {#name, 3, {}, TypeRule::types, forward, {da, db, dc}, doc},
  static const auto* table = new std::vector<PointwiseOp>{
#include "dlprim/ops/loss/table.def"
  };
#undef BINARY
#undef BINARY_P
#undef TERNARY
  const auto found =
      std::find_if(table->begin(), table->end(), [&](const PointwiseOp& op) { return op.name == name; });
  require(found != table->end(), "there is no loss named '", name, "'");
  return *found;
}

const PointwiseOp& pointwise_row_named(std::string_view name) {
  const std::vector<PointwiseOp>& operators = pointwise_table();
  const bool is_operator =
      std::any_of(operators.begin(), operators.end(), [&](const PointwiseOp& op) { return op.name == name; });
  return is_operator ? pointwise_op(name) : elementwise_loss(name);
}

}  // namespace dlprim
