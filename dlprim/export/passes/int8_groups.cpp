#include "dlprim/export/passes/int8_groups.h"

#include <algorithm>
#include <optional>
#include <set>

#include "dlprim/export/argument_reader.h"
#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/ops/int8/int8.h"

namespace dlprim {
namespace {

using Kind = Int8Group::Kind;
using Activation = Int8Group::Activation;

/** A pointwise call as a sum of two tensors, or an activation. */
struct SumOrActivation {
  std::vector<Tensor> inputs;
  Activation activation;
  Tensor result;
};

std::optional<SumOrActivation> sum_or_activation(const ProgramCall& call) {
  if (call.primitive != "pointwise") return std::nullopt;
  const auto& inputs = std::get<std::vector<Argument>>(*argument_of(call, "inputs"));
  const auto& parameters = std::get<std::vector<Argument>>(*argument_of(call, "parameters"));
  const auto& outputs = std::get<std::vector<Argument>>(*argument_of(call, "outputs"));
  if (outputs.size() != 1 || inputs.empty() || inputs.size() > 2) return std::nullopt;
  SumOrActivation found{{}, Activation::none, std::get<Tensor>(outputs[0].value)};
  for (const Argument& input : inputs) {
    const auto* tensor = std::get_if<Tensor>(&input.value);
    if (!tensor || tensor->shape != found.result.shape) return std::nullopt;
    found.inputs.push_back(*tensor);
  }
  const std::string& name = std::get<std::string>(*argument_of(call, "expression"));
  if (name == "add.forward") {
    if (found.inputs.size() != 2 || parameters.size() != 1) return std::nullopt;
    ArgumentContext context = own_arguments();
    if (read_argument<double>(parameters[0].value, context) != 1) return std::nullopt;
    return found;
  }
  if (found.inputs.size() != 1 || !parameters.empty()) return std::nullopt;
  if (name == "relu.forward")
    found.activation = Activation::relu;
  else if (name == "relu6.forward")
    found.activation = Activation::relu6;
  else
    return std::nullopt;
  return found;
}

class Search {
 public:
  explicit Search(const ExportedProgram& program) : program_(program) {
    for (const ProgramBuffer& buffer : program.buffers) buffers_[buffer.storage.get()] = &buffer;
    for (const ProgramTensor& output : program.outputs) ++uses_[output.tensor.storage.get()];
    for (std::size_t i = 0; i < program.calls.size(); ++i) {
      const Primitive* primitive = find_primitive(program.calls[i].primitive);
      require(primitive, "there is no primitive named ", program.calls[i].primitive);
      const Primitive::Tensors tensors = primitive->tensors(program.calls[i].arguments);
      for (const Tensor& tensor : tensors.read) {
        ++uses_[tensor.storage.get()];
        reader_[tensor.storage.get()] = i;
      }
      for (const std::vector<Tensor>* list : {&tensors.written, &tensors.updated})
        for (const Tensor& tensor : *list) ++writers_[tensor.storage.get()];
    }
  }

  std::vector<Int8Group> run() {
    for (std::size_t i = 0; i < program_.calls.size(); ++i) {
      if (taken_.count(i)) continue;
      std::optional<Int8Group> group = group_of(i);
      if (!group) continue;
      if (group->kind == Kind::convolution || group->kind == Kind::linear) take_in_followers(*group);
      const auto may = [&](const Tensor& tensor) { return is_activation(tensor); };
      if (!may(group->result) || !std::all_of(group->inputs.begin(), group->inputs.end(), may)) continue;
      for (const std::size_t call : group->calls) taken_.insert(call);
      groups_.push_back(std::move(*group));
    }
    return std::move(groups_);
  }

 private:
  bool is_whole(const Tensor& tensor) const {
    return tensor.dtype == DType::float32 && tensor.offset == 0 && tensor.is_contiguous() &&
           bytes_reached(tensor) == buffers_.at(tensor.storage.get())->bytes;
  }

  bool is_activation(const Tensor& tensor) const {
    if (!tensor.defined() || tensor.numel() == 0 || !is_whole(tensor)) return false;
    const ProgramBuffer& buffer = *buffers_.at(tensor.storage.get());
    const auto writers = writers_.find(tensor.storage.get());
    const int written = writers == writers_.end() ? 0 : writers->second;
    return (buffer.kind == ProgramBuffer::Kind::temporary && written == 1) ||
           (buffer.kind == ProgramBuffer::Kind::input && written == 0);
  }

  bool is_constant(const Tensor& tensor) const {
    return is_whole(tensor) && buffers_.at(tensor.storage.get())->kind == ProgramBuffer::Kind::constant;
  }

  std::optional<Int8Group> group_of(std::size_t i) const {
    const ProgramCall& call = program_.calls[i];
    const auto tensor = [&](const char* name) { return tensor_of(call, name); };
    const auto group = [&](Kind kind) { return Int8Group{kind, i, {i}, {tensor("x")}, {}, {}, tensor("y")}; };
    if (call.primitive == "conv2d_forward" || call.primitive == "linear_forward") {
      const Tensor weight = tensor("weight"), bias = tensor("bias");
      if (!is_constant(weight) || (bias.defined() && !is_constant(bias)) || weight.numel() == 0)
        return std::nullopt;
      if (weight.numel() / weight.shape[0] > max_int8_terms) return std::nullopt;
      return group(call.primitive == "linear_forward" ? Kind::linear : Kind::convolution);
    }
    if (call.primitive == "max_pool2d_forward" && !tensor("indices").defined()) return group(Kind::max_pool);
    if (call.primitive == "adaptive_avg_pool2d_forward") return group(Kind::average_pool);
    if (call.primitive == "cat") {
      const auto& list = std::get<std::vector<Argument>>(*argument_of(call, "tensors"));
      Int8Group joined{Kind::cat, i, {i}, {}, {}, {}, tensor("result")};
      for (const Argument& each : list) joined.inputs.push_back(std::get<Tensor>(each.value));
      return joined;
    }
    if (const auto found = sum_or_activation(call))
      return Int8Group{Kind::sum, i, {i}, found->inputs, {}, found->activation, found->result};
    return std::nullopt;
  }

  /** Takes in the sum, and then the activation, that alone read the result. */
  void take_in_followers(Int8Group& group) const {
    while (uses_.at(group.result.storage.get()) == 1 && is_activation(group.result) &&
           group.activation == Activation::none) {
      const auto reader = reader_.find(group.result.storage.get());
      if (reader == reader_.end() || taken_.count(reader->second)) return;
      const auto found = sum_or_activation(program_.calls[reader->second]);
      if (!found || found->result.numel() != group.result.numel()) return;
      if (found->inputs.size() == 2) {
        const Tensor& other = found->inputs[found->inputs[0].storage == group.result.storage ? 1 : 0];
        if (group.addend.defined() || other.storage == group.result.storage || !is_activation(other)) return;
        group.addend = other;
      }
      group.activation = found->activation;
      group.result = found->result;
      group.calls.push_back(reader->second);
    }
  }

  const ExportedProgram& program_;
  std::map<const Storage*, const ProgramBuffer*> buffers_;
  std::map<const Storage*, int> uses_, writers_;
  std::map<const Storage*, std::size_t> reader_;  // the last one
  std::set<std::size_t> taken_;
  std::vector<Int8Group> groups_;
};

}  // namespace

std::vector<Int8Group> int8_groups(const ExportedProgram& program) {
  return Search(program).run();
}

std::vector<Tensor> int8_activations(const std::vector<Int8Group>& groups) {
  std::vector<Tensor> activations;
  std::set<const Storage*> seen;
  const auto add = [&](const Tensor& tensor) {
    if (tensor.defined() && seen.insert(tensor.storage.get()).second) activations.push_back(tensor);
  };
  for (const Int8Group& group : groups) {
    for (const Tensor& input : group.inputs) add(input);
    add(group.addend);
    if (group.kind != Int8Group::Kind::max_pool)
      add(group.result);
    else
      seen.insert(group.result.storage.get());  // its numbers are those of the input, in the same format
  }
  return activations;
}

}  // namespace dlprim
