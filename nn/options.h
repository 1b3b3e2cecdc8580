#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "autograd/ops/pool.h"
#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl::nn {

/**
 * One constructor argument of a module. In a struct of options `OPTION(bool, bias) = true;` declares its
 * default, a reader `bias()` and a writer `bias(value)` that gives the options back, so that calls chain:
 * `Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false)`.
 */
#define OPTION(type, option)      \
  const type& option() const {    \
    return option##_;             \
  }                               \
  auto& option(type value) {      \
    option##_ = std::move(value); \
    return *this;                 \
  }                               \
  type option##_

/**
 * All options of a struct, in the order of the constructor in Python, of which the first `required` have no
 * default there: `OPTION_LIST(2, in_features_, out_features_, bias_)`. Generated from it: the
 * constructor and the attributes in Python, repr where the layer has no other, copies.
 */
#define OPTION_LIST(required, ...) OPTION_LIST_WITH_KEYWORDS(required, 0, __VA_ARGS__)

/** A list of options where the last `keywords` options are given by name alone in Python. */
#define OPTION_LIST_WITH_KEYWORDS(required, keywords, ...)                       \
  template <int = 0> /* compiled where it is called, and not in every program */ \
  auto values() {                                                                \
    return std::tie(__VA_ARGS__);                                                \
  }                                                                              \
  template <class Use>                                                           \
  auto pass_values_to(const Use& use) const {                                    \
    return use(__VA_ARGS__);                                                     \
  }                                                                              \
  static const OptionNames& names() {                                            \
    static const auto& all = *new OptionNames(required, keywords, #__VA_ARGS__); \
    return all;                                                                  \
  }

/** The names of options as users know them. */
struct OptionNames {
  /** `members`: "in_features_, bias_". */
  OptionNames(std::size_t required_count, std::size_t keyword_count, const std::string& members);

  std::vector<std::string> names;
  std::size_t required;  // so many of the first have no default
  std::size_t keywords;  // so many of the last are given by name
};

/** The options of a module that has none. */
struct NoOptions {
  std::tuple<> values() const { return {}; }
  template <class Use>
  auto pass_values_to(const Use& use) const {
    return use();
  }
  static const OptionNames& names();
};

/** One number for each of N dimensions; a single one stands for all. */
template <int N>
struct Extents : std::array<int, N> {
  Extents(int all = 0) { this->fill(all); }
  Extents(std::initializer_list<int> each) {
    dlprim::require(each.size() == N, "expected ", N, " numbers, got ", each.size());
    std::copy(each.begin(), each.end(), this->begin());
  }
  bool are_all(int value) const {
    for (const int n : *this)
      if (n != value) return false;
    return true;
  }
};

// Values as Python prints them.
std::string repr_of(bool value);
std::string repr_of(int value);
std::string repr_of(std::int64_t value);
std::string repr_of(double value);
std::string repr_of(const Scalar& value);
std::string repr_of(const std::string& value);
std::string repr_of(Single size);
std::string repr_of(const Tensor& tensor);

/** "(2, 3)", "(2,)" */
std::string tuple_repr(const std::vector<std::string>& entries);

template <class T>
std::string repr_of(const std::optional<T>& value);
template <class T>
std::string repr_of(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(repr_of(value));
  return tuple_repr(texts);
}
template <int N>
std::string repr_of(const Extents<N>& extents) {
  return repr_of(std::vector<int>(extents.begin(), extents.end()));
}
template <std::size_t N>
std::string repr_of(const EachDim<N>& size) {
  return size.is_one_number ? repr_of(size[0])
                            : repr_of(std::vector<int>(size.values.begin(), size.values.end()));
}
template <class... T>
std::string repr_of(const std::variant<T...>& value) {
  return std::visit([](const auto& held) { return repr_of(held); }, value);
}
template <class T>
std::string repr_of(const std::optional<T>& value) {
  return value ? repr_of(*value) : "None";
}
template <std::size_t N>
std::string repr_of(const AdaptiveSizes<N>& size) {
  const auto& sizes = size.values;
  return size.is_one_number ? repr_of(sizes[0])
                            : repr_of(std::vector<std::optional<std::int64_t>>(sizes.begin(), sizes.end()));
}

/** "start_dim=1, end_dim=-1", from the texts of the values. */
std::string options_text(const OptionNames& names, const std::vector<std::string>& values);
template <class Options>
std::string options_repr(const Options& options) {
  return options.pass_values_to([](const auto&... values) {
    return options_text(Options::names(), std::vector<std::string>{repr_of(values)...});
  });
}

}  // namespace ocl::nn
