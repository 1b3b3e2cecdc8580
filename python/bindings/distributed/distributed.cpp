#include "distributed.h"

#include "../enums.h"
#include "autograd/distributed/process_group.h"
#include "nn/distributed/distributed_data_parallel.h"

using ocl::Tensor;
using ocl::TensorList;
using ocl::distributed::ProcessGroup;
using ocl::distributed::ReduceOp;
using ocl::distributed::Work;
using ocl::nn::parallel::Reducer;

namespace {

using Group = std::shared_ptr<ProcessGroup>;

/** A handle whose last copy lets Python's lock go: the group's threads may wait for it as they end. */
Group for_python(Group group) {
  if (!group) return nullptr;
  ProcessGroup* const raw = group.get();
  return Group(raw, [group = std::move(group)](ProcessGroup*) mutable {
    std::optional<PythonUnlocked> unlocked;
    if (PyGILState_Check()) unlocked.emplace();
    group.reset();
  });
}

void bind_error(py::module_& m) {
  static auto& error =
      *new py::exception<ocl::distributed::DistBackendError>(m, "DistBackendError", PyExc_RuntimeError);
  error.doc() = "A group of processes that cannot go on: a rank ended, hangs, or calls something else.";
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ocl::distributed::DistBackendError& e) {
      if (PyErr_CheckSignals() == 0) py::set_error(error, e.what());  // after Ctrl-C the user wants to be out
    }
  });
}

void bind_group(py::module_& m) {
  py::class_<ProcessGroup, Group>(m, "ProcessGroup", "A group of processes; see ocl.distributed.")
      .def_static(
          "connect",
          [](const std::string& host, int port, int rank, int size, double timeout) {
            const PythonUnlocked unlocked;
            return for_python(
                ProcessGroup::connect({{host, port}, rank, size, ocl::distributed::Seconds(timeout)}));
          },
          py::arg("host"), py::arg("port"), py::arg("rank"), py::arg("size"), py::arg("timeout"))
      .def_static(
          "connect_by_mpi",
          [](double timeout) {
            const PythonUnlocked unlocked;
            return for_python(ProcessGroup::connect_by_mpi(ocl::distributed::Seconds(timeout)));
          },
          py::arg("timeout"))
      .def("uses_mpi", &ProcessGroup::uses_mpi)
      .def(
          "subgroup",
          [](ProcessGroup& group, const std::vector<int>& ranks) {
            const PythonUnlocked unlocked;
            return for_python(group.subgroup(ranks));
          },
          py::arg("ranks"))
      .def("rank", &ProcessGroup::rank)
      .def("size", &ProcessGroup::size)
      .def("global_ranks", &ProcessGroup::global_ranks)
      .def("timeout", [](const ProcessGroup& group) { return group.timeout().count(); })
      .def("shares_memory_with", &ProcessGroup::shares_memory_with, py::arg("rank"))
      .def("all_reduce", &ProcessGroup::all_reduce, py::arg("tensor"), py::arg("op"), WithoutLock())
      .def("reduce", &ProcessGroup::reduce, py::arg("tensor"), py::arg("dst"), py::arg("op"), WithoutLock())
      .def("broadcast", &ProcessGroup::broadcast, py::arg("tensor"), py::arg("src"), WithoutLock())
      .def("all_gather", &ProcessGroup::all_gather, py::arg("outputs"), py::arg("input"), WithoutLock())
      .def("gather", &ProcessGroup::gather, py::arg("outputs"), py::arg("input"), py::arg("dst"),
           WithoutLock())
      .def("scatter", &ProcessGroup::scatter, py::arg("output"), py::arg("inputs"), py::arg("src"),
           WithoutLock())
      .def("reduce_scatter", &ProcessGroup::reduce_scatter, py::arg("output"), py::arg("input"),
           py::arg("op"), WithoutLock())
      .def("all_to_all", &ProcessGroup::all_to_all, py::arg("outputs"), py::arg("inputs"), WithoutLock())
      .def("send", &ProcessGroup::send, py::arg("tensor"), py::arg("dst"), py::arg("tag"), WithoutLock())
      .def("recv", &ProcessGroup::recv, py::arg("tensor"), py::arg("src"), py::arg("tag"), WithoutLock())
      .def("barrier", &ProcessGroup::barrier, WithoutLock())
      .def(
          "all_gather_bytes",
          [](ProcessGroup& group, const std::string& own) {
            std::vector<std::string> all;
            {
              const PythonUnlocked unlocked;
              all = group.all_gather_bytes(own);
            }
            py::list result;
            for (const std::string& one : all) result.append(py::bytes(one));
            return result;
          },
          py::arg("own"))
      .def("drain", &ProcessGroup::drain, WithoutLock())
      .def("close", &ProcessGroup::close, WithoutLock());
}

void bind_reducer(py::module_& m) {
  py::class_<Reducer, std::shared_ptr<Reducer>>(
      m, "Reducer", "Averages gradients over a group while backward runs; see DistributedDataParallel.")
      .def(py::init([](const TensorList& parameters, const TensorList& buffers, const Group& group,
                       double bucket_cap_mb, bool find_unused_parameters, bool static_graph) {
             ocl::nn::parallel::DistributedDataParallelOptions options;
             options.bucket_cap_mb = bucket_cap_mb;
             options.find_unused_parameters = find_unused_parameters;
             options.static_graph = static_graph;
             const PythonUnlocked unlocked;
             return Reducer::make(parameters, buffers, group, options.reducer());
           }),
           py::arg("parameters"), py::arg("buffers"), py::arg("group"), py::arg("bucket_cap_mb"),
           py::arg("find_unused_parameters"), py::arg("static_graph"))
      .def("broadcast_state", &Reducer::broadcast_state, WithoutLock())
      .def("begin_forward", &Reducer::begin_forward, WithoutLock())
      .def("begin_backward", &Reducer::begin_backward, py::arg("outputs"), WithoutLock())
      .def_property("synchronizes", &Reducer::synchronizes, &Reducer::set_synchronizes)
      .def("buckets", &Reducer::buckets);
}

}  // namespace

void bind_distributed(py::module_& parent) {
  py::module_ m = parent.def_submodule("_distributed", "Groups of processes.");
  bind_error(m);
  py::enum_<ReduceOp> op(m, "ReduceOp",
                         "How values of several ranks become one. (torch.distributed.ReduceOp)");
  op.value("SUM", ReduceOp::sum)
      .value("AVG", ReduceOp::avg)
      .value("MIN", ReduceOp::min)
      .value("MAX", ReduceOp::max)
      .value("PRODUCT", ReduceOp::product);
  without_numbers(op);
  op.attr("__repr__") =
      py::cpp_function([](const py::object& self) { return py::str(self); }, py::is_method(op));
  py::class_<Work, std::shared_ptr<Work>>(m, "Work", "A collective under way. (torch.distributed.Work)")
      .def(
          "wait",
          [](Work& work) {
            work.wait();
            return true;
          },
          WithoutLock(), "Waits until the results are there. Raises what went wrong.")
      .def("is_completed", &Work::is_completed, "Whether it is over. Does not wait.");
  bind_group(m);
  bind_reducer(m);
}
