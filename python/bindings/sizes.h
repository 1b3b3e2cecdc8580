#pragma once

#include "autograd/ops/conv.h"
#include "autograd/ops/pool.h"
#include "casters.h"

using ocl::Single;

namespace pybind11::detail {

template <>
struct type_caster<ocl::Single> {
  PYBIND11_TYPE_CASTER(ocl::Single, const_name("int | tuple[int]"));

  bool load(handle source, bool) {
    object item = reinterpret_borrow<object>(source);
    if (!is_whole(source) && isinstance<sequence>(source) && !isinstance<str>(source)) {
      const auto items = reinterpret_borrow<sequence>(source);
      if (items.size() != 1) return false;
      item = items[0];
    }
    if (!is_whole(item)) return false;
    value = ocl::Single(small_int(item));
    value.is_one_number = item.is(source);
    return true;
  }

  static handle cast(const ocl::Single& size, return_value_policy, handle) {
    if (size.is_one_number) return int_(size.value).release();
    return make_tuple(size.value).release();
  }
};

template <>
struct type_caster<ocl::Padding1d> {
  PYBIND11_TYPE_CASTER(ocl::Padding1d, const_name("int | tuple[int] | str"));

  bool load(handle source, bool convert) {
    if (isinstance<str>(source)) {
      value = source.cast<std::string>();
      return true;
    }
    type_caster<ocl::Single> number;
    if (!number.load(source, convert)) return false;
    value = static_cast<ocl::Single&>(number).value;
    return true;
  }
};

/** One int for all dimensions, as many as there are, or a word. */
template <std::size_t N>
struct type_caster<ocl::PaddingOf<N>> {
  PYBIND11_TYPE_CASTER(ocl::PaddingOf<N>,
                       const_name<N == 2>("int | tuple[int, int] | str", "int | tuple[int, int, int] | str"));

  bool load(handle source, bool convert) {
    if (isinstance<str>(source)) {
      value = ocl::PaddingOf<N>(source.cast<std::string>());
      return true;
    }
    type_caster<ocl::EachDim<N>> numbers;
    if (!numbers.load(source, convert)) return false;
    value = ocl::PaddingOf<N>(static_cast<ocl::EachDim<N>&>(numbers));
    return true;
  }
};

/** An int or None for all dimensions, or as many of them as there are. */
template <std::size_t N>
struct type_caster<ocl::AdaptiveSizes<N>> {
  PYBIND11_TYPE_CASTER(ocl::AdaptiveSizes<N>,
                       const_name<N == 2>("int | None | tuple[int | None, int | None]",
                                          "int | None | tuple[int | None, int | None, int | None]"));

  bool load(handle source, bool) {
    value = ocl::AdaptiveSizes<N>();
    auto& sizes = value.values;
    if (!is_whole(source) && isinstance<sequence>(source) && !isinstance<str>(source)) {
      const auto items = reinterpret_borrow<sequence>(source);
      value.is_one_number = false;
      if (items.size() != N) return false;
      for (std::size_t i = 0; i < N; ++i)
        if (!load_one(items[i], sizes[i])) return false;
      return true;
    }
    if (!load_one(reinterpret_borrow<object>(source), sizes[0])) return false;
    sizes.fill(sizes[0]);
    return true;
  }

  static handle cast(const ocl::AdaptiveSizes<N>& size, return_value_policy, handle) {
    if (size.is_one_number) return pybind11::cast(size.values[0]).release();
    tuple all(N);
    for (std::size_t i = 0; i < N; ++i) all[i] = pybind11::cast(size.values[i]);
    return all.release();
  }

 private:
  static bool load_one(const object& source, std::optional<std::int64_t>& size) {
    if (source.is_none()) return true;
    if (!is_whole(source)) return false;
    size = source.cast<std::int64_t>();
    return true;
  }
};

}  // namespace pybind11::detail
