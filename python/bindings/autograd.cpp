#include "autograd/autograd.h"
#include "autograd/tape/node_hooks.h"
#include "autograd/tape/node_name.h"
#include "autograd/tape/saved_tensor_hooks.h"
#include "casters.h"
#include "collector.h"
#include "node_object.h"
#include "shown.h"

using ocl::Tensor;
using ocl::TensorList;

namespace {

using OptionalTensors = std::vector<std::optional<Tensor>>;

TensorList undefined_for_none(const OptionalTensors& tensors) {
  TensorList result;
  for (const std::optional<Tensor>& tensor : tensors) result.push_back(tensor.value_or(Tensor()));
  return result;
}

OptionalTensors none_for_undefined(const TensorList& tensors) {
  OptionalTensors result;
  for (const Tensor& tensor : tensors)
    result.push_back(tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt);
  return result;
}

void bind_walks(py::module_& m) {
  m.def(
      "backward",
      [](const TensorList& tensors, const OptionalTensors& grad_tensors, std::optional<bool> retain_graph,
         bool create_graph, const TensorList& inputs) {
        ocl::backward(tensors, undefined_for_none(grad_tensors), retain_graph, create_graph, inputs);
      },
      py::arg("tensors"), py::arg("grad_tensors") = OptionalTensors(), py::arg("retain_graph") = py::none(),
      py::arg("create_graph") = false, py::arg("inputs") = TensorList(), WithoutLock());
  m.def(
      "grad",
      [](const TensorList& outputs, const TensorList& inputs, const OptionalTensors& grad_outputs,
         std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
        return none_for_undefined(ocl::autograd::grad(outputs, inputs, undefined_for_none(grad_outputs),
                                                      retain_graph, create_graph, allow_unused));
      },
      py::arg("outputs"), py::arg("inputs"), py::arg("grad_outputs") = OptionalTensors(),
      py::arg("retain_graph") = py::none(), py::arg("create_graph") = false, py::arg("allow_unused") = false,
      WithoutLock());
  m.def("_leads_beyond", &ocl::autograd::leads_beyond, py::arg("tensors"), py::arg("leaves"), WithoutLock());
  m.def(
      "gradcheck",
      [](const std::function<Tensor(const TensorList&)>& function, const TensorList& inputs, double eps,
         double atol, double rtol) { return ocl::autograd::gradcheck(function, inputs, eps, atol, rtol); },
      py::arg("function"), py::arg("inputs"), py::arg("eps") = 1e-6, py::arg("atol") = 1e-5,
      py::arg("rtol") = 1e-3);
}

// The parts of ocl.autograd.Function. A saved tensor is kept without its history: one that held its own
// node would never be freed.
void bind_function(py::module_& m) {
  py::class_<ocl::SavedTensor>(m, "_SavedTensor")
      .def(py::init<const Tensor&>())
      .def("unpack", [](const ocl::SavedTensor& saved) { return Tensor(saved.unpack()); })
      .def("input", &ocl::SavedTensor::input, py::arg("number"))
      .def("output", &ocl::SavedTensor::output, py::arg("number"));
  m.def(
      "_record_function",
      [](const std::string& name, const TensorList& inputs, const TensorList& outputs,
         const py::function& backward, bool saves_tensors) {
        ocl::autograd::record_function(
            name, inputs, outputs,
            [held = backward.ptr()](const TensorList& gradients) {
              const PythonLocked locked;
              return undefined_for_none(
                  object_of(held)(none_for_undefined(gradients)).cast<OptionalTensors>());
            },
            saves_tensors, foreign(backward));
      },
      py::arg("name"), py::arg("inputs"), py::arg("outputs"), py::arg("backward"), py::arg("saves_tensors"));
}

using NodePointer = std::shared_ptr<ocl::Node>;

/** The gradients that a hook of a node gave; none for None. */
TensorList given_by_hook(const py::object& result) {
  if (result.is_none()) return {};
  if (py::isinstance<Tensor>(result)) return {result.cast<Tensor>()};
  bool fits = py::isinstance<py::tuple>(result) || py::isinstance<py::list>(result);
  if (fits)
    for (const py::handle each : result) fits = fits && (each.is_none() || py::isinstance<Tensor>(each));
  dlprim::require<ocl::TypeError>(fits, "a hook of a node must return None or a tuple of tensors, got ",
                                  shown(result));
  return undefined_for_none(result.cast<OptionalTensors>());
}

py::tuple tuple_of(const TensorList& gradients) {
  return py::tuple(py::cast(none_for_undefined(gradients)));
}

/** A dict that the node keeps as long as it lives. */
py::dict metadata_of(const NodePointer& node) {
  static auto& known = *new std::unordered_map<const ocl::Node*, std::weak_ptr<void>>;
  std::weak_ptr<void>& held = known[node.get()];
  if (const ocl::Foreign there = held.lock()) return object_of(there.get()).cast<py::dict>();
  for (auto each = known.begin(); each != known.end();)
    each = each->second.expired() && each->first != node.get() ? known.erase(each) : std::next(each);
  py::dict made;
  ocl::Foreign owned = foreign(made);
  held = owned;
  node->add_post_hook([](const Tensor&) { return Tensor(); }, std::move(owned));
  return made;
}

void bind_nodes(py::module_& m) {
  const py::custom_type_setup with_collector([](PyHeapTypeObject* type) { follow_node(&type->ht_type); });
  py::class_<ocl::Node, NodePointer>(m, "Node", "An operation that the tape has recorded.", with_collector)
      .def(py::init([](const NodePointer& node) { return node; }), py::arg("node"),
           "The same operation as an object of another class.")
      .def("name", &ocl::shown_name)
      .def_property_readonly("next_functions",
                             [](const ocl::Node& node) {
                               py::list edges;
                               for (const ocl::Edge& edge : node.next())
                                 edges.append(py::make_tuple(node_object(edge.node), edge.index));
                               return py::tuple(edges);
                             })
      .def_property_readonly("metadata", &metadata_of)
      .def("_sequence_nr", &ocl::Node::sequence)
      .def(
          "register_prehook",
          [](const NodePointer& node, const py::object& hook) {
            const ocl::NodePreHook call = [held = hook.ptr()](const TensorList& gradients) {
              const PythonLocked locked;
              return given_by_hook(object_of(held)(tuple_of(gradients)));
            };
            return ocl::add_node_hook(*node, call, foreign(hook));
          },
          py::arg("fn"), "Calls fn(grad_outputs) before the node runs; a tuple stands in their place.")
      .def(
          "register_hook",
          [](const NodePointer& node, const py::object& hook) {
            const ocl::NodeHook call = [held = hook.ptr()](const TensorList& results,
                                                           const TensorList& gradients) {
              const PythonLocked locked;
              return given_by_hook(object_of(held)(tuple_of(results), tuple_of(gradients)));
            };
            return ocl::add_node_hook(*node, call, foreign(hook));
          },
          py::arg("fn"),
          "Calls fn(grad_inputs, grad_outputs) when the node has run; a tuple stands in the place of the "
          "former.");
  m.def("_edge_to", [](const Tensor& tensor) {
    const ocl::Edge edge = ocl::edge_to(tensor);
    return py::make_tuple(node_object(edge.node), edge.index);
  });
  m.def("_current_pass", &ocl::current_pass);
  m.def("_is_to_be_visited", &ocl::is_to_be_visited);
  m.def("_at_end_of_pass", [](const py::object& end) {
    ocl::at_end_of_pass([held = foreign(end)](bool is_complete) {
      const PythonLocked locked;
      object_of(held.get())(is_complete);
    });
  });
}

class PythonHooks final : public ocl::SavedTensorHooks {
 public:
  PythonHooks(const py::object& pack, const py::object& unpack)
      : pack_(foreign(pack)), unpack_(foreign(unpack)) {}

  ocl::Foreign pack(const Tensor& tensor) const override {
    const PythonLocked locked;
    return foreign(object_of(pack_.get())(tensor));
  }

  Tensor unpack(const ocl::Foreign& packed) const override {
    const PythonLocked locked;
    const py::object result = object_of(unpack_.get())(object_of(packed.get()));
    dlprim::require<ocl::TypeError>(py::isinstance<Tensor>(result),
                                    "an unpack hook must return a Tensor, got ", shown(result));
    return result.cast<Tensor>();
  }

 private:
  ocl::Foreign pack_, unpack_;
};

void bind_saved_tensor_hooks(py::module_& m) {
  m.def("_push_saved_tensor_hooks", [](const py::object& pack, const py::object& unpack) {
    ocl::push_saved_tensor_hooks(std::make_shared<PythonHooks>(pack, unpack));
  });
  m.def("_pop_saved_tensor_hooks", &ocl::pop_saved_tensor_hooks);
  m.def("_packs_saved_tensors", &ocl::packs_saved_tensors);
}

}  // namespace

void bind_autograd(py::module_& m) {
  m.def("is_grad_enabled", &ocl::grad_enabled);
  m.def("_set_grad_enabled", &ocl::set_grad_enabled);
  bind_walks(m);
  bind_function(m);
  bind_nodes(m);
  bind_saved_tensor_hooks(m);
}

py::object node_object(const std::shared_ptr<ocl::Node>& node) {
  if (!node) return py::none();
  const py::object object = py::cast(node);
  const py::type base = py::type::of<ocl::Node>();
  if (!py::type::of(object).is(base)) return object;  // the one that the program holds
  static auto& classes = *new py::dict;
  const py::str name(ocl::shown_name(*node));
  if (!classes.contains(name)) {
    py::dict members;
    members["__slots__"] = py::tuple();
    members["__module__"] = "ocl.autograd.graph";
    classes[name] = py::type::of(base)(name, py::make_tuple(base), members);
  }
  return classes[name](object);
}
