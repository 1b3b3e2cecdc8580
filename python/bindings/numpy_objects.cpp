#include "numpy_objects.h"

namespace {

PyObject* generic = nullptr;  // the class of NumPy's scalars, once all is there; under Python's lock

/** Whether there can be objects of NumPy's. */
bool is_there() {
  if (generic) return true;
  const PyObject* found = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  if (!found || found == Py_None) return false;
  import_numpy();
  return true;
}

}  // namespace

void import_numpy() {
  if (generic) return;
  const PythonLocked locked;  // the interpreter's end waits for it
  const py::object scalars = py::module_::import("numpy").attr("generic");
  py::detail::npy_api::get();
  if (!generic) generic = scalars.inc_ref().ptr();  // for good, as the module is
}

py::module_ numpy() {
  import_numpy();
  return py::module_::import("numpy");
}

bool is_numpy_array(PyObject* object) {
  return is_there() && py::array::check_(object);
}

bool is_numpy_scalar(py::handle object) {
  return is_there() && py::isinstance(object, generic);
}
