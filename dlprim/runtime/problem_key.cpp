#include "dlprim/runtime/problem_key.h"

#include <sstream>

namespace dlprim {

std::string ProblemKey::text() const {
  std::string text;
  for (std::size_t i = 0; i < count_; ++i) text.append(i ? " " : "").append(std::to_string(numbers_[i]));
  return text;
}

std::optional<ProblemKey> ProblemKey::from_text(const std::string& text) {
  ProblemKey key;
  std::istringstream numbers(text);
  for (std::int64_t number = 0; numbers >> number;) {
    if (key.count_ == most_numbers) return std::nullopt;
    key.numbers_[key.count_++] = number;
  }
  if (key.text() != text) return std::nullopt;
  return key;
}

}  // namespace dlprim
