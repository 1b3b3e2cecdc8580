#include "dlprim/ops/pointwise/chain.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/contracted_form.h"

namespace dlprim {
namespace {

bool gives_bool(const PointwiseExpression& expression) {
  return expression.result == DType::boolean;
}

/** A chain as the expression of a program. */
class ChainWriter {
 public:
  explicit ChainWriter(const PointwiseChain& chain) : chain_(chain) {
    require(is_floating(chain.dtype), "a chain of pointwise steps computes in floating dtypes, not in ",
            name(chain.dtype));
    require(!chain.steps.empty() && chain.steps.size() <= PointwiseChain::max_steps, "a chain of ",
            chain.steps.size(), " pointwise steps, expected 1 to ", PointwiseChain::max_steps);
    roles_.resize(chain.inputs());
    for (const ChainStep& step : chain.steps) write(step);
    require(expression_.parameters.size() <= PointwiseChain::max_parameters,
            "a chain of pointwise steps has ", expression_.parameters.size(), " parameters, at most ",
            PointwiseChain::max_parameters);
    write_outputs();
    write_inputs();
  }

  PointwiseExpression expression() && { return std::move(expression_); }

 private:
  enum class Role { none, condition, value };

  void write(const ChainStep& step) {
    const PointwiseExpression& expression = *step.expression;
    require(can_be_step(expression, chain_.dtype), expression.name, " cannot be a step of a pointwise chain");
    require(step.operands.size() == expression.variables.size(), "a step of a pointwise chain has ",
            step.operands.size(), " operands, expected ", expression.variables.size());
    std::string body;
    for (std::size_t i = 0; i < step.operands.size(); ++i)
      body += concat("const T ", expression.variables[i], " = ",
                     operand(step.operands[i], expression.conditions >> i & 1u), "; ");
    for (const std::string& parameter : expression.parameters)
      body += concat("const T ", parameter, " = ", next_parameter(), "; ");
    std::string results;
    for (const std::string& output : expression.outputs) {
      const std::string result = concat("r", are_bool_.size());
      results += concat(results.empty() ? "T " : ", ", result);
      const std::string text = contracted_form(output);
      body += concat(
          result, " = ",
          gives_bool(expression) ? concat("(T)((", text, ") != 0)") : concat("ROUNDED(", text, ")"), "; ");
      are_bool_.push_back(gives_bool(expression));
    }
    expression_.statements += concat(results, "; { ", body, "} ");
  }

  std::string next_parameter() {
    expression_.parameters.push_back(concat("p", expression_.parameters.size()));
    return expression_.parameters.back();
  }

  std::string operand(const ChainOperand& operand, bool is_condition) {
    switch (operand.kind) {
      case ChainOperand::Kind::number:
        require(!is_condition, "a number cannot be a condition in a pointwise chain");
        return next_parameter();
      case ChainOperand::Kind::result:
        require(operand.index < are_bool_.size(), "a step of a pointwise chain takes result ", operand.index,
                ", which is not there yet");
        require(are_bool_[operand.index] == is_condition, "result ", operand.index,
                " of a pointwise chain is ", is_condition ? "no condition" : "bool");
        return concat("r", operand.index);
      case ChainOperand::Kind::input:
        break;
    }
    const Role role = is_condition ? Role::condition : Role::value;
    Role& known = roles_[operand.index];
    require(known == Role::none || known == role, "input ", operand.index,
            " of a pointwise chain is a condition here and a value there");
    known = role;
    return concat("x", operand.index);
  }

  void write_outputs() {
    require(!chain_.outputs.empty() && chain_.outputs.size() <= PointwiseChain::max_outputs,
            "a pointwise chain stores ", chain_.outputs.size(), " results, expected 1 to ",
            PointwiseChain::max_outputs);
    for (const std::size_t output : chain_.outputs) {
      require(output < are_bool_.size(), "a pointwise chain stores result ", output, ", which is not there");
      require(are_bool_[output] == are_bool_[chain_.outputs.front()],
              "the results that a pointwise chain stores have to be of one dtype");
      expression_.outputs.push_back(concat("r", output));
    }
    if (are_bool_[chain_.outputs.front()]) expression_.result = DType::boolean;
  }

  void write_inputs() {
    require(!roles_.empty() && roles_.size() <= PointwiseChain::max_inputs, "a pointwise chain has ",
            roles_.size(), " inputs, expected 1 to ", PointwiseChain::max_inputs);
    for (std::size_t i = 0; i < roles_.size(); ++i) {
      require(roles_[i] != Role::none, "no step of a pointwise chain takes input ", i);
      expression_.variables.push_back(concat("x", i));
      if (roles_[i] == Role::condition) expression_.conditions |= 1u << i;
    }
  }

  const PointwiseChain& chain_;
  PointwiseExpression expression_;
  std::vector<Role> roles_;     // of the inputs
  std::vector<bool> are_bool_;  // of the results
};

std::string text_of(const ChainOperand& operand) {
  if (operand.kind == ChainOperand::Kind::number) return "#";
  return concat(operand.kind == ChainOperand::Kind::input ? "x" : "r", operand.index);
}

/** Takes a chain's text apart. */
class ChainParser {
 public:
  explicit ChainParser(std::string_view text) : text_(text), rest_(text) {}

  PointwiseChain chain() {
    PointwiseChain chain{dtype_from_name(std::string(up_to(": "))), {}, {}};
    while (chain.steps.empty() || skip("; ")) {
      require_more(chain.steps.size() < PointwiseChain::max_steps);
      chain.steps.push_back(step());
    }
    require_more(skip(" -> "));
    do {
      require_more(skip("r") && chain.outputs.size() < PointwiseChain::max_outputs);
      chain.outputs.push_back(number());
    } while (skip(", "));
    require_more(rest_.empty());
    return chain;
  }

 private:
  ChainStep step() {
    ChainStep step{&expression_named(std::string(up_to("("))), {}};
    if (skip(")")) return step;
    do {
      if (skip("#")) {
        step.operands.push_back({ChainOperand::Kind::number});
        continue;
      }
      const bool is_input = skip("x");
      require_more(is_input || skip("r"));
      const std::size_t index = number();
      require_more(!is_input || index < PointwiseChain::max_inputs);
      step.operands.push_back({is_input ? ChainOperand::Kind::input : ChainOperand::Kind::result, index});
    } while (skip(", "));
    require_more(skip(")"));
    return step;
  }

  std::string_view up_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    require_more(at != std::string_view::npos);
    const std::string_view part = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return part;
  }

  bool skip(std::string_view part) {
    if (rest_.substr(0, part.size()) != part) return false;
    rest_.remove_prefix(part.size());
    return true;
  }

  std::size_t number() {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    require_more(error == std::errc());
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void require_more(bool holds) const {
    require(holds, "'", text_, "' is no chain of pointwise steps, from '", rest_, "' on");
  }

  const std::string_view text_;
  std::string_view rest_;
};

/** An identifier of OpenCL C: the rows, for people, and a number for all else. */
std::string identifier_of(const PointwiseChain& chain, const std::string& text) {
  std::string identifier = "chain";
  for (const ChainStep& step : chain.steps) identifier += "_" + step.expression->program->name();
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return concat(identifier, "_", hash);
}

}  // namespace

std::size_t PointwiseChain::inputs() const {
  std::size_t count = 0;
  for (const ChainStep& step : steps)
    for (const ChainOperand& operand : step.operands)
      if (operand.kind == ChainOperand::Kind::input) count = std::max(count, operand.index + 1);
  return count;
}

std::size_t PointwiseChain::parameters() const {
  std::size_t count = 0;
  for (const ChainStep& step : steps) {
    count += step.expression->parameters.size();
    for (const ChainOperand& operand : step.operands) count += operand.kind == ChainOperand::Kind::number;
  }
  return count;
}

bool can_be_step(const PointwiseExpression& expression, DType dtype) {
  return is_floating(dtype) && expression.program && expression.statements.empty() &&
         (!expression.result || gives_bool(expression));
}

const PointwiseExpression& chain_expression(const PointwiseChain& chain) {
  static std::mutex mutex;
  static auto& made = *new std::map<std::string, PointwiseProgram>;
  const std::string text = text_of(chain);
  const std::lock_guard lock(mutex);
  const auto found = made.find(text);
  if (found != made.end()) return found->second.expressions().front();
  PointwiseExpression expression = ChainWriter(chain).expression();
  expression.name = chain_prefix + text;
  return made.try_emplace(text, identifier_of(chain, text), std::vector{std::move(expression)}, chain.dtype)
      .first->second.expressions()
      .front();
}

std::string text_of(const PointwiseChain& chain) {
  std::string text = concat(name(chain.dtype), ": ");
  for (const ChainStep& step : chain.steps) {
    text += concat(&step == chain.steps.data() ? "" : "; ", full_name(*step.expression), "(");
    for (const ChainOperand& operand : step.operands)
      text += concat(&operand == step.operands.data() ? "" : ", ", text_of(operand));
    text += ")";
  }
  for (const std::size_t& output : chain.outputs)
    text += concat(&output == chain.outputs.data() ? " -> r" : ", r", output);
  return text;
}

PointwiseChain parse_chain(const std::string& text) {
  return ChainParser(text).chain();
}

}  // namespace dlprim
