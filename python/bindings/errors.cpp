#include <chrono>
#include <thread>

#include "casters.h"
#include "dlprim/io/file.h"

namespace {

// Our own class for an argument that is wrong: Python's own word for it, and what PyTorch raises for most of
// them, RuntimeError or its child NotImplementedError.
PyObject* argument_error(py::module_& m, const char* name, PyObject* base, PyObject* second,
                         const char* doc) {
  const py::tuple bases = py::make_tuple(py::handle(base), py::handle(second));
  PyObject* made =
      PyErr_NewExceptionWithDoc(("ocl._C." + std::string(name)).c_str(), doc, bases.ptr(), nullptr);
  if (!made) throw py::error_already_set();
  m.add_object(name, py::handle(made));
  return made;
}

// File names may be in any encoding.
py::object file_text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<py::ssize_t>(text.size())));
}

PyObject *value_error, *type_error, *index_error, *division_error;

// After Ctrl-C the user wants to be out, and it may be what made the call fail.
void set_error_unless_interrupted(py::handle type, const std::exception& e) {
  if (PyErr_CheckSignals() == 0) py::set_error(type, e.what());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const ocl::ValueError& e) {
    set_error_unless_interrupted(value_error, e);
  } catch (const ocl::TypeError& e) {
    set_error_unless_interrupted(type_error, e);
  } catch (const ocl::IndexError& e) {
    set_error_unless_interrupted(index_error, e);
  } catch (const ocl::ZeroDivisionError& e) {
    set_error_unless_interrupted(division_error, e);
  } catch (const ocl::AutogradError& e) {
    set_error_unless_interrupted(PyExc_RuntimeError, e);
  } catch (const dlprim::io::SystemError& e) {  // OSError makes its child for the number
    PyErr_SetObject(PyExc_OSError,
                    py::make_tuple(e.number, file_text(e.reason), file_text(e.path.string())).ptr());
  } catch (const ocl::FileError& e) {
    PyErr_SetObject(PyExc_OSError, file_text(e.what()).ptr());
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  value_error = argument_error(m, "ArgumentValueError", PyExc_ValueError, PyExc_RuntimeError,
                               "A shape or a value that does not fit; a ValueError and a RuntimeError.");
  type_error = argument_error(
      m, "ArgumentTypeError", PyExc_TypeError, PyExc_NotImplementedError,
      "A dtype that an operator does not take; a TypeError and a NotImplementedError (a RuntimeError).");
  index_error = argument_error(m, "ArgumentIndexError", PyExc_IndexError, PyExc_RuntimeError,
                               "A dimension or an index out of range; an IndexError and a RuntimeError.");
  division_error = argument_error(m, "ArgumentZeroDivisionError", PyExc_ZeroDivisionError, PyExc_RuntimeError,
                                  "A whole number divided by zero; a ZeroDivisionError and a RuntimeError.");
  // Never destroyed: a process may exit without Python, as a child that was forked in a thread does.
  static auto& device_error = *new py::exception<ocl::DeviceError>(m, "DeviceError", PyExc_RuntimeError);
  device_error.doc() = "No such device, no OpenCL platform, or a failing OpenCL call.";
  static auto& out_of_memory = *new py::exception<ocl::OutOfMemoryError>(m, "OutOfMemoryError", device_error);
  out_of_memory.doc() = "The device has no room for a request, even with the cache freed.";
  static auto& build_error = *new py::exception<ocl::KernelBuildError>(m, "KernelBuildError", device_error);
  build_error.doc() = "A kernel that does not compile on the device; the message holds the build log.";
  py::register_exception_translator(translate);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ocl::OutOfMemoryError& e) {
      set_error_unless_interrupted(out_of_memory, e);
    } catch (const ocl::KernelBuildError& e) {
      // LLVM handles the signal first, and removes its files, on any thread: Python learns of it a little
      // later.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      set_error_unless_interrupted(build_error, e);
    } catch (const ocl::DeviceError& e) {
      set_error_unless_interrupted(device_error, e);
    }
  });
}
