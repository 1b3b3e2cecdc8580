#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "dlprim/core/error.h"
#include "dlprim/export/argument_reader.h"
#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/ops/loss/elementwise_loss.h"
#include "dlprim/ops/pointwise/chain.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/ops/pointwise/powers.h"

namespace dlprim {
namespace {

using Storages = std::set<const Storage*>;

bool are_same(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape &&
         a.strides == b.strides;
}

bool intersect(const Storages& a, const Storages& b) {
  return std::any_of(a.begin(), a.end(), [&](const Storage* one) { return b.count(one) != 0; });
}

/** A chain and its tensors. */
struct Piece {
  PointwiseChain chain;
  Dims shape;
  std::vector<Tensor> inputs;
  std::vector<Tensor> results;  // where each result would be stored
  std::vector<Argument> parameters;

  std::size_t input(const Tensor& tensor) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (are_same(inputs[i], tensor)) return i;
    inputs.push_back(tensor);
    return inputs.size() - 1;
  }
  const Tensor& output(std::size_t i) const { return results[chain.outputs[i]]; }
};

/** A chain of one step; none for what cannot be one. */
std::optional<Piece> piece_of(const PointwiseExpression& given, DType compute,
                              const std::vector<PointwiseOperand>& given_inputs,
                              const std::vector<Scalar>& parameters, const std::vector<Tensor>& outputs) {
  std::vector<PointwiseOperand> operands = given_inputs;
  const PointwiseExpression* expression = &given;
  if (const int exponent = exponent_of(given); exponent >= 0)
    if (const auto* number = std::get_if<Scalar>(&operands[static_cast<std::size_t>(exponent)]))
      if (const PointwiseExpression* special = special_power(given, *number, compute)) {
        expression = special;
        operands.erase(operands.begin() + exponent);
      }
  if (!can_be_step(*expression, compute) || outputs.empty()) return std::nullopt;
  const DType result = expression->result.value_or(compute);
  for (const Tensor& output : outputs)
    if (output.dtype != result || output.shape != outputs.front().shape) return std::nullopt;

  Piece piece{{compute, {{expression, {}}}, {}}, outputs.front().shape, {}, outputs, {}};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::vector<ChainOperand>& places = piece.chain.steps.front().operands;
    if (const auto* number = std::get_if<Scalar>(&operands[i])) {
      places.push_back({ChainOperand::Kind::number});
      piece.parameters.push_back({"", value_of(*number)});
      continue;
    }
    const Tensor& tensor = std::get<Tensor>(operands[i]);
    if (tensor.dtype != (expression->conditions >> i & 1u ? DType::boolean : compute)) return std::nullopt;
    places.push_back({ChainOperand::Kind::input, piece.input(tensor)});
  }
  if (piece.inputs.empty()) return std::nullopt;
  for (const Scalar& parameter : parameters) piece.parameters.push_back({"", value_of(parameter)});
  for (std::size_t i = 0; i < outputs.size(); ++i) piece.chain.outputs.push_back(i);
  return piece;
}

std::optional<Piece> piece_of(const ProgramCall& call) {
  ArgumentContext context = own_arguments();
  const auto argument = [&](std::size_t i) -> const ArgumentValue& { return call.arguments.at(i).value; };
  const auto operands = [&](std::size_t i) {
    return read_argument<std::vector<PointwiseOperand>>(argument(i), context);
  };
  const auto numbers = [&](std::size_t i) {
    return read_argument<std::vector<Scalar>>(argument(i), context);
  };
  const auto tensors = [&](std::size_t i) {
    return read_argument<std::vector<Tensor>>(argument(i), context);
  };
  if (call.primitive == "pointwise") {
    const std::string& name = text_of_value(argument(0));
    if (name.find('.') == std::string::npos) return std::nullopt;  // no row's, as that of fill
    return piece_of(expression_named(name), read_argument<DType>(argument(1), context), operands(2),
                    numbers(3), tensors(4));
  }
  if (call.primitive == "pointwise_backward") {
    const PointwiseOp& op = pointwise_row_named(text_of_value(argument(0)));
    const std::vector<Tensor> gradients = tensors(5);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined() && passes_gradient(op, i)) return std::nullopt;  // a copy beside it
    const auto computed = computed_gradients(op, read_argument<Tensor>(argument(1), context), operands(2),
                                             read_argument<Tensor>(argument(4), context), gradients);
    if (!computed) return std::nullopt;
    return piece_of(computed->expression, computed->compute, computed->inputs, numbers(3), computed->outputs);
  }
  return std::nullopt;
}

ProgramCall call_of(const Piece& piece, const ProgramCall& first, const ProgramCall& last) {
  const auto list = [](const std::vector<Tensor>& tensors) {
    std::vector<Argument> values;
    for (const Tensor& tensor : tensors) values.push_back({"", tensor});
    return values;
  };
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < piece.chain.outputs.size(); ++i) outputs.push_back(piece.output(i));
  const auto joined = [](const std::string& a, const std::string& b) {
    return a == b || b.empty() ? a : a.empty() ? b : a + ", " + b;
  };
  return {"pointwise",
          {{"expression", full_name(chain_expression(piece.chain))},
           {"compute", std::string(name(piece.chain.dtype))},
           {"inputs", list(piece.inputs)},
           {"parameters", piece.parameters},
           {"outputs", list(outputs)}},
          joined(first.operation, last.operation),
          joined(first.module, last.module)};
}

class Fusion {
 public:
  explicit Fusion(ExportedProgram& program) : program_(program) {
    for (const ProgramBuffer& buffer : program.buffers)
      if (buffer.kind != ProgramBuffer::Kind::temporary) ++readers_[buffer.storage.get()];
    for (const ProgramTensor& output : program.outputs) ++readers_[output.tensor.storage.get()];
    for (ProgramCall& call : program.calls) {
      nodes_.push_back({std::move(call), {}, {}, {}});
      note(nodes_.back());
    }
  }

  void run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].piece = piece_of(nodes_[i].call);
      std::size_t at = i;
      while (merge_with_a_producer(at)) {
      }
      for (const Storage* storage : nodes_[at].writes)
        last_writer_[storage] = std::max(at, last_writer_[storage]);
    }
    program_.calls.clear();
    for (Node& node : nodes_)
      if (!node.is_gone) program_.calls.push_back(std::move(node.call));
  }

 private:
  struct Node {
    ProgramCall call;
    std::optional<Piece> piece;
    Storages reads, writes;
    bool is_gone = false;
  };

  /** Fills in what a call reads and writes. */
  void note(Node& node) {
    node.reads.clear();
    node.writes.clear();
    const Primitive* primitive = find_primitive(node.call.primitive);
    require(primitive, "there is no primitive named ", node.call.primitive);
    const Primitive::Tensors tensors = primitive->tensors(node.call.arguments);
    for (const std::vector<Tensor>* list : {&tensors.read, &tensors.updated})
      for (const Tensor& tensor : *list) node.reads.insert(tensor.storage.get());
    for (const std::vector<Tensor>* list : {&tensors.written, &tensors.updated})
      for (const Tensor& tensor : *list) node.writes.insert(tensor.storage.get());
    for (const Storage* storage : node.reads) ++readers_[storage];
  }
  void forget(const Node& node) {
    for (const Storage* storage : node.reads) --readers_[storage];
  }

  bool merge_with_a_producer(std::size_t& at) {
    if (!nodes_[at].piece) return false;
    for (const Tensor& input : nodes_[at].piece->inputs) {
      const auto found = last_writer_.find(input.storage.get());
      if (found == last_writer_.end() || found->second >= at) continue;
      const std::size_t producer = found->second;
      if (nodes_[producer].is_gone || !nodes_[producer].piece) continue;
      const bool can_sink = may_sink(producer, at), can_hoist = may_hoist(at, producer);
      if (!can_sink && !can_hoist) continue;
      std::optional<Piece> joined = join(nodes_[producer], nodes_[at]);
      if (!joined) continue;
      const std::size_t place = can_sink ? at : producer, other = can_sink ? producer : at;
      ProgramCall call = call_of(*joined, nodes_[producer].call, nodes_[at].call);
      forget(nodes_[producer]);
      forget(nodes_[at]);
      for (const Storage* storage : nodes_[producer].writes) last_writer_.erase(storage);
      nodes_[other].is_gone = true;
      nodes_[place].call = std::move(call);
      nodes_[place].piece = std::move(joined);
      note(nodes_[place]);
      for (const Storage* storage : nodes_[place].writes) last_writer_[storage] = place;
      at = place;
      return true;
    }
    return false;
  }

  /** Whether no call between would notice if the first of two were made with the second. */
  bool may_sink(std::size_t first, std::size_t second) const {
    return is_free(first, second, nodes_[first], {});
  }
  bool may_hoist(std::size_t second, std::size_t first) const {
    return is_free(first, second, nodes_[second], nodes_[first].writes);
  }
  bool is_free(std::size_t first, std::size_t second, const Node& moved, const Storages& from_first) const {
    for (std::size_t i = first + 1; i < second; ++i) {
      const Node& between = nodes_[i];
      if (between.is_gone) continue;
      if (intersect(between.reads, moved.writes) || intersect(between.writes, moved.writes) ||
          intersect(between.writes, moved.reads) || intersect(between.writes, from_first))
        return false;
    }
    return true;
  }

  /** The chain of both, or none where it would be none. */
  std::optional<Piece> join(const Node& producer, const Node& consumer) const {
    const Piece &first = *producer.piece, &second = *consumer.piece;
    if (first.chain.dtype != second.chain.dtype || first.shape != second.shape) return std::nullopt;
    Piece joined = first;
    const auto result_of = [&](const Tensor& tensor) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < first.chain.outputs.size(); ++i)
        if (are_same(first.output(i), tensor)) return first.chain.outputs[i];
      return std::nullopt;
    };
    for (const Tensor& tensor : second.inputs)
      if (producer.writes.count(tensor.storage.get()) && !result_of(tensor)) return std::nullopt;

    const std::size_t earlier = first.results.size();
    for (ChainStep step : second.chain.steps) {
      for (ChainOperand& operand : step.operands) {
        if (operand.kind == ChainOperand::Kind::result) operand.index += earlier;
        if (operand.kind != ChainOperand::Kind::input) continue;
        const Tensor& tensor = second.inputs[operand.index];
        const std::optional<std::size_t> result = result_of(tensor);
        operand = result ? ChainOperand{ChainOperand::Kind::result, *result}
                         : ChainOperand{ChainOperand::Kind::input, joined.input(tensor)};
      }
      joined.chain.steps.push_back(std::move(step));
    }
    joined.results.insert(joined.results.end(), second.results.begin(), second.results.end());
    joined.parameters.insert(joined.parameters.end(), second.parameters.begin(), second.parameters.end());

    joined.chain.outputs.clear();
    for (std::size_t i = 0; i < first.chain.outputs.size(); ++i) {
      const Tensor& output = first.output(i);
      if (consumer.writes.count(output.storage.get())) {
        const auto overwrites = [&](const Tensor& tensor) { return are_same(tensor, output); };
        std::vector<Tensor> later;
        for (std::size_t k = 0; k < second.chain.outputs.size(); ++k) later.push_back(second.output(k));
        if (std::none_of(later.begin(), later.end(), overwrites)) return std::nullopt;
        continue;
      }
      const int own = consumer.reads.count(output.storage.get()) ? 1 : 0;
      const auto readers = readers_.find(output.storage.get());
      if (readers != readers_.end() && readers->second > own)
        joined.chain.outputs.push_back(first.chain.outputs[i]);
    }
    for (const std::size_t output : second.chain.outputs) joined.chain.outputs.push_back(output + earlier);
    return is_sound(joined) ? std::optional(std::move(joined)) : std::nullopt;
  }

  static bool is_sound(const Piece& piece) {
    const PointwiseChain& chain = piece.chain;
    if (chain.steps.size() > PointwiseChain::max_steps || piece.inputs.size() > PointwiseChain::max_inputs ||
        chain.outputs.size() > PointwiseChain::max_outputs ||
        piece.parameters.size() > PointwiseChain::max_parameters)
      return false;
    for (std::size_t i = 0; i < chain.outputs.size(); ++i) {
      const Tensor& output = piece.output(i);
      if (output.dtype != piece.output(0).dtype) return false;
      for (std::size_t k = 0; k < i; ++k)
        if (piece.output(k).storage == output.storage) return false;
      // All elements of a place are read before one is stored there, elsewhere they are not.
      for (const Tensor& input : piece.inputs)
        if (input.storage == output.storage && !are_same(input, output)) return false;
    }
    return true;
  }

  ExportedProgram& program_;
  std::vector<Node> nodes_;
  std::map<const Storage*, int> readers_;  // calls, and one for whoever finds it after the run
  std::map<const Storage*, std::size_t> last_writer_;
};

}  // namespace

void fuse_pointwise(ExportedProgram& program) {
  Fusion(program).run();
  remove_dead_calls(program);  // and the buffers that no call uses any more
}

}  // namespace dlprim
