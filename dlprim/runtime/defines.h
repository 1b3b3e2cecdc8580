#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "dlprim/core/fields.h"

namespace dlprim {

/**
 * Macro definitions a program is specialised on, in the order given; part of its identity. They are kept as
 * values, and become text only to build a program: a kernel is looked up at every launch. Macros, texts and
 * options are not copied: literals, or interned().
 */
class Defines {
 public:
  Defines() = default;
  Defines(const Defines& other) { *this = other; }
  Defines& operator=(const Defines& other);

  template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
  Defines& set(const char* macro, Number value) {
    return add({macro, nullptr, static_cast<std::int64_t>(value)});
  }
  Defines& set(const char* macro, const char* text) { return add({macro, text, 0}); }
  /** A text that ends before the program would. */
  Defines& set(const char* macro, const std::string& text) = delete;
  /** An option of the compiler as it is. */
  Defines& add_option(const char* option) { return add({nullptr, option, 0}); }
  Defines& append(const Defines& others);

  /** The compiler's options, with a space before each. */
  std::string text() const;
  std::size_t hash() const { return hash_; }
  /** Whether both were set to the same, by the same literals: others of the same text are unequal. */
  bool operator==(const Defines& other) const;

 private:
  static constexpr std::size_t most = 24;

  struct Define {
    const char* macro;  // null: text is an option
    const char* text;   // null: number is the value
    std::int64_t number;
    FIELDS(macro, text, number)
  };

  Defines& add(const Define& define);

  std::array<Define, most> list_;  // the first count_
  std::size_t count_ = 0, hash_ = 0;

 public:
  FIELDS(list_)
};

/** That text for as long as the process lives, at the same place each time. */
const char* interned(const std::string& text);

}  // namespace dlprim
