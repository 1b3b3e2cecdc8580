#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/ops/optim/optim_shared.h"
#include "dlprim/ops/optim/pack_launch.h"
#include "dlprim/ops/pointwise/powers.h"

namespace dlprim {
namespace {

constexpr const char* op = "multi_tensor_pointwise";

/** The values that are one for all tensors, per variable. */
using Given = std::vector<std::optional<PointwiseOperand>>;

bool is_number(const std::optional<PointwiseOperand>& given) {
  return given && std::holds_alternative<Scalar>(*given);
}

std::string kernel_name(const PointwiseExpression& expression) {
  return expression.program->name() + "_many";
}

/** The program of one expression, for what is given. */
std::string source_of(const PointwiseExpression& expression, const Given& given) {
  std::string arguments, tensors, values;
  int tensor = 1;  // 0 is the result
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& variable = expression.variables[i];
    std::string value;
    if (is_number(given[i])) {
      value = concat("number_", variable);
      arguments += concat(", const T ", value);
    } else if (given[i]) {
      arguments += concat(", BUFFER(const STORAGE, one_", variable, ")");
      value = concat("LOAD(one_", variable, "_buffer, one_", variable, "_start)");
    } else {
      tensors += concat("const __global STORAGE *in_", variable, " = CHUNK_TENSOR(", tensor++, "); ");
      value = concat("LOAD(in_", variable, ", element)");
    }
    values += concat("const T ", variable, " = ", value, "; ");
  }
  for (const std::string& parameter : expression.parameters) arguments += concat(", const T ", parameter);
  return concat(
      expanded_source("ops/optim/multi_tensor_pointwise.cl"), "\n__kernel void ", kernel_name(expression),
      "(PACK_ARGS", arguments, ") { BIND_CHUNK; __global STORAGE *out = CHUNK_TENSOR(0); ", tensors,
      "FOR_EACH_ELEMENT(element) { ", values, "STORE(out, element, ", expression.outputs.front(), "); } }");
}

Kernel& kernel_of(Queue& queue, const PointwiseExpression& expression, const Given& given, DType dtype) {
  std::string identity = concat(op, " ", expression.program->name(), " ", expression.name, " ", name(dtype));
  for (const auto& one : given) identity += is_number(one) ? " number" : one ? " one" : " tensor";
  return queue.device().programs().generated_kernel(identity, kernel_name(expression).c_str(),
                                                    dtype_defines(dtype).text().c_str(),
                                                    [&] { return source_of(expression, given); });
}

PackRows rows_of(const Queue& queue, const std::vector<TensorsAbreast>& tensors, std::size_t inputs) {
  PackRows rows;
  rows.reserve(tensors.size());
  for (const TensorsAbreast& t : tensors) {
    require_packable(op, queue, t.result, tensors.front().result.dtype);
    require(t.inputs.size() == inputs, op, ": expected ", inputs, " inputs for each result, got ",
            t.inputs.size());
    std::vector<const Tensor*>& row = rows.emplace_back();
    row.push_back(&t.result);
    for (const Tensor& input : t.inputs) {
      require_beside(op, "an input", input, t.result);
      row.push_back(&input);
    }
  }
  return rows;
}

void compute_expression(Queue& queue, ParameterPack& pack, const PointwiseExpression& expression,
                        const std::vector<TensorsAbreast>& tensors, const Given& given,
                        const std::vector<Scalar>& parameters) {
  if (tensors.empty()) return;
  require(expression.outputs.size() == 1, op, ": expected an expression with one output, got ",
          expression.outputs.size());
  require(given.size() == expression.variables.size() && parameters.size() == expression.parameters.size(),
          op, ": expected ", expression.variables.size(), " variables and ", expression.parameters.size(),
          " parameters for ", expression.program->name(), ", got ", given.size(), " and ", parameters.size());
  const auto inputs = static_cast<std::size_t>(std::count(given.begin(), given.end(), std::nullopt));
  require(inputs < PACK_TENSORS, op, ": expected at most ", PACK_TENSORS - 1, " inputs, got ", inputs);
  const PackRows rows = rows_of(queue, tensors, inputs);
  const DType dtype = tensors.front().result.dtype;
  for (const auto& one : given)
    if (one && !is_number(one)) require_elements(op, "a given value", std::get<Tensor>(*one), 1, dtype);
  Kernel& kernel = kernel_of(queue, expression, given, dtype);
  with_real(dtype, [&](auto zero) {
    using Real = decltype(zero);
    launch_pack_with(queue, pack, rows, kernel, [&](const auto& set) {
      for (const auto& one : given)
        if (is_number(one))
          set(static_cast<Real>(std::get<Scalar>(*one).real()));
        else if (one)
          set(std::get<Tensor>(*one));
      for (const Scalar& parameter : parameters) set(static_cast<Real>(parameter.real()));
    });
  });
}

}  // namespace

void multi_tensor_pointwise(Queue& queue, ParameterPack& pack, const PointwiseExpression& expression,
                            const std::vector<TensorsAbreast>& tensors, const Given& given,
                            const std::vector<Scalar>& parameters) {
  ENTER(multi_tensor_pointwise, queue, pack, expression, tensors, given, parameters);
  require(expression.statements.empty(), "multi_tensor_pointwise: ", full_name(expression),
          " is a chain, expected one expression");
  const int exponent = exponent_of(expression);
  const std::optional<PointwiseOperand> number =
      exponent < 0 ? std::nullopt : given.at(static_cast<std::size_t>(exponent));
  const PointwiseExpression* const special =
      is_number(number) && !tensors.empty()
          ? special_power(expression, std::get<Scalar>(*number), tensors.front().result.dtype)
          : nullptr;
  if (!special) return compute_expression(queue, pack, expression, tensors, given, parameters);
  Given others = given;
  others.erase(others.begin() + exponent);
  compute_expression(queue, pack, *special, tensors, others, parameters);
}

}  // namespace dlprim
