#include "autograd/tensor/tensor.h"
#include "casters.h"
#include "dlprim/core/error.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/runtime/device.h"

using dlprim::DType;
using dlprim::ExportedProgram;
using dlprim::Int8Format;
using dlprim::Int8Result;

namespace {

/** The program as the passes of int8 expect it. */
ExportedProgram prepared(ExportedProgram program) {
  remove_dead_calls(program);
  fold_batch_norm(program);
  fold_constants(program);
  split_calls(program);
  return program;
}

/** The program with results that tell the ranges of its activations, and the number of those. */
std::pair<ExportedProgram, std::size_t> observed(ExportedProgram program) {
  const std::size_t count = observe_activations(program);
  return {std::move(program), count};
}

ExportedProgram quantized(ExportedProgram program, const std::vector<std::pair<float, float>>& given) {
  std::vector<dlprim::ActivationRange> ranges;
  for (const auto& [least, greatest] : given) ranges.push_back({least, greatest});
  quantize_activations(program, ranges);
  return program;
}

/** (scale, zero). */
using Format = std::pair<float, int>;
/** (scale, zero, low, high). */
using Result = std::tuple<float, int, int, int>;
using MaybeTensor = std::optional<ocl::Tensor>;

Int8Format format_of(const Format& given) {
  return {given.first, given.second};
}
Int8Result result_of(const Result& given) {
  return {{std::get<0>(given), std::get<1>(given)}, std::get<2>(given), std::get<3>(given)};
}
const dlprim::Tensor* pointer(const MaybeTensor& tensor) {
  return tensor ? &tensor->data() : nullptr;
}

/** A new tensor on the device of x, which `fill(queue, tensor)` writes. */
template <class Fill>
ocl::Tensor made(const ocl::Tensor& x, const dlprim::Dims& shape, DType dtype, const Fill& fill) {
  dlprim::Device& device = x.data().device();
  const dlprim::Tensor y = dlprim::Tensor::empty(device, shape, dtype);
  fill(device.queue(), y);
  return ocl::Tensor(y);
}

ocl::Tensor quantize(const ocl::Tensor& x, const Format& format) {
  return made(x, x.shape(), DType::int8, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_quantize(queue, x.data(), format_of(format), y);
  });
}

ocl::Tensor dequantize(const ocl::Tensor& x, const Format& format) {
  return made(x, x.shape(), DType::float32, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_dequantize(queue, x.data(), format_of(format), y);
  });
}

ocl::Tensor conv2d(const ocl::Tensor& x, const Format& x_format, const ocl::Tensor& weight,
                   const ocl::Tensor& scales, const MaybeTensor& bias, const MaybeTensor& addend,
                   const Format& addend_format, const std::array<int, 2>& stride,
                   const std::array<int, 2>& padding, const std::array<int, 2>& dilation, std::int64_t groups,
                   const Result& result) {
  const dlprim::Conv2dGeometry geometry{stride, padding, dilation, groups};
  const dlprim::Dims shape = conv2d_output_shape(x.shape(), weight.shape(), geometry);
  return made(x, shape, DType::int8, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_conv2d(queue, x.data(), format_of(x_format), weight.data(), scales.data(), pointer(bias),
                pointer(addend), format_of(addend_format), geometry, result_of(result), y);
  });
}

ocl::Tensor linear(const ocl::Tensor& x, const Format& x_format, const ocl::Tensor& weight,
                   const ocl::Tensor& scales, const MaybeTensor& bias, const MaybeTensor& addend,
                   const Format& addend_format, const Result& result) {
  dlprim::require(x.shape().size() == 2 && weight.shape().size() == 2, "int8_linear: matrices expected");
  const dlprim::Dims shape{x.shape()[0], weight.shape()[0]};
  return made(x, shape, DType::int8, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_linear(queue, x.data(), format_of(x_format), weight.data(), scales.data(), pointer(bias),
                pointer(addend), format_of(addend_format), result_of(result), y);
  });
}

ocl::Tensor add(const ocl::Tensor& a, const Format& a_format, const MaybeTensor& b, const Format& b_format,
                const Result& result) {
  return made(a, a.shape(), DType::int8, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_add(queue, a.data(), format_of(a_format), pointer(b), format_of(b_format), result_of(result), y);
  });
}

ocl::Tensor max_pool2d(const ocl::Tensor& x, const std::array<int, 2>& kernel,
                       const std::array<int, 2>& stride, const std::array<int, 2>& padding,
                       const std::array<int, 2>& dilation) {
  const dlprim::Pool2dGeometry geometry{kernel, stride, padding, dilation};
  const dlprim::Dims shape = pool2d_output_shape("int8_max_pool2d", x.shape(), geometry);
  return made(x, shape, DType::int8, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_max_pool2d(queue, x.data(), geometry, y);
  });
}

ocl::Tensor adaptive_avg_pool2d(const ocl::Tensor& x, const Format& x_format,
                                const std::array<std::int64_t, 2>& size, const Result& result) {
  const dlprim::Dims shape = adaptive_pool2d_output_shape("int8_adaptive_avg_pool2d", x.shape(), size);
  return made(x, shape, DType::int8, [&](dlprim::Queue& queue, const dlprim::Tensor& y) {
    int8_adaptive_avg_pool2d(queue, x.data(), format_of(x_format), result_of(result), y);
  });
}

}  // namespace

void bind_quantization(py::module_& parent) {
  py::module_ m = parent.def_submodule(
      "_quantization", "Static int8 of exported programs, and its primitives (dlprim/ops/int8/int8.h).");
  m.def(
      "prepared", &prepared, py::arg("program"), WithoutLock(),
      "The program with batch norms folded, and a call for each pointwise step, as the next two expect it.");
  m.def("observed", &observed, py::arg("program"), WithoutLock(),
        "The program with two more results for each activation, its least and greatest number, and how many "
        "activations there are.");
  m.def("quantized", &quantized, py::arg("program"), py::arg("ranges"), WithoutLock(),
        "The program in int8, by (least, greatest) of each activation.");

  // Formats are (scale, zero), and results (scale, zero, low, high).
  m.def("quantize", &quantize, py::arg("x"), py::arg("format"));
  m.def("dequantize", &dequantize, py::arg("x"), py::arg("format"));
  m.def("conv2d", &conv2d, py::arg("x"), py::arg("x_format"), py::arg("weight"), py::arg("scales"),
        py::arg("bias"), py::arg("addend"), py::arg("addend_format"), py::arg("stride"), py::arg("padding"),
        py::arg("dilation"), py::arg("groups"), py::arg("result"));
  m.def("linear", &linear, py::arg("x"), py::arg("x_format"), py::arg("weight"), py::arg("scales"),
        py::arg("bias"), py::arg("addend"), py::arg("addend_format"), py::arg("result"));
  m.def("add", &add, py::arg("a"), py::arg("a_format"), py::arg("b"), py::arg("b_format"), py::arg("result"));
  m.def("max_pool2d", &max_pool2d, py::arg("x"), py::arg("kernel"), py::arg("stride"), py::arg("padding"),
        py::arg("dilation"));
  m.def("adaptive_avg_pool2d", &adaptive_avg_pool2d, py::arg("x"), py::arg("x_format"), py::arg("size"),
        py::arg("result"));
}
