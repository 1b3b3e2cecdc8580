#include "dlprim/core/error.h"
#include "dlprim/export/argument_reader.h"
#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/ops/pointwise/chain.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/ops/pointwise/table.h"

namespace dlprim {
namespace {

/** The calls of a chain's steps; new temporaries hold the results that the chain does not store. */
std::vector<ProgramCall> steps_of(ExportedProgram& program, const ProgramCall& call,
                                  const PointwiseChain& chain) {
  ArgumentContext context = own_arguments();
  const auto inputs = read_argument<std::vector<Tensor>>(call.arguments.at(2).value, context);
  const std::vector<Argument>& parameters = list_of(call.arguments.at(3).value);
  const auto outputs = read_argument<std::vector<Tensor>>(call.arguments.at(4).value, context);
  const Tensor& like = outputs.front();
  const auto stored = [&](std::size_t result, DType dtype) {
    for (std::size_t i = 0; i < chain.outputs.size(); ++i)
      if (chain.outputs[i] == result) return outputs[i];
    return new_temporary(program, like.device(), like.shape, dtype);
  };

  std::vector<ProgramCall> calls;
  std::vector<Tensor> results;
  std::size_t next = 0;
  for (const ChainStep& step : chain.steps) {
    std::vector<Argument> operands, numbers, made;
    for (const ChainOperand& operand : step.operands) {
      switch (operand.kind) {
        case ChainOperand::Kind::input:
          operands.push_back({"", inputs.at(operand.index)});
          break;
        case ChainOperand::Kind::result:
          operands.push_back({"", results.at(operand.index)});
          break;
        case ChainOperand::Kind::number:
          operands.push_back(parameters.at(next++));
          break;
      }
    }
    for (std::size_t i = 0; i < step.expression->parameters.size(); ++i)
      numbers.push_back(parameters.at(next++));
    for (std::size_t i = 0; i < step.expression->outputs.size(); ++i) {
      results.push_back(stored(results.size(), step.expression->result.value_or(chain.dtype)));
      made.push_back({"", results.back()});
    }
    const std::string expression = full_name(*step.expression);
    calls.push_back({"pointwise",
                     {{"expression", expression},
                      {"compute", std::string(name(chain.dtype))},
                      {"inputs", operands},
                      {"parameters", numbers},
                      {"outputs", made}},
                     expression.substr(0, expression.find('.')),
                     call.module});
  }
  return calls;
}

/** The calls of a convolution and of its epilogue. */
std::vector<ProgramCall> steps_of_epilogue(ExportedProgram& program, ProgramCall call) {
  ArgumentContext context = own_arguments();
  const auto epilogue = read_argument<Epilogue>(call.arguments.back().value, context);
  const Tensor y = tensor_of(call, "y");
  const auto temporary = [&] { return new_temporary(program, y.device(), y.shape, y.dtype); };
  call.primitive = "conv2d_forward";
  call.arguments.pop_back();
  const std::string module = call.module;
  Tensor x = temporary();
  set_tensor(call, "y", x);
  std::vector<ProgramCall> calls{std::move(call)};
  const auto add = [&](const PointwiseOp& op, const std::vector<Tensor>& inputs, const Tensor& result) {
    calls.push_back(pointwise_call(op, inputs, result));
    calls.back().module = module;
    x = result;
  };
  if (epilogue.addend) add(pointwise_op("add"), {x, *epilogue.addend}, epilogue.activation ? temporary() : y);
  if (epilogue.activation) add(*epilogue.activation, {x}, y);
  return calls;
}

}  // namespace

void split_calls(ExportedProgram& program) {
  const std::string prefix = chain_prefix;
  std::vector<ProgramCall> calls;
  for (ProgramCall& call : program.calls) {
    const auto* expression =
        call.primitive == "pointwise" ? std::get_if<std::string>(&call.arguments.front().value) : nullptr;
    std::vector<ProgramCall> steps;
    if (call.varying.empty() && expression && expression->compare(0, prefix.size(), prefix) == 0)
      steps = steps_of(program, call, parse_chain(expression->substr(prefix.size())));
    else if (call.varying.empty() && call.primitive == "conv2d_epilogue_forward")
      steps = steps_of_epilogue(program, std::move(call));
    else
      steps.push_back(std::move(call));
    for (ProgramCall& step : steps) calls.push_back(std::move(step));
  }
  program.calls = std::move(calls);
}

}  // namespace dlprim
