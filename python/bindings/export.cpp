#include "autograd/export.h"

#include "autograd/ops/inplace.h"
#include "autograd/tape/tape.h"
#include "casters.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/program_file.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"

using dlprim::ExportedProgram;
using dlprim::ProgramRunner;
using dlprim::ProgramTensor;

namespace {

ExportedProgram export_program(const py::function& work, const ocl::NamedTensors& inputs,
                               const ocl::NamedTensors& named) {
  return ocl::export_program([&] { return work().cast<ocl::NamedTensors>(); }, inputs, named);
}

/** (name, shape, dtype) of each. */
py::list described(const std::vector<ProgramTensor>& tensors) {
  py::list list;
  for (const ProgramTensor& each : tensors)
    list.append(
        py::make_tuple(each.name, py::tuple(py::cast(each.tensor.shape.vector())), each.tensor.dtype));
  return list;
}

/** (primitive, operation, module) of each call. */
py::list calls_of(const ExportedProgram& program) {
  py::list list;
  for (const dlprim::ProgramCall& call : program.calls)
    list.append(py::make_tuple(call.primitive, call.operation, call.module));
  return list;
}

/** Writes an input: the elements of `given`, which may lie on another device. */
void set_input(ProgramRunner& runner, std::size_t i, const ocl::Tensor& given) {
  const ProgramTensor& expected = runner.program().inputs.at(i);
  dlprim::require<ocl::ValueError>(given.shape() == expected.tensor.shape, "input ", expected.name,
                                   ": the program was exported for ", expected.tensor.shape, ", got ",
                                   given.shape());
  dlprim::require<ocl::TypeError>(given.dtype() == expected.tensor.dtype, "input ", expected.name,
                                  ": the program was exported for ", name(expected.tensor.dtype), ", got ",
                                  name(given.dtype()));
  const ocl::Device device(runner.device());
  const ocl::Tensor here = given.device() == device ? given : given.detach().to(device);
  copy(runner.device().queue(), here.data(), runner.input(i));
}

/** The results in tensors of their own, which later runs leave alone. */
std::vector<ocl::Tensor> run(ProgramRunner& runner, const std::vector<ocl::Tensor>& inputs) {
  const std::size_t count = runner.program().inputs.size();
  dlprim::require<ocl::TypeError>(inputs.size() == count, "the program takes ", count, " inputs, got ",
                                  inputs.size());
  const PythonUnlocked unlocked;
  for (std::size_t i = 0; i < count; ++i) set_input(runner, i, inputs[i]);
  runner.run();
  std::vector<ocl::Tensor> results;
  for (std::size_t i = 0; i < runner.program().outputs.size(); ++i) {
    const dlprim::Tensor made = runner.output(i);
    const dlprim::Tensor result = dlprim::Tensor::empty(runner.device(), made.shape, made.dtype);
    copy(runner.device().queue(), made, result);
    results.emplace_back(result);
  }
  return results;
}

/** States, or constants too, by name, copied. */
py::dict contents(const ProgramRunner& runner, bool constants) {
  py::dict result;
  for (const dlprim::ProgramBuffer& buffer : runner.program().buffers) {
    const bool is_state = buffer.kind == dlprim::ProgramBuffer::Kind::state;
    if (!is_state && !(constants && buffer.kind == dlprim::ProgramBuffer::Kind::constant)) continue;
    const dlprim::Tensor held = runner.state(buffer.name);
    const dlprim::Tensor copied = dlprim::Tensor::empty(runner.device(), held.shape, held.dtype);
    copy(runner.device().queue(), held, copied);
    result[py::str(buffer.name)] = ocl::Tensor(copied);
  }
  return result;
}

}  // namespace

void bind_export(py::module_& parent) {
  py::module_ m = parent.def_submodule("_export", "Programs that need neither the tape nor modules.");

  py::class_<ExportedProgram>(m, "ExportedProgram", R"(Work on a device as a list of calls over buffers.

What :func:`ocl.export.export` makes; ``print`` shows its calls.)")
      .def_property_readonly(
          "inputs", [](const ExportedProgram& p) { return described(p.inputs); },
          "(name, shape, dtype) of each input.")
      .def_property_readonly(
          "outputs", [](const ExportedProgram& p) { return described(p.outputs); },
          "(name, shape, dtype) of each result.")
      .def_property_readonly("calls", &calls_of, "(primitive, operator, module) of each call, in order.")
      .def("__str__", &ExportedProgram::text)
      .def(
          "optimized",
          [](ExportedProgram p) {
            optimize_program(p);
            return p;
          },
          WithoutLock(),
          R"(A program that does the same in less time: what follows from constants alone is computed here.

Batch norms behind convolutions and linear layers become parts of their weights. The results differ by
roundings. Constants that changed are named ``folded_0`` and so on.)")
      .def(
          "save", [](const ExportedProgram& p, const std::filesystem::path& path) { save_program(p, path); },
          py::arg("path"), WithoutLock(),
          "Writes it to a file of the format .ocl, which is a safetensors file. Raises OSError.");

  py::class_<ProgramRunner>(m, "ProgramRunner", R"(Runs an exported program on a device.

:func:`ocl.runtime.load` and :func:`ocl.runtime.prepare` make it. It is not thread safe.)")
      .def(py::init([](const ExportedProgram& program, const ocl::Device& device) {
             return std::make_unique<ProgramRunner>(program, *device);
           }),
           py::arg("program"), py::arg("device"))
      .def_property_readonly("program", &ProgramRunner::current_program,
                             "The program with its states as they are now. Waits for the device.")
      .def_property_readonly(
          "inputs", [](const ProgramRunner& r) { return described(r.program().inputs); },
          "(name, shape, dtype) of each input.")
      .def_property_readonly(
          "outputs", [](const ProgramRunner& r) { return described(r.program().outputs); },
          "(name, shape, dtype) of each result.")
      .def("run", &run, py::arg("inputs"),
           "Enqueues a run with these inputs, in order, and gives the results, which later runs leave alone. "
           "Raises TypeError or ValueError for inputs of other shapes or dtypes than the program's.")
      .def("state_dict", &contents, py::arg("constants") = false,
           "Copies of the states (parameters that the program trains, running statistics) by name; with "
           "``constants`` of the constants too.")
      .def_property_readonly(
          "arena_bytes", [](const ProgramRunner& r) { return r.plan().bytes; },
          "Bytes of the memory that temporaries, inputs and results share.")
      .def_property_readonly(
          "arena_lower_bound", [](const ProgramRunner& r) { return r.plan().lower_bound; },
          "The most bytes of it that are in use at once: no plan needs less.")
      .def_property_readonly("replays", &ProgramRunner::replays,
                             "Whether runs enqueue commands that were kept, from the second run on.");

  m.def("export_program", &export_program, py::arg("work"), py::arg("inputs"), py::arg("named"),
        "Calls `work() -> [(name, tensor), ...]` twice and gives its program. See ocl.export.");
  m.def(
      "load_program",
      [](const std::filesystem::path& path, const ocl::Device& device) {
        return dlprim::load_program(path, *device);
      },
      py::arg("path"), py::arg("device"), WithoutLock(), "Reads a file of the format .ocl. Raises OSError.");
}
