#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dlprim {

/** The value of a setting: nothing, a flag, a number, a text, or several numbers (in which NaN is "nothing").
 */
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;

/** The text that Python writes: `None`, `0.1`, `(0.9, 0.999)`. */
std::string text_of(const Value& value);

/** Values by name, wherever they are kept: in a map, in a Python dict, as attributes of a Python object. */
class NamedValues {
 public:
  virtual ~NamedValues() = default;
  virtual bool has(const char* name) const = 0;
  /** Throws IndexError for a name that is not there. */
  virtual Value get(const char* name) const = 0;
  virtual void set(const char* name, Value value) = 0;
  /** Calls what is kept under `name`: a function, or the one at `index` of several. */
  virtual double call(const char* name, std::size_t index, double argument) const;

  // Throw TypeError for a value of another kind.
  double number(const char* name) const;
  bool flag(const char* name) const { return number(name) != 0; }
  std::vector<double> numbers(const char* name) const;
  std::string text(const char* name) const;
  bool is_none(const char* name) const { return std::holds_alternative<std::monostate>(get(name)); }
};

/** Named values in a map. */
class Options : public NamedValues {
 public:
  Options() = default;
  Options(std::initializer_list<std::pair<const std::string, Value>> values) : values_(values) {}

  bool has(const char* name) const override { return values_.count(name) != 0; }
  Value get(const char* name) const override;
  void set(const char* name, Value value) override { values_.insert_or_assign(name, std::move(value)); }
  const std::map<std::string, Value>& values() const { return values_; }
  bool operator==(const Options& other) const { return values_ == other.values_; }

 private:
  std::map<std::string, Value> values_;
};

/** One setting of a table: its name, its default, and what it may hold. */
struct OptionRow {
  enum class Kind {
    number,
    whole,
    flag,
    pair,  // two numbers
    list,  // numbers, or one number
    text,
    maybe,    // anything, and nothing by default
    refused,  // a flag that may not be set
    ignored,  // taken because PyTorch takes it; nothing follows from it
    fixed,    // no argument: always this value
    callable  // a function, or several
  };
  const char* name;
  Kind kind;
  Value initial;
  bool required, keyword_only;
  bool (*holds)(double first, double second);
  const char* condition;  // what `holds` asks, in words of C
};
using OptionRows = std::vector<OptionRow>;

/** The rows' defaults. */
Options defaults_of(const OptionRows& rows);
/** Throws TypeError or ValueError, naming `owner`, unless `values` hold what the rows allow. */
void check_options(const char* owner, const OptionRows& rows, const NamedValues& values);

}  // namespace dlprim
