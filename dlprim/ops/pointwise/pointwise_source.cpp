#include "dlprim/ops/pointwise/pointwise_source.h"

#include <algorithm>
#include <iterator>

#include "dlprim/ops/pointwise/complex_form.h"
#include "dlprim/ops/pointwise/contracted_form.h"
#include "dlprim/runtime/program.h"

namespace dlprim {
namespace {

constexpr int max_variables = 5;  // g, a, b, c, y

/** Every choice of inputs that are numbers; one input stays a tensor. */
std::vector<unsigned> number_choices(const PointwiseExpression& expression) {
  const unsigned all_inputs = (1u << expression.variables.size()) - 1;
  std::vector<unsigned> choices{0};
  for (unsigned numbers = 1; numbers <= expression.may_be_number; ++numbers)
    if ((numbers & expression.may_be_number) == numbers && numbers != all_inputs) choices.push_back(numbers);
  return choices;
}

std::vector<DType> served_with(const PointwiseProgram& program, DType dtype) {
  if (!program.serves_all_integers(dtype)) return {dtype};
  std::vector<DType> integers;
  for (int i = 0; i < dtype_count; ++i)
    if (is_integral(static_cast<DType>(i))) integers.push_back(static_cast<DType>(i));
  return integers;
}

/** Whether there is such a case: of complex numbers those that they have a meaning for, which compute no
 * gradients (autograd does, by operators). */
bool exists(const PointwiseVariant& variant, const PointwiseForm& form, bool has_float64) {
  const PointwiseExpression& expression = variant.expression;
  if (form.vectors && (expression.conditions || !has_vectors(variant.output_dtype()))) return false;
  if (expression.floating_only && is_integral(variant.dtype)) return false;
  const bool is_gradient = expression.name.rfind("gradient", 0) == 0;
  if (is_complex(variant.dtype) && is_gradient) return false;
  const DType result = variant.output_dtype();
  if (real_dtype(result) == DType::float64 && !has_float64) return false;
  if (!is_complex(variant.dtype)) return !is_complex(result);
  return (result == variant.dtype || result == DType::boolean) &&
         has_complex_form(expression.outputs.front());
}

/** The text of the result, and its type. */
std::pair<std::string, const char*> result_of(const PointwiseVariant& variant, const std::string& output) {
  if (!is_complex(variant.dtype)) return {is_integral(variant.dtype) ? output : contracted_form(output), "T"};
  if (is_complex(variant.output_dtype())) return {complex_form(output), "T"};
  return {complex_condition(output), "int"};
}

/** The case of one variant in the kernels' switch. */
std::string variant_case(const PointwiseVariant& variant, const PointwiseForm& form,
                         const PointwiseSlots& slots) {
  const PointwiseExpression& expression = variant.expression;
  std::string tensors, fetched, element;
  std::size_t input = 0, number = 0;
  for (std::size_t i = 0; i < expression.variables.size(); ++i) {
    const std::string& variable = expression.variables[i];
    if (variant.is_number(i)) {
      element += concat("const T ", variable, " = number", number++, "; ");
      continue;
    }
    const DType dtype = variant.input_dtype(i);
    tensors += concat("TYPED(const ", info(dtype).storage_type, ", in", input, ") ");
    const std::string loaded = concat(is_integral(variant.dtype) ? "WIDENED_" : "LOAD_", name(dtype), "(in",
                                      input, ", AT(", input, "))");
    const bool is_condition = is_complex(variant.dtype) && !is_complex(dtype);
    const std::string value = concat(variable, ", ", is_condition ? concat("C_REAL(", loaded, ")") : loaded);
    fetched += form.vectors ? concat("FETCHED_AS(", name(dtype), ", ", variable, ", in", input, ") ")
                            : concat("FETCHED(", value, ") ");
    element += concat("const T ", variable, " = AVAILABLE(", value, "); ");
    ++input;
  }
  for (std::size_t i = 0; i < expression.parameters.size(); ++i)
    element += concat("const T ", expression.parameters[i], " = parameter", i, "; ");
  if (is_integral(variant.dtype))
    element += concat("const bool is_bool = ", variant.dtype == DType::boolean, "; ");
  element += expression.statements;
  // All results before the first is stored: an output may be an input.
  std::string stores, kept, stores_of_vectors;
  const DType result = variant.output_dtype();
  for (std::size_t i = 0; i < expression.outputs.size(); ++i) {
    tensors += concat("TYPED(", info(result).storage_type, ", out", i, ") ");
    const auto [text, type] = result_of(variant, expression.outputs[i]);
    element += concat("const ", type, " result", i, " = ", text, "; ");
    if (form.vectors) {
      kept += concat("T kept", i, "[PER_ITEM]; ");
      stores += concat("kept", i, "[part] = result", i, "; ");
      stores_of_vectors += concat("STORE_AS(", name(result), ", out", i, ", kept", i, ") ");
    } else {
      stores += concat("STORE_", name(result), "(out", i, ", AT(", slots.inputs + i, "), result", i, "); ");
    }
  }
  return concat("case ", variant.id(), ": { ", tensors, fetched, kept, "FOR_ELEMENTS { ", element, stores,
                "} ", stores_of_vectors, "break; } ");
}

std::string parameters(const PointwiseSlots& slots) {
  std::string text;
  for (std::size_t i = 0; i < slots.inputs; ++i) text += concat("BUFFER(const uchar, in", i, "), ");
  for (std::size_t i = 0; i < slots.outputs; ++i) text += concat("BUFFER(uchar, out", i, "), ");
  for (std::size_t i = 0; i < slots.numbers; ++i) text += concat("const T number", i, ", ");
  for (std::size_t i = 0; i < slots.parameters; ++i) text += concat("const T parameter", i, ", ");
  return text;
}

}  // namespace

int PointwiseVariant::id() const {
  const PointwiseProgram& program = *expression.program;
  const auto place = &expression - program.expressions().data();
  const int expressions = static_cast<int>(program.expressions().size());
  const int served = program.serves_all_integers(dtype) ? static_cast<int>(dtype) : 0;
  return ((served * expressions + static_cast<int>(place)) << max_variables) + static_cast<int>(numbers);
}

bool divides(const std::string& expression) {
  constexpr const char* divisions[] = {"TRUNC_DIVIDE", "FLOOR_DIVIDE", "FMOD", "REMAINDER"};
  return std::any_of(std::begin(divisions), std::end(divisions),
                     [&](const char* function) { return uses_variable(expression, function); });
}

bool checks_divisors(const PointwiseProgram& program, DType dtype) {
  return is_integral(dtype) && divides(program.expressions().front().outputs.front());
}

bool has_vectors(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
}

std::string pointwise_source(const PointwiseProgram& program, DType dtype, const PointwiseForm& form,
                             bool has_float64) {
  const PointwiseSlots& slots = program.slots();
  std::string variants;
  for (const DType served : served_with(program, dtype))
    for (const PointwiseExpression& expression : program.expressions()) {
      if (!exists({expression, served, 0}, form, has_float64)) continue;
      for (const unsigned numbers : number_choices(expression))
        variants += variant_case({expression, served, numbers}, form, slots);
    }
  const DType compute = is_integral(dtype) ? DType::int64 : compute_dtype(dtype);
  return concat(
      expanded_source("core/common.cl"), "#define T ", info(real_dtype(compute)).compute_type,
      "\n#define T_LANES ", 64 / size_of(compute), "\n#define T_IS_FLOATING ", !is_integral(dtype),
      "\ntypedef ", form.wide_index ? "long" : "int", " index_t;\n",
      expanded_source("ops/pointwise/functions.cl"),
      variants.find("BESSEL_") != std::string::npos ? expanded_source("ops/pointwise/bessel.cl") : "",
      is_complex(dtype) ? expanded_source("ops/pointwise/complex.cl") + "#undef T\n#define T C\n" : "",
      form.vectors ? expanded_source("core/vectors4.cl") : "", "\n#define FLAT ", program.name(),
      "_flat\n#define STRIDED ", program.name(), "_strided\n#define OPERANDS ", slots.inputs + slots.outputs,
      "\n#define VECTORS ", form.vectors, "\n#define PER_ITEM ", elements_per_item, "\n#define ROW_STEPS ",
      form.row_steps, "\n#define ROUNDED ROUNDED_", name(dtype), "\n#define PARAMETERS ",
      checks_divisors(program, dtype) ? "CHECK_ARGS, " : "", parameters(slots), "\n#define VARIANTS(AT) ",
      variants, "\n", expanded_source("ops/pointwise/pointwise.cl"));
}

}  // namespace dlprim
