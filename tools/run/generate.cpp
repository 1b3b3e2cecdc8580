#include "generate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "arrays.h"
#include "dlprim/core/error.h"
#include "dlprim/export/program_sizes.h"

namespace {

using dlprim::DType;
using dlprim::ProgramRunner;
using dlprim::require;
using Clock = std::chrono::steady_clock;
using Tokens = std::vector<std::int64_t>;

constexpr const char *tokens_name = "tokens", *positions_name = "positions";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

NpyArray array_of(const Tokens& tokens, dlprim::Dims shape) {
  NpyArray array{DType::int64, std::move(shape), {}};
  array.bytes.resize(tokens.size() * sizeof tokens[0]);
  std::memcpy(array.bytes.data(), tokens.data(), array.bytes.size());
  return array;
}

Tokens tokens_of(const NpyArray& array) {
  Tokens tokens(array.bytes.size() / sizeof(std::int64_t));
  std::memcpy(tokens.data(), array.bytes.data(), tokens.size() * sizeof tokens[0]);
  return tokens;
}

/** The most positions that a run takes, which is all that the program has room for. */
std::int64_t room_of(const ProgramRunner& runner) {
  const auto& program = runner.program();
  const auto is_whole = [](const dlprim::ProgramTensor& each, int rank) {
    return each.tensor.dtype == DType::int64 && each.tensor.rank() == rank;
  };
  const bool has_inputs = program.inputs.size() == 2 && program.inputs[0].name == tokens_name &&
                          program.inputs[1].name == positions_name && is_whole(program.inputs[0], 2) &&
                          is_whole(program.inputs[1], 1);
  const dlprim::ProgramSymbol* symbol = has_inputs ? symbol_of_dimension(program, 1, 0) : nullptr;
  require(symbol && symbol == symbol_of_dimension(program, 0, 1) && program.outputs.size() == 1 &&
              is_whole(program.outputs[0], 2) && program.outputs[0].tensor.shape[1] == 1,
          "--generate needs a program of ocl.models.GenerationStep, with inputs tokens int64[N, T] and "
          "positions int64[T] and the next tokens int64[N, 1] as its result; --show prints this one");
  return symbol->max;
}

/** One run: the tokens that follow `tokens`, N rows one after another, which begin at position `first`. */
Tokens next_tokens(ProgramRunner& runner, const Tokens& tokens, std::int64_t sequences, std::int64_t first) {
  const auto length = static_cast<std::int64_t>(tokens.size()) / sequences;
  Tokens positions(static_cast<std::size_t>(length));
  std::iota(positions.begin(), positions.end(), first);
  runner.set_input_shape(0, {sequences, length});
  runner.set_input_shape(1, {length});
  set_input(runner, tokens_name, array_of(tokens, {sequences, length}));
  set_input(runner, positions_name, array_of(positions, {length}));
  runner.run();
  return tokens_of(get_output(runner, runner.program().outputs[0].name));
}

void print(const Tokens& tokens, bool is_first) {
  if (tokens.size() == 1) {
    std::printf("%s%lld", is_first ? "" : " ", static_cast<long long>(tokens[0]));
  } else {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      std::printf("%s%lld", i == 0 ? "" : " ", static_cast<long long>(tokens[i]));
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

NpyArray generate(ProgramRunner& runner, const NpyArray& prompt, std::int64_t count,
                  std::optional<std::int64_t> end) {
  const std::int64_t room = room_of(runner);
  require(prompt.dtype == DType::int64 && prompt.shape.size() == 2 && prompt.shape[1] > 0,
          "--generate: the prompt has to be int64[N, T] with T of at least 1, got ", name(prompt.dtype),
          prompt.shape);
  const std::int64_t sequences = prompt.shape[0], length = prompt.shape[1];
  require(length + count - 1 <= room, "--generate ", count, " after ", length,
          " tokens: the program has room for ", room, " positions");

  std::vector<Tokens> columns;  // the tokens of each step
  Tokens next = tokens_of(prompt);
  std::vector<bool> ended(static_cast<std::size_t>(sequences));
  double first_seconds = 0;
  const auto start = Clock::now();
  for (std::int64_t step = 0; step < count; ++step) {
    next = next_tokens(runner, next, sequences, step == 0 ? 0 : length + step - 1);
    for (std::size_t i = 0; i < ended.size(); ++i) {
      if (end && ended[i]) next[i] = *end;
      ended[i] = end && next[i] == *end;
    }
    print(next, step == 0);
    columns.push_back(next);
    if (step == 0) first_seconds = seconds_since(start);
    if (std::all_of(ended.begin(), ended.end(), [](bool one) { return one; })) break;
  }
  if (sequences == 1) std::printf("\n");
  std::printf("%lld tokens read in %.1f ms", static_cast<long long>(length), first_seconds * 1e3);
  if (columns.size() > 1)
    std::printf(", then %.1f steps/s",
                static_cast<double>(columns.size() - 1) / (seconds_since(start) - first_seconds));
  std::printf("\n");

  const Tokens given = tokens_of(prompt);
  Tokens all;
  for (std::int64_t i = 0; i < sequences; ++i) {
    all.insert(all.end(), given.begin() + i * length, given.begin() + (i + 1) * length);
    for (const Tokens& column : columns) all.push_back(column[static_cast<std::size_t>(i)]);
  }
  return array_of(all, {sequences, length + static_cast<std::int64_t>(columns.size())});
}

NpyArray array_of_tokens(const std::vector<std::int64_t>& tokens) {
  return array_of(tokens, {1, static_cast<std::int64_t>(tokens.size())});
}
