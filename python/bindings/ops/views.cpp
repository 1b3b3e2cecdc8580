#include "operator_binder.h"

using ocl::DType;
using ocl::Tensor;

namespace {

/** Methods whose sizes or dimensions come as separate arguments or as one tuple. */
template <class Function>
void bind_with_sizes(const OperatorBinder& bind, const char* name, Function function) {
  bind.tensor().def(
      name, [function](const Tensor& t, const py::args& sizes) { return function(t, shape_of(sizes)); },
      OperatorBinder::doc(name));
}

}  // namespace

void bind_views(const OperatorBinder& bind) {
  bind.both("flatten", &ocl::flatten, py::arg("start_dim") = 0, py::arg("end_dim") = -1);
  bind.both("transpose", &ocl::transpose, py::arg("dim0"), py::arg("dim1"));
  bind.both("t", &ocl::t);
  bind.both("squeeze", &ocl::squeeze, py::arg("dim") = py::none());
  bind.both("unsqueeze", &ocl::unsqueeze, py::arg("dim"));
  bind.both("narrow", &ocl::narrow, py::arg("dim"), py::arg("start"), py::arg("length"));
  bind.both("select", &ocl::select, py::arg("dim"), py::arg("index"));
  bind.both("clone", &ocl::clone);
  bind.method("contiguous", &ocl::contiguous);
  bind.function("reshape", &ocl::reshape, py::arg("shape"));
  bind.function("permute", &ocl::permute, py::arg("dims"));
  bind.free("cat", &ocl::cat, py::arg("tensors"), py::arg("dim") = 0);
  bind_with_sizes(bind, "reshape", &ocl::reshape);
  bind_with_sizes(bind, "view", &ocl::view);
  bind_with_sizes(bind, "expand", &ocl::expand);
  bind_with_sizes(bind, "permute", &ocl::permute);
  const auto converts = [&](const char* name, DType dtype) {
    bind.tensor().def(
        name, [dtype](const Tensor& t) { return t.to(dtype); }, WithoutLock());
  };
  converts("float", DType::float32);
  converts("double", DType::float64);
  converts("half", DType::float16);
  converts("bfloat16", DType::bfloat16);
  converts("long", DType::int64);
  converts("int", DType::int32);
  converts("bool", DType::boolean);
}
