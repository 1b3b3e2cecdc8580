#pragma once

#include <map>
#include <string>
#include <vector>

#include "dlprim/export/exported_program.h"

/** \file Which calls of a program can be calls of int8. */

namespace dlprim {

/** Calls that become one of int8. */
struct Int8Group {
  enum class Kind { convolution, linear, sum, max_pool, average_pool, cat };
  enum class Activation { none, relu, relu6 };

  Kind kind;
  std::size_t core;                // the call that decides
  std::vector<std::size_t> calls;  // with those that it takes in; the new call comes at the last one's place
  std::vector<Tensor> inputs;      // x; both operands of a sum
  Tensor addend{};                 // of a convolution or a linear layer; may be undefined
  Activation activation = Activation::none;
  Tensor result;
};

/**
 * Convolutions and linear layers of constant weights, with a sum and an activation that follow, sums,
 * activations, pooling and concatenation. They read and give float32 tensors that are written once, as a
 * whole. In the order of their cores.
 */
std::vector<Int8Group> int8_groups(const ExportedProgram& program);

/** The tensors that the groups read and give, each once, in order. */
std::vector<Tensor> int8_activations(const std::vector<Int8Group>& groups);

}  // namespace dlprim
