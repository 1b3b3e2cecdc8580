#pragma once

#include "number_casters.h"

#include <optional>

namespace py = pybind11;

// Python's lock (GIL), let go and taken. Not by pybind11's own classes: a thread that asks for the lock while
// the interpreter shuts down is ended by Python in the midst of C++ frames, which aborts the process. Here it
// sleeps until the process is gone.

/** Lets the lock go for its scope. */
class PythonUnlocked {
 public:
  PythonUnlocked() : state_(PyEval_SaveThread()) {}
  ~PythonUnlocked();
  PythonUnlocked(const PythonUnlocked&) = delete;
  PythonUnlocked& operator=(const PythonUnlocked&) = delete;

 private:
  PyThreadState* state_;
};

/** Has the lock for its scope, in which C++ calls Python. The interpreter's end waits a while for its end. */
class PythonLocked {
 public:
  PythonLocked();
  ~PythonLocked();
  PythonLocked(const PythonLocked&) = delete;
  PythonLocked& operator=(const PythonLocked&) = delete;

 private:
  std::optional<py::gil_scoped_acquire> lock_;
};

/** Lets Python's lock go while a call runs: it may build a program or wait for the device. */
using WithoutLock = py::call_guard<PythonUnlocked>;

/** Registers with Python what is to be done when the interpreter ends. */
void guard_end_of_interpreter();
