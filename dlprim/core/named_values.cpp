#include "dlprim/core/named_values.h"

#include <cmath>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

using Kind = OptionRow::Kind;

std::string text_of_number(double number) {
  return std::isnan(number) ? "None" : concat(number);
}

[[noreturn]] void refuse(const char* name, const Value& value) {
  throw TypeError(concat("'", name, "' cannot be ", text_of(value)));
}

void check_number(const char* owner, const OptionRow& row, const NamedValues& values) {
  const double number = values.number(row.name);
  require<TypeError>(row.kind != Kind::whole || number == std::floor(number), owner,
                     ": expected a whole number ", row.name, ", got ", number);
  require(row.holds(number, number), owner, ": expected ", row.condition, ", got ", row.name, "=", number);
}

void check_pair(const char* owner, const OptionRow& row, const NamedValues& values) {
  const std::vector<double> pair = values.numbers(row.name);
  require<TypeError>(pair.size() == 2, owner, ": expected two numbers as ", row.name, ", got ",
                     text_of(Value(pair)));
  require(row.holds(pair[0], pair[1]), owner, ": ", row.name, " must hold ", row.condition, ", got ",
          text_of(Value(pair)));
}

}  // namespace

std::string text_of(const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return "None";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return concat(*whole);
  if (const auto* number = std::get_if<double>(&value)) return concat(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  std::string all;
  for (const double number : std::get<std::vector<double>>(value))
    all += (all.empty() ? "" : ", ") + text_of_number(number);
  return "(" + all + ")";
}

double NamedValues::call(const char* name, std::size_t, double) const {
  throw TypeError(concat("'", name, "' is no function"));
}

double NamedValues::number(const char* name) const {
  const Value value = get(name);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  refuse(name, value);
}

std::vector<double> NamedValues::numbers(const char* name) const {
  const Value value = get(name);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  refuse(name, value);
}

std::string NamedValues::text(const char* name) const {
  const Value value = get(name);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  refuse(name, value);
}

Value Options::get(const char* name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw IndexError(concat("there is no option '", name, "'"));
  return found->second;
}

Options defaults_of(const OptionRows& rows) {
  Options options;
  for (const OptionRow& row : rows)
    if (!row.required && row.kind != Kind::callable) options.set(row.name, row.initial);
  return options;
}

void check_options(const char* owner, const OptionRows& rows, const NamedValues& values) {
  for (const OptionRow& row : rows) {
    switch (row.kind) {
      case Kind::number:
      case Kind::whole:
      case Kind::flag:
        check_number(owner, row, values);
        break;
      case Kind::pair:
        check_pair(owner, row, values);
        break;
      case Kind::text:
        values.text(row.name);
        break;
      case Kind::refused:
        require<TypeError>(!values.flag(row.name), owner, ": ", row.name, "=True is not supported");
        break;
      default:
        break;
    }
  }
}

}  // namespace dlprim
