#include "halves.h"

#include <set>

#include "nn/layer.h"
#include "nn/walk.h"

using ocl::nn::Module;

namespace {

py::dict python_halves(const py::object& self) {
  return self.attr("__dict__").attr("setdefault")("_python_halves", py::dict());
}

py::int_ key_of(const Module* module) {
  return reinterpret_cast<std::uintptr_t>(module);
}

}  // namespace

std::string class_name(const py::handle& object) {
  return py::type::of(object).attr("__name__").cast<std::string>();
}

PyTypeObject* bound_class(const py::handle& module) {
  return py::detail::all_type_info(Py_TYPE(module.ptr())).front()->type;
}

bool is_constructed(const py::handle& module) {
  return reinterpret_cast<py::detail::instance*>(module.ptr())->get_value_and_holder().holder_constructed();
}

void require_constructed(const py::handle& object) {
  static PyTypeObject* const module =
      reinterpret_cast<PyTypeObject*>(py::detail::get_type_handle(typeid(Module), true).ptr());
  if (PyObject_TypeCheck(object.ptr(), module) && !is_constructed(object))
    throw ocl::nn::AttributeError(dlprim::concat("'", class_name(object),
                                                 "' object was used before Module.__init__() had run; begin "
                                                 "__init__ with super().__init__()"));
}

py::object python_half(const py::object& parent, const std::shared_ptr<Module>& child) {
  if (!child) return py::none();
  const py::dict halves = python_halves(parent);
  const py::int_ key = key_of(child.get());
  if (halves.contains(key)) return halves[key];
  py::object half = py::cast(child);
  halves[key] = half;
  return half;
}

NamedObjects entries_of(const py::object& module) {
  NamedObjects entries;
  for (const auto& [name, child] : module.cast<const Module&>().own_modules())
    entries.emplace_back(name, python_half(module, child));
  return entries;
}

NamedObjects children_of(const py::object& module) {
  NamedObjects children;
  for (auto& [name, child] : entries_of(module))
    if (!child.is_none()) children.emplace_back(name, std::move(child));
  return children;
}

NamedObjects distinct_children(const py::object& module) {
  return ocl::nn::distinct(children_of(module), [](const py::object& child) { return child.ptr(); });
}

std::vector<std::pair<std::string, std::string>> texts_of(const NamedObjects& modules) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, module] : modules) texts.emplace_back(name, py::repr(module));
  return texts;
}

void adopt(const py::object& self, const py::object& child,
           const std::function<void(const std::shared_ptr<Module>&)>& take) {
  if (child.is_none()) {
    take(nullptr);
  } else {
    if (!py::isinstance<Module>(child)) throw ocl::TypeError(class_name(child) + " is not a Module subclass");
    const Module* address = &child.cast<const Module&>();
    take(py::potentially_slicing_weak_ptr<Module>(child).lock());
    python_halves(self)[key_of(address)] = child;
  }
  drop_halves(self);
}

void add_child(const py::object& self, const std::string& name, const py::object& child) {
  adopt(self, child,
        [&](const std::shared_ptr<Module>& module) { self.cast<Module&>().register_module(name, module); });
  self.attr("__dict__")
      .attr("pop")(name, py::none());  // a plain attribute of that name would hide the submodule
}

void drop_halves(const py::object& self) {
  if (!self.attr("__dict__").contains("_python_halves")) return;
  std::set<std::uintptr_t> kept;
  for (const auto& [name, child] : self.cast<const Module&>().named_children())
    kept.insert(reinterpret_cast<std::uintptr_t>(child.get()));
  const py::dict halves = python_halves(self);
  if (halves.size() == kept.size()) return;
  std::vector<py::object> dropped;
  for (const auto& [key, half] : halves)
    if (!kept.count(key.cast<std::uintptr_t>())) dropped.push_back(py::reinterpret_borrow<py::object>(key));
  for (const py::object& key : dropped) halves.attr("pop")(key, py::none());  // a __del__ may have been first
}

py::object half_of(const Module& module) {
  return py::cast(const_cast<Module*>(&module), py::return_value_policy::reference);
}

std::shared_ptr<Module> deep_copy(const Module& module) {
  const PythonLocked locked;
  const ocl::nn::FactoryScope plain(std::nullopt);  // a copy's own code may make tensors
  return py::module_::import("copy").attr("deepcopy")(half_of(module)).cast<std::shared_ptr<Module>>();
}
