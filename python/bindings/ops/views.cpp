#include "autograd/ops/views.h"
#include "autograd/ops/join.h"
#include "autograd/ops/strided.h"
#include "operator_binder.h"

using ocl::DType;
using ocl::MemoryFormat;
using ocl::Shape;
using ocl::Tensor;
using ocl::TensorList;

namespace {

/** Several tensors that Python sees as a tuple. */
struct TensorTuple {
  TensorList tensors;
};

}  // namespace

namespace pybind11::detail {

template <>
struct type_caster<TensorTuple> {
  PYBIND11_TYPE_CASTER(TensorTuple, const_name("tuple[Tensor, ...]"));
  bool load(handle, bool) { return false; }
  static handle cast(const TensorTuple& parts, return_value_policy, handle) {
    pybind11::tuple result(parts.tensors.size());
    for (std::size_t i = 0; i < parts.tensors.size(); ++i) result[i] = pybind11::cast(parts.tensors[i]);
    return result.release();
  }
};

}  // namespace pybind11::detail

namespace {

using OneOrMany = std::variant<std::int64_t, Shape>;

Shape many(const OneOrMany& numbers) {
  if (const auto* one = std::get_if<std::int64_t>(&numbers)) return {*one};
  return std::get<Shape>(numbers);
}

/** Methods whose sizes or dimensions come as separate arguments, as one tuple, or by their name. */
template <class Function>
void bind_with_sizes(const OperatorBinder& bind, const char* name, const char* sizes_name,
                     Function function) {
  bind.tensor().def(
      name,
      [function](const Tensor& t, const py::args& given) {
        const Shape sizes = shape_of(given);
        const PythonUnlocked unlocked;
        return function(t, sizes);
      },
      OperatorBinder::doc(name));
  bind.method(
      name, [function](const Tensor& t, const OneOrMany& sizes) { return function(t, many(sizes)); },
      py::kw_only(), py::arg(sizes_name));
}

void bind_parts(const OperatorBinder& bind) {
  const auto split = [](const Tensor& tensor, const OneOrMany& sizes, std::int64_t dim) {
    const auto* one = std::get_if<std::int64_t>(&sizes);
    return TensorTuple{one ? ocl::split(tensor, *one, dim) : ocl::split(tensor, std::get<Shape>(sizes), dim)};
  };
  bind.free("split", split, py::arg("tensor"), py::arg("split_size_or_sections"), py::arg("dim") = 0);
  bind.method("split", split, py::arg("split_size"), py::arg("dim") = 0);
}

void bind_reorderings(const OperatorBinder& bind) {
  bind.function(
      "flip", [](const Tensor& input, const OneOrMany& dims) { return ocl::flip(input, many(dims)); },
      py::arg("dims"));
  bind_with_sizes(bind, "flip", "dims", &ocl::flip);
  bind.both(
      "roll",
      [](const Tensor& input, const OneOrMany& shifts, const std::optional<OneOrMany>& dims) {
        return ocl::roll(input, many(shifts), dims ? many(*dims) : Shape{});
      },
      py::arg("shifts"), py::arg("dims") = py::none());
  bind_with_sizes(bind, "repeat", "repeats", &ocl::repeat);
  bind.function("tile", &ocl::tile, py::arg("dims"));
  bind_with_sizes(bind, "tile", "dims", &ocl::tile);
}

void bind_conversions(const OperatorBinder& bind) {
  const auto converts = [&](const char* name, DType dtype) {
    bind.tensor().def(
        name, [dtype](const Tensor& t, const OptionalFormat& format) { return t.to(dtype, kept_or(format)); },
        py::kw_only(), py::arg("memory_format") = py::none(), WithoutLock());
  };
  converts("float", DType::float32);
  converts("double", DType::float64);
  converts("half", DType::float16);
  converts("bfloat16", DType::bfloat16);
  converts("long", DType::int64);
  converts("int", DType::int32);
  converts("short", DType::int16);
  converts("char", DType::int8);
  converts("byte", DType::uint8);
  converts("bool", DType::boolean);
  converts("cfloat", DType::complex64);
  converts("cdouble", DType::complex128);
}

}  // namespace

void bind_views(const OperatorBinder& bind) {
  bind.both(
      "squeeze",
      [](const Tensor& input, const DimArgument& dim) {
        const auto* several = dim ? std::get_if<Shape>(&*dim) : nullptr;
        if (several) return ocl::squeeze(input, *several);
        return ocl::squeeze(input, dim ? std::optional(std::get<std::int64_t>(*dim)) : std::nullopt);
      },
      py::arg("dim") = py::none());
  bind.both(
      "movedim",
      [](const Tensor& input, const OneOrMany& source, const OneOrMany& destination) {
        return ocl::movedim(input, many(source), many(destination));
      },
      py::arg("source"), py::arg("destination"));
  bind.both(
      "clone", [](const Tensor& input, const OptionalFormat& format) { return input.clone(kept_or(format)); },
      py::kw_only(), py::arg("memory_format") = py::none());
  bind.method(
      "contiguous",
      [](const Tensor& a, const OptionalFormat& memory_format) {
        return ocl::contiguous(a, memory_format.value_or(MemoryFormat::contiguous));
      },
      py::kw_only(), py::arg("memory_format") = py::none());
  bind.function("reshape", &ocl::reshape, py::arg("shape"));
  bind.function("permute", &ocl::permute, py::arg("dims"));
  using Repeats = std::variant<std::int64_t, Tensor>;
  bind.both(
      "repeat_interleave",
      [](const Tensor& input, const Repeats& repeats, std::optional<std::int64_t> dim,
         std::optional<std::int64_t> output_size) {
        const Tensor result =
            std::visit([&](const auto& given) { return ocl::repeat_interleave(input, given, dim); }, repeats);
        const std::int64_t size = dim && result.dim() ? result.size(*dim) : result.numel();
        dlprim::require(!output_size || *output_size == size, "repeat_interleave: output_size is ",
                        output_size.value_or(0), ", and the repeats add up to ", size);
        return result;
      },
      py::arg("repeats"), py::arg("dim") = py::none(), py::kw_only(), py::arg("output_size") = py::none());
  bind.module().def(
      "meshgrid",
      [](const py::args& tensors, const std::optional<std::string>& indexing) {
        const ocl::TensorList given = listed_or_one_by_one(tensors);
        const PythonUnlocked without_lock;
        return TensorTuple{ocl::meshgrid(given, indexing.value_or("ij"))};
      },
      py::kw_only(), py::arg("indexing") = py::none(), OperatorBinder::doc("meshgrid"));
  const auto bind_one_by_one = [&](const char* name, ocl::Tensor (*function)(const ocl::TensorList&)) {
    bind.module().def(
        name,
        [function](const py::args& tensors) {
          const ocl::TensorList given = tensors_of(tensors);
          const PythonUnlocked without_lock;
          return function(given);
        },
        OperatorBinder::doc(name));
  };
  bind_one_by_one("cartesian_prod", &ocl::cartesian_prod);
  bind_one_by_one("block_diag", &ocl::block_diag);
  bind_with_sizes(bind, "reshape", "shape", &ocl::reshape);
  // Before that of sizes, which takes a dtype for a number.
  bind.method("view", static_cast<Tensor (*)(const Tensor&, DType)>(&ocl::view), py::arg("dtype"));
  bind_with_sizes(bind, "view", "size", static_cast<Tensor (*)(const Tensor&, const Shape&)>(&ocl::view));
  bind_with_sizes(bind, "expand", "size", &ocl::expand);
  bind_with_sizes(bind, "permute", "dims", &ocl::permute);
  bind_parts(bind);
  bind_reorderings(bind);
  bind_conversions(bind);
}
