#pragma once

#include <torch/library.h>

#include <map>
#include <string>
#include <utility>

#include "autograd/ops/operators.h"

/** \file Kernels that are operators of ocl's: what one means stands in autograd/ops, for both faces. */

namespace torch_ocl {

/** Has ocl's operators do as PyTorch's settings say: how precise products are. Before each call of one. */
void follow_settings();
/** The word that a number of aten's stands for. Throws where it stands for none. */
template <std::size_t n>
const char* word_of(const char* what, std::int64_t number, const char* const (&words)[n]) {
  TORCH_CHECK(number >= 0 && number < static_cast<std::int64_t>(n), what, " must be from 0 to ", n - 1,
              ", got ", number);
  return words[number];
}

/** A tensor of PyTorch's as ocl's, for readers, and for writers. Undefined ones stay so. */
ocl::Tensor tensor_to_read(const at::Tensor& tensor);
ocl::Tensor tensor_to_write(const at::Tensor& tensor);
/** An operator's result as a tensor of PyTorch's: a copy where it lies in the memory of one that it was
 * given. */
at::Tensor result_of(const ocl::Tensor& made, const ocl::TensorList& given);

/** How the arguments of an operator in aten are called in ocl's row; ocl's names are PyTorch's for Python,
 * and aten's `self` is a row's first parameter. */
struct ArgumentNames {
  std::map<std::string, std::string> renamed;
  std::vector<std::string> ignored;  // what changes nothing here, as `stable` where sorting always is
};

/** What else than dtypes that dlprim has a kernel takes; PyTorch's own function for CPUs has the rest. */
enum class Takes { any, floating };
/** How a gradient is computed. */
struct GradientOptions {
  bool widens = false;      // numbers of 16 bits in float32
  bool by_element = false;  // the result may be a sum of which each element has a gradient of its own
  bool runs = false;        // the operator itself once more, where the gradient needs what is made on the way
  std::string of;           // the operator, where it is not that of the name without "_backward"
  std::vector<std::string> ignored;  // what the gradient is also given
};

/**
 * Registers operators of ocl as kernels. Named by the functional form in aten ("sort.stable"), one serves all
 * of aten's forms that have these arguments: the functional one, the one that writes to `out`, and the one in
 * place. A tensor whose dtype or layout dlprim does not have goes to the CPU. An argument that nothing is
 * known of is an error of the process that loads the library.
 */
class RowKernels {
 public:
  explicit RowKernels(torch::Library& library) : library_(library) {}

  /** That form of a row. */
  void row(const char* schema, const ocl::OperatorForm& form, const ArgumentNames& names = {});
  /** The row of the schema's name ("gather", or "index_add" for "index_add"). */
  void row(const char* schema) { row(schema, ocl::operator_form(name_of(schema))); }

  /** A function of ocl's tensors, whose parameters are the functional form's in order. */
  template <class Result, class... Parameters>
  void function(const char* schema, Result (*function)(Parameters...), Takes takes = Takes::any) {
    const std::string parameters = parameters_of(schema, {kind_of<std::decay_t<Parameters>>...});
    const ocl::OperatorFunction called = ocl::OperatorForm::function_of(function);
    add(schema, ocl::OperatorForm(name_of(schema).c_str(), "", parameters, called), {}, takes);
  }

  /**
   * The gradient of an operator that stands above: "NAME_backward" of NAME, whose arguments have the same
   * names. It is the tape's. Unless it `runs`, the operator itself is not computed again for it: it is called
   * for shapes alone, so its gradient must need nothing but what it was given, contiguous as here.
   */
  void gradient(const char* schema, const GradientOptions& options = {});

 private:
  /** The names of PyTorch's numbers that stand for something else. */
  template <class T>
  static constexpr const char* kind_of =
      std::is_same_v<T, ocl::DType> || std::is_same_v<T, std::optional<ocl::DType>> ? "DType"
      : std::is_same_v<T, ocl::Reduction>                                           ? "Reduction"
      : std::is_same_v<T, ocl::Operand>                                             ? "Operand"
      : dlprim::is_optional<T>::value                                               ? "optional"
                                                                                    : "";

  static std::string name_of(const std::string& schema) { return schema.substr(0, schema.find('.')); }
  /** The schema's parameters as a row writes them, each with a default that stands for nothing. */
  static std::string parameters_of(const char* schema, const std::vector<std::string>& kinds);
  void add(const char* schema, const ocl::OperatorForm& form, const ArgumentNames& names, Takes takes);
  struct Row {
    const ocl::OperatorForm* form;
    ArgumentNames names;
    Takes takes;
  };

  torch::Library& library_;
  std::map<std::string, Row> rows_;  // those added, by name
};

}  // namespace torch_ocl
