#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dlprim {

/** The key of a problem within its family when implementations are measured: sizes, and all else that
 * decides. */
class ProblemKey {
 public:
  /** Up to most_numbers of them. */
  template <class... Numbers>
  explicit ProblemKey(Numbers... numbers)
      : numbers_{static_cast<std::int64_t>(numbers)...}, count_(sizeof...(numbers)) {
    static_assert(sizeof...(numbers) <= most_numbers);
  }

  /** The key that text() gave; nothing for a text that it cannot have given. */
  static std::optional<ProblemKey> from_text(const std::string& text);

  bool operator==(const ProblemKey& other) const {
    return count_ == other.count_ && numbers_ == other.numbers_;
  }
  std::size_t hash() const {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a, by whole numbers
    for (std::size_t i = 0; i < count_; ++i)
      hash = (hash ^ static_cast<std::uint64_t>(numbers_[i])) * 1099511628211U;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
  /** The numbers with spaces between them, as tables hold it. */
  std::string text() const;

 private:
  static constexpr std::size_t most_numbers = 20;

  std::array<std::int64_t, most_numbers> numbers_{};
  std::size_t count_ = 0;
};

}  // namespace dlprim
