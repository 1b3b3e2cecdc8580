#pragma once

#include <functional>
#include <memory>

#include "python_lock.h"

/** A Python function as C++ keeps it: copied, dropped and called with Python's lock or without. */
template <class Return, class... Args>
class Callback {
 public:
  explicit Callback(py::handle function)
      : function_(function.inc_ref().ptr(), [](PyObject* held) {
          const PythonLocked locked;
          Py_DECREF(held);
        }) {}

  Return operator()(Args... args) const {
    const PythonLocked locked;
    return py::handle(function_.get())(std::forward<Args>(args)...).template cast<Return>();
  }

 private:
  std::shared_ptr<PyObject> function_;
};

namespace pybind11::detail {

/** In place of pybind11/functional.h, which takes Python's lock without regard to the interpreter's end. */
template <class Return, class... Args>
struct type_caster<std::function<Return(Args...)>> {
  PYBIND11_TYPE_CASTER(
      std::function<Return(Args...)>,
      const_name("collections.abc.Callable[[") +
          ::pybind11::detail::concat(::pybind11::detail::inv_descr(make_caster<Args>::name)...) +
          const_name("], ") + make_caster<Return>::name + const_name("]"));

  bool load(handle source, bool) {
    if (!isinstance<function>(source)) return false;
    value = Callback<Return, Args...>(source);
    return true;
  }
};

}  // namespace pybind11::detail
