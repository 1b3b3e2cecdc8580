#include "casters.h"
#include "dispatch.h"
#include "models/models.h"
#include "python/exchange.h"

void bind_amp(py::module_& m);

PYBIND11_MODULE(_C, m) {
  m.doc() = "TapeCL's C++ library, as the package ocl uses it.";
  dlprim::python::meet();
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
  replace_dispatcher(m);
}
