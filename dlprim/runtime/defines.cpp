#include "dlprim/runtime/defines.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

std::size_t mixed(std::size_t hash, std::size_t word) {
  constexpr std::size_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio (Knuth, TAOCP 6.4)
  hash = (hash ^ word) * odd;
  return hash ^ (hash >> 32);
}

std::size_t word_of(const char* text) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(text));
}

}  // namespace

Defines& Defines::operator=(const Defines& other) {
  std::copy_n(other.list_.begin(), other.count_, list_.begin());
  count_ = other.count_;
  hash_ = other.hash_;
  return *this;
}

Defines& Defines::append(const Defines& others) {
  for (std::size_t i = 0; i < others.count_; ++i) add(others.list_[i]);
  return *this;
}

Defines& Defines::add(const Define& define) {
  require<DeviceError>(count_ < most, "a program has more than ", most, " macros");
  list_[count_++] = define;
  hash_ = mixed(mixed(mixed(hash_, word_of(define.macro)), word_of(define.text)),
                static_cast<std::size_t>(define.number));
  return *this;
}

bool Defines::operator==(const Defines& other) const {
  return hash_ == other.hash_ && count_ == other.count_ &&
         std::equal(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(count_), other.list_.begin(),
                    [](const Define& a, const Define& b) {
                      return a.macro == b.macro && a.text == b.text && a.number == b.number;
                    });
}

std::string Defines::text() const {
  std::string options;
  for (std::size_t i = 0; i < count_; ++i) {
    const Define& define = list_[i];
    options += ' ';
    if (define.macro) options.append("-D").append(define.macro).append("=");
    options += define.text ? define.text : std::to_string(define.number);
  }
  return options;
}

const char* interned(const std::string& text) {
  static auto& mutex = *new std::mutex;
  static auto& texts = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return texts.insert(text).first->c_str();
}

}  // namespace dlprim
