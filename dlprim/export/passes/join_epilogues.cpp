#include <algorithm>
#include <map>
#include <optional>

#include "dlprim/export/argument_reader.h"
#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/ops/pointwise/chain.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/ops/pointwise/table.h"

namespace dlprim {
namespace {

constexpr char plain[] = "conv2d_forward", joined[] = "conv2d_epilogue_forward";

/** A pointwise call that an epilogue can do: an addition of two tensors, an activation, or both. */
struct Step {
  std::vector<Tensor> inputs;
  Tensor result;
  const PointwiseOp* activation;  // none of an addition alone
};

const PointwiseOp* activation_named(const std::string& name) {
  for (const PointwiseOp& row : pointwise_table())
    if (row.inputs == 1 && name == full_name(forward_expression(row)) && can_be_epilogue(row, false))
      return &row;
  return nullptr;
}

/** The names of an expression's steps, where each takes the results of the one before and inputs in order. */
std::vector<std::string> steps_of(const std::string& name) {
  if (name.rfind(chain_prefix, 0) != 0) return {name};
  const PointwiseChain chain = parse_chain(name.substr(std::string(chain_prefix).size()));
  if (chain.steps.size() != 2 || chain.inputs() != 2 || chain.outputs != std::vector<std::size_t>{1})
    return {};
  const std::vector<ChainOperand>&first = chain.steps[0].operands, &second = chain.steps[1].operands;
  const bool is_plain = first.size() == 2 && first[0].kind == ChainOperand::Kind::input &&
                        first[1].kind == ChainOperand::Kind::input && first[0].index != first[1].index &&
                        second.size() == 1 && second[0].kind == ChainOperand::Kind::result;
  if (!is_plain) return {};
  return {full_name(*chain.steps[0].expression), full_name(*chain.steps[1].expression)};
}

std::optional<Step> step_of(const ProgramCall& call) {
  if (call.primitive != "pointwise") return std::nullopt;
  ArgumentContext context = own_arguments();
  const std::vector<std::string> names = steps_of(text_of_value(call.arguments.at(0).value));
  const auto operands = read_argument<std::vector<PointwiseOperand>>(call.arguments.at(2).value, context);
  const std::vector<Argument>& numbers = std::get<std::vector<Argument>>(call.arguments.at(3).value);
  const auto results = read_argument<std::vector<Tensor>>(call.arguments.at(4).value, context);
  if (names.empty() || results.size() != 1 || !results.front().is_contiguous()) return std::nullopt;
  Step step{{}, results.front(), activation_named(names.back())};
  for (const PointwiseOperand& operand : operands) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (!tensor || tensor->dtype != step.result.dtype || tensor->shape != step.result.shape ||
        !tensor->is_contiguous())
      return std::nullopt;
    step.inputs.push_back(*tensor);
  }
  const bool has_addition = step.inputs.size() == 2, is_alone = names.size() == 1;
  if (has_addition == (is_alone && step.activation)) return std::nullopt;
  if (!has_addition) return step.activation && step.inputs.size() == 1 ? std::optional(step) : std::nullopt;
  const auto is_one = [](const Argument& number) {
    const auto* whole = std::get_if<std::int64_t>(&number.value);
    return whole && *whole == 1;
  };
  const bool adds = names.front() == full_name(forward_expression(pointwise_op("add"))) &&
                    numbers.size() == 1 && is_one(numbers.front());
  return adds && (is_alone || step.activation) ? std::optional(step) : std::nullopt;
}

class EpilogueJoining {
 public:
  explicit EpilogueJoining(ExportedProgram& program) : program_(program) {
    for (const ProgramBuffer& buffer : program.buffers)
      if (buffer.kind != ProgramBuffer::Kind::temporary) ++uses_[buffer.storage.get()];
    for (const ProgramTensor& output : program.outputs) ++uses_[output.tensor.storage.get()];
    for (const ProgramCall& call : program.calls) {
      const Primitive::Tensors tensors = find_primitive(call.primitive)->tensors(call.arguments);
      for (const std::vector<Tensor>* list : {&tensors.read, &tensors.written, &tensors.updated})
        for (const Tensor& tensor : *list) ++uses_[tensor.storage.get()];
    }
  }

  void run() {
    for (ProgramCall& call : program_.calls) {
      const std::optional<Step> step = step_of(call);
      if (!step || !join(*step, call)) calls_.push_back(std::move(call));
    }
    program_.calls = std::move(calls_);
    remove_dead_calls(program_);  // and the buffers that no call uses any more
  }

 private:
  /** Whether a step's input, or its second, was the result of a convolution, which now does the step. */
  bool join(const Step& step, const ProgramCall& call) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const std::optional<std::size_t> place = producer_of(step, i);
      if (!place) continue;
      ProgramCall whole = std::move(calls_[*place]);
      calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(*place));
      if (whole.primitive == plain) {
        whole.primitive = joined;
        whole.arguments.push_back({"epilogue", value_of(Epilogue{})});
      }
      auto& epilogue = std::get<std::vector<Argument>>(whole.arguments.back().value);
      if (step.activation) epilogue.at(1).value = value_of(step.activation);
      if (step.inputs.size() == 2) epilogue.at(0).value = step.inputs[1 - i];
      set_tensor(whole, "y", step.result);
      if (!call.module.empty() && call.module != whole.module)
        whole.module += (whole.module.empty() ? "" : ", ") + call.module;
      whole.operation += ", " + call.operation;
      calls_.push_back(std::move(whole));
      return true;
    }
    return false;
  }

  /** The place of the convolution that gives a step its i-th input, if it can do the step. */
  std::optional<std::size_t> producer_of(const Step& step, std::size_t i) const {
    const Tensor& x = step.inputs[i];
    const bool in_place = x.storage == step.result.storage && x.offset == step.result.offset;
    for (std::size_t at = calls_.size(); at-- > 0;) {
      const Primitive::Tensors tensors = find_primitive(calls_[at].primitive)->tensors(calls_[at].arguments);
      const auto is_of = [](const Storage* storage, const std::vector<Tensor>& list) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Tensor& tensor) { return tensor.storage.get() == storage; });
      };
      if (!is_of(x.storage.get(), tensors.written)) {
        if (is_of(x.storage.get(), tensors.read) || is_of(x.storage.get(), tensors.updated))
          return std::nullopt;
        continue;
      }
      const Tensor& y = tensor_of(calls_[at], "y");
      const bool is_whole =
          y.storage == x.storage && y.offset == x.offset && y.shape == x.shape && y.dtype == x.dtype;
      const bool has_one_reader = in_place || uses_.at(x.storage.get()) == 2;
      const bool overwrites =
          is_of(step.result.storage.get(), tensors.read) ||
          (step.inputs.size() == 2 &&
           (step.inputs[1 - i].storage == x.storage || step.inputs[1 - i].storage == step.result.storage));
      return is_whole && has_one_reader && !overwrites && takes(calls_[at], step) && may_wait(calls_, at)
                 ? std::optional(at)
                 : std::nullopt;
    }
    return std::nullopt;
  }

  /** Whether a call is a convolution that has done nothing yet that would come after the step. */
  static bool takes(const ProgramCall& call, const Step& step) {
    if (call.primitive != plain && call.primitive != joined) return false;
    if (call.primitive == plain) return true;
    const auto& epilogue = std::get<std::vector<Argument>>(call.arguments.back().value);
    const auto is_none = [&](std::size_t i) {
      return std::holds_alternative<std::monostate>(epilogue.at(i).value);
    };
    return is_none(1) && (step.inputs.size() == 1 || is_none(0));
  }

  ExportedProgram& program_;
  std::map<const Storage*, int> uses_;  // as arguments, and for whoever finds it after the run
  std::vector<ProgramCall> calls_;
};

}  // namespace

void join_epilogues(ExportedProgram& program) {
  EpilogueJoining(program).run();
}

}  // namespace dlprim
