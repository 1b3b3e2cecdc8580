#include "casters.h"
#include "dlprim/ops/reduce/reduce.h"

using ocl::DType;
using ocl::Pair;
using ocl::Tensor;

namespace {

using OptionalDevice = std::optional<ocl::Device>;
using OptionalTensor = std::optional<Tensor>;
using ocl::Shape;

Tensor or_none(const OptionalTensor& t) {
  return t.value_or(Tensor());
}

template <class Make>
void bind_creation_of(py::module_& m, const char* name, const char* doc, const Make& make) {
  m.def(
      name,
      [make](const py::args& size, const std::optional<DType>& dtype, const OptionalDevice& device,
             bool requires_grad) {
        return make(shape_of(size), dtype.value_or(DType::float32), device_or_default(device))
            .requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false, doc);
}

void bind_creation(py::module_& m) {
  bind_creation_of(m, "empty", "Contents undefined.",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::empty(s, t, d); });
  bind_creation_of(m, "zeros", "Filled with 0.",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::zeros(s, t, d); });
  bind_creation_of(m, "ones", "Filled with 1.",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::ones(s, t, d); });
  bind_creation_of(m, "rand", "Uniform in [0, 1).",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::rand(s, t, d); });
  bind_creation_of(m, "randn", "Standard normal.",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::randn(s, t, d); });
  m.def(
      "full",
      [](const Shape& size, const ocl::Scalar& value, const std::optional<DType>& dtype,
         const OptionalDevice& device) {
        return ocl::full(size, value, dtype.value_or(value.dtype()), device_or_default(device));
      },
      py::arg("size"), py::arg("fill_value"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none());
  m.def(
      "randint",
      [](std::int64_t low, std::int64_t high, const Shape& size, const std::optional<DType>& dtype,
         const OptionalDevice& device) {
        return ocl::randint(low, high, size, dtype.value_or(DType::int64), device_or_default(device));
      },
      py::arg("low"), py::arg("high"), py::arg("size"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none());
  m.def("zeros_like", &ocl::zeros_like, py::arg("input"));
  m.def("ones_like", &ocl::ones_like, py::arg("input"));
}

void bind_reductions(py::module_& m, py::class_<Tensor>& tensor) {
#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc)                          \
  {                                                                                                     \
    const auto function = [](const Tensor& input, const DimArgument& dim, bool keepdim) {               \
      return ocl::name(input, dims_of(dim), keepdim);                                                   \
    };                                                                                                  \
    m.def(#name, function, py::arg("input"), py::arg("dim") = py::none(), py::arg("keepdim") = false,   \
          WithoutLock(), doc);                                                                          \
    tensor.def(#name, function, py::arg("dim") = py::none(), py::arg("keepdim") = false, WithoutLock(), \
               doc);                                                                                    \
  }
#include "dlprim/ops/reduce/table.def"
  m.def(
      "reduction_table",
      [] {
        py::list rows;
        for (const dlprim::ReductionOp& op : dlprim::reduction_table()) {
          py::dict row;
          row["name"] = op.name;
          row["map"] = op.map;
          row["combine"] = op.combine;
          row["finish"] = op.finish;
          row["gradient"] = op.gradient;
          row["documentation"] = op.documentation;
          rows.append(row);
        }
        return rows;
      },
      "The rows of the reduction table, as dicts.");
  const auto bind_arg = [&](const char* name, auto function) {
    m.def(name, function, py::arg("input"), py::arg("dim") = py::none(), py::arg("keepdim") = false,
          WithoutLock());
    tensor.def(name, function, py::arg("dim") = py::none(), py::arg("keepdim") = false, WithoutLock());
  };
  bind_arg("argmax", &ocl::argmax);
  bind_arg("argmin", &ocl::argmin);
}

void bind_views(py::module_& m, py::class_<Tensor>& tensor) {
  const auto both = [&](const char* name, auto function, const auto&... arguments) {
    m.def(name, function, py::arg("input"), arguments..., WithoutLock());
    tensor.def(name, function, arguments..., WithoutLock());
  };
  both("flatten", &ocl::flatten, py::arg("start_dim") = 0, py::arg("end_dim") = -1);
  both("transpose", &ocl::transpose, py::arg("dim0"), py::arg("dim1"));
  both("t", &ocl::t);
  both("squeeze", &ocl::squeeze, py::arg("dim") = py::none());
  both("unsqueeze", &ocl::unsqueeze, py::arg("dim"));
  both("narrow", &ocl::narrow, py::arg("dim"), py::arg("start"), py::arg("length"));
  both("select", &ocl::select, py::arg("dim"), py::arg("index"));
  both("clone", &ocl::clone);
  tensor.def("contiguous", &ocl::contiguous, WithoutLock());
  m.def("reshape", &ocl::reshape, py::arg("input"), py::arg("shape"), WithoutLock());
  m.def("permute", &ocl::permute, py::arg("input"), py::arg("dims"), WithoutLock());
  m.def("cat", &ocl::cat, py::arg("tensors"), py::arg("dim") = 0, WithoutLock());
  tensor.def("reshape",
             [](const Tensor& t, const py::args& shape) { return ocl::reshape(t, shape_of(shape)); });
  tensor.def("view", [](const Tensor& t, const py::args& shape) { return ocl::view(t, shape_of(shape)); });
  tensor.def("expand",
             [](const Tensor& t, const py::args& shape) { return ocl::expand(t, shape_of(shape)); });
  tensor.def("permute",
             [](const Tensor& t, const py::args& dims) { return ocl::permute(t, shape_of(dims)); });
  const auto converts = [&](const char* name, DType dtype) {
    tensor.def(
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

void bind_in_place(py::class_<Tensor>& tensor) {
  tensor
      .def(
          "add_",
          [](Tensor& t, const ocl::Operand& other, const ocl::Scalar& alpha) { return t.add_(other, alpha); },
          py::arg("other"), py::kw_only(), py::arg("alpha") = 1, WithoutLock())
      .def(
          "sub_", [](Tensor& t, const ocl::Operand& other) { return t.add_(other, -1); }, py::arg("other"),
          WithoutLock())
      .def(
          "mul_", [](Tensor& t, const ocl::Operand& other) { return t.mul_(other); }, py::arg("other"),
          WithoutLock())
      .def(
          "copy_", [](Tensor& t, const Tensor& source) { return t.copy_(source); }, py::arg("src"),
          WithoutLock())
      .def(
          "fill_", [](Tensor& t, const ocl::Scalar& value) { return t.fill_(value); }, py::arg("value"),
          WithoutLock())
      .def(
          "zero_", [](Tensor& t) { return t.zero_(); }, WithoutLock());
}

void bind_linalg(py::module_& m, py::class_<Tensor>& tensor) {
  m.def("mm", &ocl::mm, py::arg("input"), py::arg("mat2"), WithoutLock(), "Matrix product [M, K] x [K, N].");
  m.def("bmm", &ocl::bmm, py::arg("input"), py::arg("mat2"), WithoutLock(),
        "Batched matrix product [B, M, K] x [B, K, N].");
  m.def("matmul", &ocl::matmul, py::arg("input"), py::arg("other"), WithoutLock(),
        "torch.matmul, all broadcasting cases.");
  tensor.def("mm", &ocl::mm, py::arg("mat2"), WithoutLock())
      .def("bmm", &ocl::bmm, py::arg("mat2"), WithoutLock());
  tensor.def("matmul", &ocl::matmul, py::arg("other"), WithoutLock())
      .def("__matmul__", &ocl::matmul, py::is_operator(), WithoutLock());
  m.def(
      "linear",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
        return ocl::linear(input, weight, or_none(bias));
      },
      py::arg("input"), py::arg("weight"), py::arg("bias") = py::none(), WithoutLock());
}

void bind_nets(py::module_& m, py::class_<Tensor>& tensor) {
  m.def(
      "conv2d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Pair stride, Pair padding,
         Pair dilation,
         int groups) { return ocl::conv2d(input, weight, or_none(bias), stride, padding, dilation, groups); },
      py::arg("input"), py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = Pair(1),
      py::arg("padding") = Pair(0), py::arg("dilation") = Pair(1), py::arg("groups") = 1, WithoutLock(),
      "Input [N, C, H, W], weight [O, C / groups, KH, KW], bias [O] -> [N, O, OH, OW].");
  m.def(
      "max_pool2d",
      [](const Tensor& input, Pair kernel_size, const std::optional<Pair>& stride, Pair padding,
         Pair dilation, bool ceil_mode,
         bool return_indices) -> std::variant<Tensor, std::pair<Tensor, Tensor>> {
        if (!return_indices) return ocl::max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode);
        const ocl::TensorList both =
            ocl::max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode);
        return std::pair(both[0], both[1]);
      },
      py::arg("input"), py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = Pair(0),
      py::arg("dilation") = Pair(1), py::arg("ceil_mode") = false, py::arg("return_indices") = false,
      WithoutLock());
  m.def("avg_pool2d", &ocl::avg_pool2d, py::arg("input"), py::arg("kernel_size"),
        py::arg("stride") = py::none(), py::arg("padding") = Pair(0), py::arg("ceil_mode") = false,
        py::arg("count_include_pad") = true, py::arg("divisor_override") = py::none(), WithoutLock());
  m.def("adaptive_avg_pool2d", &ocl::adaptive_avg_pool2d, py::arg("input"), py::arg("output_size"),
        WithoutLock());
  m.def(
      "batch_norm",
      [](const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var,
         const OptionalTensor& weight, const OptionalTensor& bias, bool training, double momentum,
         double eps) {
        return ocl::batch_norm(input, or_none(running_mean), or_none(running_var), or_none(weight),
                               or_none(bias), training, momentum, eps);
      },
      py::arg("input"), py::arg("running_mean"), py::arg("running_var"), py::arg("weight") = py::none(),
      py::arg("bias") = py::none(), py::arg("training") = false, py::arg("momentum") = 0.1,
      py::arg("eps") = 1e-5, WithoutLock());
  m.def("dropout", &ocl::dropout, py::arg("input"), py::arg("p") = 0.5, py::arg("training") = true,
        WithoutLock());
  const auto along_dim = [&](const char* name, auto function) {
    m.def(name, function, py::arg("input"), py::arg("dim"), WithoutLock());
    tensor.def(name, function, py::arg("dim"), WithoutLock());
  };
  along_dim("softmax", &ocl::softmax);
  along_dim("log_softmax", &ocl::log_softmax);
}

void bind_losses(py::module_& m) {
  using ocl::Reduction;
  m.def(
      "nll_loss",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, std::int64_t ignore_index,
         Reduction reduction) {
        return ocl::nll_loss(input, target, or_none(weight), ignore_index, reduction);
      },
      py::arg("input"), py::arg("target"), py::arg("weight") = py::none(), py::arg("ignore_index") = -100,
      py::arg("reduction") = "mean", WithoutLock());
  m.def(
      "cross_entropy",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, std::int64_t ignore_index,
         Reduction reduction, double label_smoothing) {
        return ocl::cross_entropy(input, target, or_none(weight), ignore_index, reduction, label_smoothing);
      },
      py::arg("input"), py::arg("target"), py::arg("weight") = py::none(), py::arg("ignore_index") = -100,
      py::arg("reduction") = "mean", py::arg("label_smoothing") = 0.0, WithoutLock());
  m.def("mse_loss", &ocl::mse_loss, py::arg("input"), py::arg("target"), py::arg("reduction") = "mean",
        WithoutLock());
  m.def("l1_loss", &ocl::l1_loss, py::arg("input"), py::arg("target"), py::arg("reduction") = "mean",
        WithoutLock());
}

}  // namespace

void bind_functions(py::module_& m, py::class_<Tensor>& tensor) {
  bind_creation(m);
  bind_reductions(m, tensor);
  bind_views(m, tensor);
  bind_in_place(tensor);
  bind_linalg(m, tensor);
  bind_nets(m, tensor);
  bind_losses(m);
}
