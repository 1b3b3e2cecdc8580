#include "casters.h"
#include "dispatch.h"
#include "distributed/distributed.h"
#include "models/models.h"
#include "python/exchange.h"

void bind_amp(py::module_& m);
void bind_export(py::module_& m);
void bind_quantization(py::module_& m);

PYBIND11_MODULE(_C, m) {
  m.doc() = "TapeCL's C++ library, as the package ocl uses it.";
  m.def("_version", [] { return TAPECL_VERSION; });
  dlprim::python::meet(TAPECL_VERSION);
  guard_end_of_interpreter();
  bind_errors(m);
  bind_device(m);
  bind_tensor(m);
  bind_pinned(m);
  bind_nn(m);
  bind_models(m);
  bind_optim(m);
  bind_amp(m);
  bind_data(m);
  bind_export(m);
  bind_quantization(m);
  bind_distributed(m);
  replace_dispatcher(m);
}
