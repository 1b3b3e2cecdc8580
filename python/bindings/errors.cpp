#include "casters.h"

namespace {

// Python's own word where it has one; the device's errors get classes of their own.
void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const ocl::ValueError& e) {
    py::set_error(PyExc_ValueError, e.what());
  } catch (const ocl::TypeError& e) {
    py::set_error(PyExc_TypeError, e.what());
  } catch (const ocl::IndexError& e) {
    py::set_error(PyExc_IndexError, e.what());
  } catch (const ocl::AutogradError& e) {
    py::set_error(PyExc_RuntimeError, e.what());
  } catch (const ocl::FileError& e) {
    py::set_error(PyExc_OSError, e.what());
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  static py::exception<ocl::DeviceError> device_error(m, "DeviceError", PyExc_RuntimeError);
  device_error.doc() = "No such device, no OpenCL platform, or a failing OpenCL call.";
  static py::exception<ocl::OutOfMemoryError> out_of_memory(m, "OutOfMemoryError", device_error);
  out_of_memory.doc() = "The device has no room for a request, even with the cache freed.";
  static py::exception<ocl::KernelBuildError> build_error(m, "KernelBuildError", device_error);
  build_error.doc() = "A kernel that does not compile on the device; the message holds the build log.";
  py::register_exception_translator(translate);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ocl::OutOfMemoryError& e) {
      py::set_error(out_of_memory, e.what());
    } catch (const ocl::KernelBuildError& e) {
      py::set_error(build_error, e.what());
    } catch (const ocl::DeviceError& e) {
      py::set_error(device_error, e.what());
    }
  });
}
