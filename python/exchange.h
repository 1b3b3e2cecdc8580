#pragma once

#include <pybind11/pybind11.h>

#include "dlprim/core/dlpack.h"
#include "dlprim/runtime/copies.h"

/** \file What Python modules over dlprim have in common: one OpenCL context a device, and DLPack's capsules.
 */

namespace dlprim::python {

namespace py = pybind11;

/** Meets the other modules of this process that are of the same version of TapeCL. To be called as the module
 * is made, before it opens a device.
 */
inline void meet(const char* version) {
  constexpr const char* name = "tapecl.copies";
  const py::str key = concat(name, '.', version);
  const auto known = py::reinterpret_borrow<py::dict>(PyInterpreterState_GetDict(PyInterpreterState_Get()));
  const bool is_first = !known.contains(key);
  auto* met = is_first ? nullptr : known[key].cast<py::capsule>().get_pointer<copies::Meeting>();
  met = copies::join(met);
  if (is_first) known[key] = py::capsule(met, name);
}

template <class Struct>
constexpr const char* capsule_name =
    std::is_same_v<Struct, dlpack::ManagedVersioned> ? "dltensor_versioned" : "dltensor";
template <class Struct>
constexpr const char* used_name =
    std::is_same_v<Struct, dlpack::ManagedVersioned> ? "used_dltensor_versioned" : "used_dltensor";

template <class Struct>
py::object capsule_of(const dlpack::Elements& elements) {
  Struct* shown = dlpack::show<Struct>(elements);
  PyObject* capsule = PyCapsule_New(shown, capsule_name<Struct>, [](PyObject* self) {
    if (!PyCapsule_IsValid(self, capsule_name<Struct>)) return;  // taken
    auto* unused = static_cast<Struct*>(PyCapsule_GetPointer(self, capsule_name<Struct>));
    unused->deleter(unused);
  });
  if (!capsule) {
    shown->deleter(shown);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(capsule);
}

/** A capsule for __dlpack__(max_version=…). */
inline py::object capsule_of(const dlpack::Elements& elements, const py::object& max_version) {
  const bool is_versioned = !max_version.is_none() && py::tuple(max_version)[0].cast<int>() >= 1;
  return is_versioned ? capsule_of<dlpack::ManagedVersioned>(elements)
                      : capsule_of<dlpack::Managed>(elements);
}

/** The content of a capsule, if it is a fresh one of that kind. */
template <class Struct>
Struct* shown_by(const py::handle& capsule) {
  const bool is_fresh = PyCapsule_IsValid(capsule.ptr(), capsule_name<Struct>);
  return is_fresh ? static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name<Struct>)) : nullptr;
}

/** Whether the capsule is a fresh one of memory of OpenCL's. */
inline bool shows_opencl(const py::handle& capsule) {
  const auto is_opencl = [](auto* shown) {
    return shown && shown->tensor.device_type == dlpack::device_type_opencl;
  };
  return is_opencl(shown_by<dlpack::Managed>(capsule)) ||
         is_opencl(shown_by<dlpack::ManagedVersioned>(capsule));
}

/** Takes what a capsule shows. */
inline dlpack::Elements take_from(const py::handle& capsule) {
  const auto take = [&](auto* shown) {
    const dlpack::Elements elements = dlpack::take(shown);
    PyCapsule_SetName(capsule.ptr(), used_name<std::remove_pointer_t<decltype(shown)>>);
    return elements;
  };
  if (auto* versioned = shown_by<dlpack::ManagedVersioned>(capsule)) {
    require(versioned->major == 1, "from_dlpack: expected DLPack of version 1, got ", versioned->major);
    return take(versioned);
  }
  auto* shown = shown_by<dlpack::Managed>(capsule);
  require(shown, "from_dlpack: expected a capsule that nobody has taken yet");
  return take(shown);
}

}  // namespace dlprim::python
