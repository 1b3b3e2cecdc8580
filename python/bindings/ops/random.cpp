#include <cstring>
#include "autograd/autograd.h"
#include "autograd/ops/dropout.h"

#include "operator_binder.h"

using ocl::DType;
using ocl::Generator;
using ocl::Operand;
using ocl::Shape;
using ocl::Tensor;

namespace {

using OptionalDevice = std::optional<ocl::Device>;
using OptionalDType = std::optional<DType>;

/** NAME(*sizes, size=None, generator=None, dtype=None, device=None, requires_grad=False) and NAME_like(input,
 * ...). */
void bind_sized(const OperatorBinder& bind, const char* name, const char* name_like,
                decltype(&ocl::signatures::randn) draw) {
  bind.module().def(
      name,
      [draw](const py::args& sizes, const std::optional<Shape>& size, Generator* generator,
             const OptionalDType& dtype, const OptionalDevice& device, bool requires_grad) {
        return draw(shape_of(sizes, size), dtype.value_or(DType::float32), device_or_default(device),
                    generator)
            .requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("size") = py::none(), py::arg("generator") = py::none(),
      py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false,
      OperatorBinder::doc(name));
  bind.function(
      name_like,
      [draw](const Tensor& input, const OptionalDType& dtype, const OptionalDevice& device,
             bool requires_grad, const OptionalFormat& format) {
        const Tensor drawn = draw(input.shape().vector(), dtype.value_or(input.dtype()),
                                  device.value_or(input.device()), nullptr);
        // Any order of the numbers is as random.
        dlprim::Tensor in_format = drawn.data();
        in_format.strides = dlprim::strides_like(input.data(), kept_or(format));
        return Tensor(in_format).requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false, py::arg("memory_format") = py::none());
}

void bind_integers(const OperatorBinder& bind) {
  const auto randint = [](std::int64_t low, std::int64_t high, const Shape& size, Generator* generator,
                          const OptionalDType& dtype, const OptionalDevice& device, bool requires_grad) {
    return ocl::randint(low, high, size, dtype.value_or(DType::int64), device_or_default(device), generator)
        .requires_grad_(requires_grad);
  };
  bind.free(
      "randint",
      [randint](std::int64_t high, const Shape& size, Generator* generator, const OptionalDType& dtype,
                const OptionalDevice& device, bool requires_grad) {
        return randint(0, high, size, generator, dtype, device, requires_grad);
      },
      py::arg("high"), py::arg("size"), py::kw_only(), py::arg("generator") = py::none(),
      py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  bind.free("randint", randint, py::arg("low"), py::arg("high"), py::arg("size"), py::kw_only(),
            py::arg("generator") = py::none(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
            py::arg("requires_grad") = false);
  const auto randint_like = [](const Tensor& input, std::int64_t low, std::int64_t high,
                               const OptionalDType& dtype, const OptionalDevice& device) {
    return ocl::randint(low, high, input.shape().vector(), dtype.value_or(input.dtype()),
                        device.value_or(input.device()));
  };
  bind.function(
      "randint_like",
      [randint_like](const Tensor& input, std::int64_t high, const OptionalDType& dtype,
                     const OptionalDevice& device) { return randint_like(input, 0, high, dtype, device); },
      py::arg("high"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none());
  bind.function("randint_like", randint_like, py::arg("low"), py::arg("high"), py::kw_only(),
                py::arg("dtype") = py::none(), py::arg("device") = py::none());
  bind.free(
      "randperm",
      [](std::int64_t n, Generator* generator, const OptionalDType& dtype, const OptionalDevice& device) {
        return ocl::randperm(n, dtype.value_or(DType::int64), device_or_default(device), generator);
      },
      py::arg("n"), py::kw_only(), py::arg("generator") = py::none(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none());
}

void bind_distributions(const OperatorBinder& bind) {
  bind.free(
      "normal",
      [](double mean, double std, const Shape& size, Generator* generator, const OptionalDType& dtype,
         const OptionalDevice& device, bool requires_grad) {
        return ocl::normal(mean, std, size, dtype.value_or(DType::float32), device_or_default(device),
                           generator)
            .requires_grad_(requires_grad);
      },
      py::arg("mean"), py::arg("std"), py::arg("size"), py::kw_only(), py::arg("generator") = py::none(),
      py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  bind.free(
      "normal",
      [](const Operand& mean, const Operand& std, Generator* generator) {
        return ocl::normal(mean, std, generator);
      },
      py::arg("mean") = 0.0, py::arg("std") = 1.0, py::kw_only(), py::arg("generator") = py::none());
  const auto bernoulli = [](const Tensor& input, const std::optional<double>& p, Generator* generator) {
    return p ? ocl::bernoulli(input, *p, generator) : ocl::bernoulli(input, generator);
  };
  bind.both("bernoulli", bernoulli, py::arg("p") = py::none(), py::kw_only(),
            py::arg("generator") = py::none());
}

void bind_in_place(const OperatorBinder& bind) {
  bind.method(
      "uniform_",
      [](Tensor& t, double from, double to, Generator* g) -> Tensor& { return t.uniform_(from, to, g); },
      py::arg("from") = 0.0, py::arg("to") = 1.0, py::kw_only(), py::arg("generator") = py::none(), itself);
  bind.method(
      "normal_",
      [](Tensor& t, double mean, double std, Generator* g) -> Tensor& { return t.normal_(mean, std, g); },
      py::arg("mean") = 0.0, py::arg("std") = 1.0, py::kw_only(), py::arg("generator") = py::none(), itself);
  bind.method(
      "bernoulli_",
      [](Tensor& t, const Operand& p, Generator* g) -> Tensor& {
        if (!p.is_tensor()) return t.bernoulli_(p.number().real(), g);
        return t.copy_(ocl::bernoulli(ocl::expand(p.tensor().detach(), t.shape().vector()), g));
      },
      py::arg("p") = 0.5, py::kw_only(), py::arg("generator") = py::none(), itself);
  bind.method(
      "exponential_",
      [](Tensor& t, double lambd, Generator* g) -> Tensor& { return t.exponential_(lambd, g); },
      py::arg("lambd") = 1.0, py::kw_only(), py::arg("generator") = py::none(), itself);
  bind.method(
      "random_",
      [](Tensor& t, std::optional<std::int64_t> to, Generator* g) -> Tensor& {
        return t.random_(to ? std::optional<std::int64_t>(0) : std::nullopt, to, g);
      },
      py::arg("to") = py::none(), py::kw_only(), py::arg("generator") = py::none(), itself);
  bind.method(
      "random_",
      [](Tensor& t, std::int64_t from, std::optional<std::int64_t> to, Generator* g) -> Tensor& {
        return t.random_(from, to, g);
      },
      py::arg("from"), py::arg("to"), py::kw_only(), py::arg("generator") = py::none(), itself);
}

// A state is a uint8 tensor of 16 bytes: seed and counter.
Tensor state_tensor(const Generator& generator) {
  const dlprim::PhiloxState state = generator.state();
  return ocl::from_bytes(&state, {static_cast<std::int64_t>(sizeof state)}, DType::uint8);
}

void set_state(Generator& generator, const Tensor& tensor) {
  dlprim::PhiloxState state;
  dlprim::require<ocl::TypeError>(tensor.dtype() == DType::uint8, "set_state: expected a uint8 tensor, got ",
                                  name(tensor.dtype()));
  const std::vector<char> bytes = tensor.to_bytes();
  dlprim::require(bytes.size() == sizeof state, "set_state: expected ", sizeof state, " bytes, got ",
                  bytes.size());
  std::memcpy(&state, bytes.data(), sizeof state);
  generator.set_state(state);
}

std::uint64_t seed_of(const py::int_& seed) {
  return PyLong_AsUnsignedLongLongMask(seed.ptr());  // negative seeds count from 2^64 down
}

}  // namespace

void bind_generator(py::module_& m) {
  py::class_<Generator>(
      m, "Generator",
      "A stream of random numbers of its own; every random function takes one as generator=. Its "
      "numbers are the same on every device.")
      .def(py::init([](const OptionalDevice&) { return std::make_unique<Generator>(); }),
           py::arg("device") = py::none())
      .def(
          "manual_seed",
          [](Generator& g, const py::int_& seed) -> Generator& {
            g.manual_seed(seed_of(seed));
            return g;
          },
          py::arg("seed"), itself, "Starts the stream of that seed.")
      .def("seed", &Generator::seed, "Starts the stream of a seed that differs every time; returns the seed.")
      .def("initial_seed", &Generator::initial_seed)
      .def("get_state", &state_tensor, WithoutLock(), "Where the stream stands, as a uint8 tensor.")
      .def("set_state", &set_state, py::arg("new_state"), WithoutLock(),
           "Goes on where get_state was called.");
  m.def(
      "get_rng_state",
      [](const OptionalDevice& device) {
        return state_tensor(ocl::default_generator(device_or_default(device)));
      },
      py::arg("device") = py::none(), "The state of a device's default generator.");
  m.def(
      "set_rng_state",
      [](const Tensor& state, const OptionalDevice& device) {
        set_state(ocl::default_generator(device_or_default(device)), state);
      },
      py::arg("new_state"), py::arg("device") = py::none(),
      "Sets the state of a device's default generator.");
}

void bind_random(const OperatorBinder& bind) {
  bind_sized(bind, "rand", "rand_like", &ocl::rand);
  bind_sized(bind, "randn", "randn_like", &ocl::randn);
  bind_integers(bind);
  bind_distributions(bind);
  bind_in_place(bind);
  bind.function(
      "dropout",
      [](Tensor& input, double p, bool training, bool inplace) {
        return inplace ? ocl::dropout_(input, p, training) : ocl::dropout(input, p, training);
      },
      py::arg("p") = 0.5, py::arg("training") = true, py::arg("inplace") = false);
}
