#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "autograd/ops/rnn.h"
#include "autograd/tensor/tensor.h"
#include "dlprim/core/error.h"

/** \file The results of operators as lists of tensors, for callers who know the operator by its name alone.
 */

namespace ocl {

inline TensorList results_as_list(const Tensor& result) {
  return {result};
}
inline TensorList results_as_list(TensorPair&& results) {
  return {std::move(results.first), std::move(results.second)};
}
inline TensorList results_as_list(TensorList&& results) {
  return std::move(results);
}
inline TensorList results_as_list(LstmState&& results) {
  return {results.h, results.c};
}
inline TensorList results_as_list(RnnResult&& results) {
  return {results.output, results.h_n, results.c_n};
}
template <class... Tensors>
TensorList results_as_list(std::tuple<Tensors...>&& results) {
  return std::apply([](auto&... each) { return TensorList{each...}; }, results);
}

template <class T, class = void>
constexpr bool can_be_listed = false;
template <class T>
constexpr bool can_be_listed<T, std::void_t<decltype(results_as_list(std::declval<T>()))>> = true;

template <class T>
struct is_tuple : std::false_type {};
template <class... Tensors>
struct is_tuple<std::tuple<Tensors...>> : std::true_type {};

template <class Tuple, std::size_t... I>
Tuple tuple_of(TensorList&& results, std::index_sequence<I...>) {
  return Tuple(std::move(results[I])...);
}

/** The results that `results_as_list` gives such a list of. Throws TypeError where their number is another,
 * or the operator `name` has results that are no tensors. */
template <class T>
T results_from_list(const char* name, TensorList results) {
  const auto require_count = [&](std::size_t expected) {
    dlprim::require<dlprim::TypeError>(results.size() == expected, name, ": an interceptor gave ",
                                       results.size(), " results, expected ", expected);
  };
  if constexpr (std::is_same_v<T, TensorList>) {
    return results;
  } else if constexpr (std::is_same_v<T, Tensor>) {
    require_count(1);
    dlprim::require<dlprim::TypeError>(results[0].defined(), name,
                                       ": an interceptor gave an undefined result");
    return std::move(results[0]);
  } else if constexpr (std::is_same_v<T, TensorPair>) {
    require_count(2);
    return {std::move(results[0]), std::move(results[1])};
  } else if constexpr (std::is_same_v<T, RnnResult>) {
    require_count(3);
    return {std::move(results[0]), std::move(results[1]), std::move(results[2])};
  } else if constexpr (std::is_same_v<T, LstmState>) {
    require_count(2);
    return {std::move(results[0]), std::move(results[1])};
  } else if constexpr (is_tuple<T>::value) {
    require_count(std::tuple_size_v<T>);
    return tuple_of<T>(std::move(results), std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    throw dlprim::TypeError(std::string(name) +
                            ": an interceptor gave results, but those of this operator are "
                            "no tensors");
  }
}

}  // namespace ocl
