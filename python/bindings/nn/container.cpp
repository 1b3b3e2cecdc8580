#include <algorithm>
#include <set>

#include "hooks.h"
#include "nn/modules/norm.h"
#include "nn/walk.h"

namespace {

/** A module without options: it is made empty, and filled by an __init__ of its own. */
template <class M>
struct ContainerClass : py::class_<M, Module, PythonModule<M>, py::smart_holder> {
  ContainerClass(py::handle scope, const char* name, const char* documentation)
      : py::class_<M, Module, PythonModule<M>, py::smart_holder>(scope, name, documentation, plain_class(),
                                                                 py::custom_type_setup(&set_up_module)) {
    def_restoring<M>(*this);
  }

  /** `fill(self, given)`: puts in what the constructor's optional argument holds. */
  template <class Fill>
  void def_init(const char* argument, const Fill& fill) {
    this->def(
        "__init__",
        [fill](py::detail::value_and_holder& self, const py::object& given) {
          construct<M>(self);
          if (!given.is_none()) fill(object_in(self), given);
        },
        py::detail::is_new_style_constructor(), py::arg(argument) = py::none());
  }

  /** Methods that are those of the module's `entries`. */
  void def_from(const char* entries, std::initializer_list<const char*> methods) {
    for (const char* method : methods)
      this->def(method,
                [entries, method](const py::object& self, const py::args& args, const py::kwargs& kwargs)
                    -> py::object { return self.attr(entries).attr(method)(*args, **kwargs); });
  }
};

ModuleSequence& sequence_in(const py::object& self) {
  return dynamic_cast<ModuleSequence&>(self.cast<Module&>());
}

/** The index in Python's sense, of the type that C++ takes. Throws IndexError where it is none. */
std::int64_t index_of(const py::object& index) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(index.ptr()));
  if (!number) throw py::error_already_set();
  return number.cast<std::int64_t>();
}

/** The entries at the places of a slice. */
NamedObjects sliced(const NamedObjects& entries, const py::slice& slice) {
  std::size_t start = 0, stop = 0, step = 0, count = 0;
  if (!slice.compute(entries.size(), &start, &stop, &step, &count)) throw py::error_already_set();
  NamedObjects chosen;
  for (std::size_t i = 0; i < count; ++i, start += step) chosen.push_back(entries[start]);
  return chosen;
}

py::list without_names(const NamedObjects& children) {
  py::list all;
  for (const auto& [name, child] : children) all.append(child);
  return all;
}

void append(const py::object& self, const py::object& module) {
  add_child(self, std::to_string(sequence_in(self).size()), module);
}

void extend(const py::object& self, const py::object& modules) {
  for (const py::handle module : py::list(modules))  // a list of its own: it may be self
    append(self, py::reinterpret_borrow<py::object>(module));
}

void erase(const py::object& self, const py::object& index) {
  auto& sequence = sequence_in(self);
  if (py::isinstance<py::slice>(index)) {
    std::set<std::string> dropped;
    for (const auto& [name, child] : sliced(entries_of(self), index)) dropped.insert(name);
    ModulePointers kept;
    for (const auto& [name, child] : sequence.own_modules())
      if (!dropped.count(name)) kept.push_back(child);
    sequence.assign(kept);
  } else {
    sequence.erase(index_of(index));
  }
  drop_halves(self);
}

/** The list manners that Sequential and ModuleList share. `from_children(self, children)`: another of its
 * kind. */
template <class M, class FromChildren>
void def_sequence(ContainerClass<M>& container, const FromChildren& from_children) {
  container.def("__len__", &M::size)
      .def("__iter__", [](const py::object& self) { return py::iter(without_names(entries_of(self))); })
      .def(
          "__getitem__",
          [from_children](const py::object& self, const py::object& index) -> py::object {
            if (py::isinstance<py::slice>(index)) return from_children(self, sliced(entries_of(self), index));
            return python_half(self, self.cast<const M&>().at(index_of(index)));
          },
          py::arg("index"))
      .def(
          "__setitem__",
          [](const py::object& self, const py::object& index, const py::object& module) {
            adopt(self, module,
                  [&](const std::shared_ptr<Module>& child) { self.cast<M&>().set(index_of(index), child); });
          },
          py::arg("index"), py::arg("module"))
      .def("__delitem__", &erase, py::arg("index"))
      .def(
          "append",
          [](const py::object& self, const py::object& module) {
            append(self, module);
            return self;
          },
          py::arg("module"), "Adds a module at the end, under the next number.")
      .def(
          "pop",
          [](const py::object& self, const py::object& index) {
            const py::object taken = self.attr("__getitem__")(index);
            erase(self, index);
            return taken;
          },
          py::arg("index") = -1, "Takes the module at index out and returns it.");
  container.def(
      "extend",
      [](const py::object& self, const py::object& modules) {
        extend(self, modules);
        return self;
      },
      py::arg("modules"), "Adds modules at the end.");
}

void insert(const py::object& self, std::int64_t index, const py::object& module) {
  adopt(self, module, [&](const std::shared_ptr<Module>& child) { sequence_in(self).insert(index, child); });
}

/** The empty `sum` with the modules of both. */
py::object joined(const py::object& sum, const py::object& first, const py::object& second) {
  extend(sum, first);
  extend(sum, second);
  return sum;
}

/** Sequential's arithmetic: with Sequentials alone, and with counts. */
void def_sums(ContainerClass<Sequential>& sequential) {
  const auto require_sequential = [](const py::object& other) {
    if (!py::isinstance<Sequential>(other))
      throw ocl::ValueError(dlprim::concat("add operator supports only objects of Sequential class, but ",
                                           py::str(py::type::of(other)).cast<std::string>(), " is given."));
  };
  const auto repeated = [](const py::object& onto, const py::object& self, std::int64_t count) {
    dlprim::require(count > 0, "Sequential can only be multiplied by a positive number, got ", count);
    const py::list modules = without_names(entries_of(self));
    for (std::int64_t i = onto.is(self) ? 1 : 0; i < count; ++i) extend(onto, modules);
    return onto;
  };
  sequential
      .def("__add__",
           [require_sequential](const py::object& self, const py::object& other) {
             require_sequential(other);
             return joined(py::type::of<Sequential>()(), self, other);
           })
      .def("__iadd__",
           [require_sequential](const py::object& self, const py::object& other) {
             require_sequential(other);
             extend(self, other);
             return self;
           })
      .def("__imul__",
           [repeated](const py::object& self, std::int64_t count) { return repeated(self, self, count); });
  for (const char* name : {"__mul__", "__rmul__"})
    sequential.def(name, [repeated](const py::object& self, std::int64_t count) {
      return repeated(py::type::of<Sequential>()(), self, count);
    });
}

/** Puts what both modules, called one after another, make of `input` in its place where that is one operator;
 * else returns false. */
bool run_as_one(const py::object& norm, const py::object& activation, py::object& input) {
  using ocl::nn::Module;
  if (!py::isinstance<Module>(norm) || !py::isinstance<Module>(activation) ||
      !py::type::of(input).is(py::type::of<Tensor>()))
    return false;
  auto &first = norm.cast<Module&>(), &second = activation.cast<Module&>();
  if (!ocl::nn::runs_as_one(first, second, false) || !has_bound_forward(norm) ||
      !has_bound_forward(activation))
    return false;
  const Tensor x = input.cast<Tensor>();
  Tensor y;
  {
    const PythonUnlocked unlocked;
    y = ocl::nn::norm_then(first, x, second);
  }
  input = py::cast(y);
  return true;
}

void bind_sequences(py::module_& m) {
  ContainerClass<Sequential> sequential(
      m, "Sequential",
      "Each module's output is the next one's input. Takes modules one by one, or an OrderedDict of names "
      "and modules; slices are Sequentials too.");
  sequential.def(
      "__init__",
      [](py::detail::value_and_holder& self, const py::args& modules) {
        construct<Sequential>(self);
        const py::object object = object_in(self);
        if (modules.size() != 1 || !PyDict_Check(modules[0].ptr())) return extend(object, modules);
        for (const py::handle item : modules[0].attr("items")()) {
          const auto pair = item.cast<py::tuple>();
          add_child(object, py::str(pair[0]).cast<std::string>(), pair[1]);
        }
      },
      py::detail::is_new_style_constructor());
  def_sequence(sequential, [](const py::object& self, const NamedObjects& children) {
    py::dict named;
    for (const auto& [name, child] : children) named[py::str(name)] = child;
    return py::type::of(self)(named);
  });
  def_sums(sequential);
  sequential
      .def(
          "insert",
          [](const py::object& self, const py::object& index, const py::object& module) {
            insert(self, index_of(index), module);
            return self;
          },
          py::arg("index"), py::arg("module"),
          "Puts a module before the one at index; all are numbered anew.")
      .def(
          "forward",
          [](const py::object& self, py::object input) {
            const NamedObjects children = entries_of(self);
            for (std::size_t i = 0; i < children.size(); ++i)
              if (i + 1 < children.size() && run_as_one(children[i].second, children[i + 1].second, input))
                ++i;
              else
                input = children[i].second(input);
            return input;
          },
          py::arg("input"));
  ContainerClass<ModuleList> list(m, "ModuleList", "Modules by number, which the owner calls as it likes.");
  list.def_init("modules", &extend);
  def_sequence(list, [](const py::object& self, const NamedObjects& children) {
    return py::type::of(self)(without_names(children));
  });
  list.def("__repr__",
           [](const py::object& self) {
             const WalkLevel level(self.cast<const Module&>());
             std::vector<std::string> texts;
             for (auto& [name, text] : texts_of(entries_of(self))) texts.push_back(std::move(text));
             return module_list_repr(class_name(self), texts);
           })
      .def(
          "insert",
          [](const py::object& self, const py::object& index, const py::object& module) {
            const auto size = static_cast<std::int64_t>(sequence_in(self).size());
            const std::int64_t place = index_of(index);  // as Python's lists take it
            insert(self, std::min(std::max(place < 0 ? place + size : place, std::int64_t{0}), size), module);
          },
          py::arg("index"), py::arg("module"), "Puts a module before the one at index.")
      .def("__iadd__", [](const py::object& self, const py::object& modules) {
        extend(self, modules);
        return self;
      });
  list.def("__add__", [](const py::object& self, const py::object& other) {
    return joined(py::type::of(self)(), self, other);
  });
}

void append_parameters(const py::object& self, const py::object& values) {
  auto& parameters = self.cast<ParameterList&>();
  for (const py::handle value : py::list(values)) {
    Tensor tensor;
    PythonOption<Tensor>::take(tensor, value, "an element of a ParameterList");
    dlprim::require<ocl::TypeError>(tensor.defined(), "a ParameterList holds tensors, got None");
    parameters.append(tensor);
  }
}

void bind_parameter_list(py::module_& m) {
  ContainerClass<ParameterList> list(m, "ParameterList",
                                     "Parameters by number; a tensor that is none yet becomes one.");
  list.def_init("values", &append_parameters);
  list.def("__len__", &ParameterList::size)
      .def(
          "__iter__",
          [](const py::object& self) { return self.attr("_parameters").attr("values")().attr("__iter__")(); })
      .def(
          "__getitem__",
          [](const py::object& self, const py::object& index) -> py::object {
            if (!py::isinstance<py::slice>(index))
              return py::cast(self.cast<const ParameterList&>().at(index_of(index)));
            return py::type::of(self)(py::list(self)[index]);
          },
          py::arg("index"))
      .def(
          "__setitem__",
          [](ParameterList& self, const py::object& index, const Tensor& value) {
            self.set(index_of(index), value);
          },
          py::arg("index"), py::arg("value"))
      .def(
          "append",
          [](const py::object& self, const Tensor& value) {
            self.cast<ParameterList&>().append(value);
            return self;
          },
          py::arg("value"), "Adds a parameter at the end.");
  for (const char* name : {"extend", "__iadd__"})
    list.def(
        name,
        [](const py::object& self, const py::object& values) {
          append_parameters(self, values);
          return self;
        },
        py::arg("values"), "Adds parameters at the end.");
}

/** A container by name is what its entries are. `given(values)`: what it is filled with, in which order. */
template <class M, class Given>
void bind_dict(py::module_& m, const char* name, const char* documentation, const char* argument,
               const char* entries, const Given& given) {
  ContainerClass<M> container(m, name, documentation);
  const auto update = [entries, given](const py::object& self, const py::object& values) {
    self.attr(entries).attr("update")(given(values));
  };
  container.def_init(argument, update);
  container.def("update", update, py::arg(argument));
  container.def_from(
      entries, {"__len__", "__iter__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "keys",
                "values", "items", "pop", "clear", "get", "setdefault", "popitem", "__reversed__"});
}

/** Fills a ParameterDict like PyTorch: with the entries of a plain dict by their names. */
py::object by_name_if_plain(const py::object& values) {
  const auto is_a = [&](const py::object& kind) { return py::isinstance(values, kind); };
  const py::module_ collections = py::module_::import("collections");
  if (!is_a(collections.attr("abc").attr("Mapping")) || is_a(collections.attr("OrderedDict"))) return values;
  const py::object name = py::module_::import("operator").attr("itemgetter")(0);
  return py::module_::import("builtins").attr("sorted")(values.attr("items")(), py::arg("key") = name);
}

}  // namespace

void bind_container_modules(py::module_& m) {
  bind_sequences(m);
  bind_parameter_list(m);
  bind_dict<ModuleDict>(m, "ModuleDict", "Modules by name, in the order in which they were added.", "modules",
                        "_modules", [](const py::object& modules) { return modules; });
  bind_dict<ParameterDict>(m, "ParameterDict", "Parameters by name; a tensor that is none yet becomes one.",
                           "parameters", "_parameters", &by_name_if_plain);
}
