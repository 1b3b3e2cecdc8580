#include "dlprim/core/error.h"
#include "dlprim/ops/loss/elementwise_loss.h"
#include "dlprim/ops/pointwise/chain.h"
#include "dlprim/ops/pointwise/powers.h"
#include "dlprim/ops/pointwise/table.h"

namespace dlprim {

std::string full_name(const PointwiseExpression& expression) {
  const bool is_chain = expression.name.rfind(chain_prefix, 0) == 0;
  if (is_chain || !expression.program) return expression.name;
  return expression.program->name() + "." + expression.name;
}

ArgumentValue argument_value(const PointwiseExpression& expression) {
  return full_name(expression);
}

const PointwiseExpression& expression_named(const std::string& name) {
  if (name.rfind(chain_prefix, 0) == 0)
    return chain_expression(parse_chain(name.substr(std::string_view(chain_prefix).size())));
  const std::size_t dot = name.find('.');
  require(dot != std::string::npos, "expected the name of a pointwise expression, got '", name, "'");
  const std::string row = name.substr(0, dot);
  const PointwiseProgram& program =
      row == special_powers().name() ? special_powers() : program_of(pointwise_row_named(row));
  for (const PointwiseExpression& expression : program.expressions())
    if (name.compare(dot + 1, std::string::npos, expression.name) == 0) return expression;
  throw ValueError(concat("there is no pointwise expression named '", name, "'"));
}

}  // namespace dlprim
