#include "autograd/ops/operator_value.h"

#include "dlprim/core/error.h"

namespace ocl {
namespace {

std::string kind_of(const OperatorValue& value) {
  static constexpr const char* kinds[] = {"nothing", "a tensor", "tensors", "a number",
                                          "numbers", "a dtype",  "a device"};
  if (const auto* word = std::get_if<std::string>(&value)) return "'" + *word + "'";
  return kinds[value.index()];
}

}  // namespace

void refuse_value(const OperatorValue& value, const char* expected) {
  throw dlprim::TypeError(std::string("expected ") + expected + ", got " + kind_of(value));
}

std::int64_t whole_number(const OperatorValue& value) {
  const auto* number = std::get_if<Scalar>(&value);
  if (!number || number->kind() == Scalar::Kind::floating) refuse_value(value, "a whole number");
  return number->integer();
}

double real_number(const OperatorValue& value) {
  const auto* number = std::get_if<Scalar>(&value);
  if (!number) refuse_value(value, "a number");
  return number->real();
}

bool flag(const OperatorValue& value) {
  return whole_number(value) != 0;
}

std::vector<std::int64_t> whole_numbers(const OperatorValue& value) {
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return *numbers;
  if (!std::holds_alternative<Scalar>(value)) refuse_value(value, "whole numbers");
  return {whole_number(value)};
}

MemoryFormat memory_format_of(const OperatorValue& value) {
  if (const auto* word = std::get_if<std::string>(&value))
    for (const MemoryFormat format : {MemoryFormat::contiguous, MemoryFormat::channels_last,
                                      MemoryFormat::channels_last_3d, MemoryFormat::preserve})
      if (*word == dlprim::name(format)) return format;
  refuse_value(value, "a memory format");
}

}  // namespace ocl
