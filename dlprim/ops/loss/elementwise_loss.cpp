#include "dlprim/ops/loss/elementwise_loss.h"

#include <algorithm>

#include "dlprim/core/error.h"

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

}  // namespace dlprim
