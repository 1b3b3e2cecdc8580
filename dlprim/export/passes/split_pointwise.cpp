#include "dlprim/core/error.h"
#include "dlprim/export/argument_reader.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/ops/pointwise/chain.h"
#include "dlprim/runtime/allocator.h"

namespace dlprim {
namespace {

/** The calls of a chain's steps; new temporaries hold the results that the chain does not store. */
std::vector<ProgramCall> steps_of(ExportedProgram& program, const ProgramCall& call,
                                  const PointwiseChain& chain) {
  ArgumentContext context{[](const Tensor& tensor) { return tensor; },
                          [](PhiloxState state) { return state; }};
  const auto inputs = read_argument<std::vector<Tensor>>(call.arguments.at(2).value, context);
  const std::vector<Argument>& parameters = list_of(call.arguments.at(3).value);
  const auto outputs = read_argument<std::vector<Tensor>>(call.arguments.at(4).value, context);
  const Tensor& like = outputs.front();
  const auto temporary = [&](DType dtype) {
    ProgramBuffer buffer;
    buffer.bytes = static_cast<std::size_t>(like.numel()) * size_of(dtype);
    buffer.storage = std::make_shared<Storage>(like.device(), buffer.bytes);
    const Tensor made{buffer.storage, dtype, like.shape, contiguous_strides(like.shape), 0};
    program.buffers.push_back(std::move(buffer));
    return made;
  };
  const auto stored = [&](std::size_t result, DType dtype) {
    for (std::size_t i = 0; i < chain.outputs.size(); ++i)
      if (chain.outputs[i] == result) return outputs[i];
    return temporary(dtype);
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

}  // namespace

void split_pointwise(ExportedProgram& program) {
  const std::string prefix = chain_prefix;
  std::vector<ProgramCall> calls;
  for (ProgramCall& call : program.calls) {
    const auto* expression =
        call.primitive == "pointwise" ? std::get_if<std::string>(&call.arguments.front().value) : nullptr;
    if (!expression || expression->compare(0, prefix.size(), prefix) != 0 || !call.varying.empty()) {
      calls.push_back(std::move(call));
      continue;
    }
    for (ProgramCall& step : steps_of(program, call, parse_chain(expression->substr(prefix.size()))))
      calls.push_back(std::move(step));
  }
  program.calls = std::move(calls);
}

}  // namespace dlprim
