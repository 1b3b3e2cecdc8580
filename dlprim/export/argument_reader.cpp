#include "dlprim/export/argument_reader.h"

namespace dlprim {
namespace {

const char* kind_of(const ArgumentValue& value) {
  constexpr const char* kinds[] = {"nothing",  "a tensor", "a truth", "a whole number",
                                   "a number", "a text",   "a list"};
  return kinds[value.index()];
}

}  // namespace

void refuse_value(const char* expected, const ArgumentValue& value) {
  throw TypeError(concat("expected ", expected, ", got ", kind_of(value)));
}

double number_of(const ArgumentValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  refuse_value("a number", value);
}

std::int64_t whole_number_of(const ArgumentValue& value, std::int64_t least, std::int64_t most) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (!number) refuse_value("a whole number", value);
  require(*number >= least && *number <= most, "expected a number from ", least, " to ", most, ", got ",
          *number);
  return *number;
}

const std::vector<Argument>& list_of(const ArgumentValue& value) {
  const auto* list = std::get_if<std::vector<Argument>>(&value);
  if (!list) refuse_value("a list", value);
  return *list;
}

const std::string& text_of_value(const ArgumentValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (!text) refuse_value("a text", value);
  return *text;
}

}  // namespace dlprim
