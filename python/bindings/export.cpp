#include "autograd/export.h"

#include "autograd/ops/inplace.h"
#include "autograd/tape/tape.h"
#include "casters.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/program_binaries.h"
#include "dlprim/export/program_file.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/export/program_sizes.h"
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

/** (name, least size, greatest size) of a dimension. */
using Bounds = std::tuple<std::string, std::int64_t, std::int64_t>;

ExportedProgram export_dynamic_program(const py::function& work, const ocl::NamedTensors& inputs,
                                       const std::vector<std::map<int, Bounds>>& dynamic,
                                       const ocl::NamedTensors& named) {
  std::vector<ocl::DynamicShape> shapes;
  for (const std::map<int, Bounds>& given : dynamic) {
    ocl::DynamicShape& shape = shapes.emplace_back();
    for (const auto& [dim, bounds] : given)
      shape[dim] = {std::get<0>(bounds), std::get<1>(bounds), std::get<2>(bounds)};
  }
  return ocl::export_program(
      [&](const std::vector<ocl::Tensor>& tensors) { return work(tensors).cast<ocl::NamedTensors>(); },
      inputs, shapes, named);
}

/** The sizes of each dimension: numbers, and texts of formulas. */
py::tuple shape_of(const ProgramTensor& each, const std::vector<dlprim::ProgramSymbol>& symbols) {
  py::list shape = py::cast(each.tensor.shape.vector());
  for (const dlprim::VaryingNumber& one : each.varying)
    if (one.place < shape.size()) shape[one.place] = one.formula.text(symbols);
  return py::tuple(shape);
}

/** (name, shape, dtype) of each. */
py::list described(const ExportedProgram& program, const std::vector<ProgramTensor>& tensors) {
  py::list list;
  for (const ProgramTensor& each : tensors)
    list.append(py::make_tuple(each.name, shape_of(each, program.symbols), each.tensor.dtype));
  return list;
}

/** (least, greatest) by name. */
py::dict symbols_of(const ExportedProgram& program) {
  py::dict symbols;
  for (const dlprim::ProgramSymbol& symbol : program.symbols)
    symbols[py::str(symbol.name)] = py::make_tuple(symbol.min, symbol.max);
  return symbols;
}

/** (primitive, operation, module) of each call. */
py::list calls_of(const ExportedProgram& program) {
  py::list list;
  for (const dlprim::ProgramCall& call : program.calls)
    list.append(py::make_tuple(call.primitive, call.operation, call.module));
  return list;
}

void save(const ExportedProgram& program, const std::filesystem::path& path, const py::object& binaries) {
  ExportedProgram whole = program;
  if (!binaries.is_none())
    whole =
        py::module_::import("ocl.export.binaries").attr("built")(program, binaries).cast<ExportedProgram>();
  const PythonUnlocked unlocked;
  save_program(whole, path);
}

/** Writes an input of the shape that was set: the elements of `given`, which may lie on another device. */
void set_input(ProgramRunner& runner, std::size_t i, const ocl::Tensor& given) {
  const ProgramTensor& expected = runner.program().inputs.at(i);
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
  std::vector<dlprim::Dims> shapes;
  for (const ocl::Tensor& input : inputs) shapes.push_back(input.shape());
  sizes_of_inputs(runner.program(), shapes);  // throws before anything has changed
  for (std::size_t i = 0; i < count; ++i) runner.set_input_shape(i, shapes[i]);
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
          "inputs", [](const ExportedProgram& p) { return described(p, p.inputs); },
          "(name, shape, dtype) of each input; sizes that follow from symbols are texts.")
      .def_property_readonly(
          "outputs", [](const ExportedProgram& p) { return described(p, p.outputs); },
          "(name, shape, dtype) of each result; sizes that follow from symbols are texts.")
      .def_property_readonly("symbols", &symbols_of,
                             "(least, greatest) size of each symbol of a dynamic program, by name.")
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
      .def("save", &save, py::arg("path"), py::kw_only(), py::arg("binaries") = py::none(),
           R"(Writes it to a file of the format .ocl, which is a safetensors file. Raises OSError.

``binaries`` is a list of devices whose built kernels the file holds too. For each, a process of its own runs the
program with zeros as inputs. Runs use them where ``ocl.runtime.load`` is told to trust them.)");

  py::class_<ProgramRunner>(m, "ProgramRunner", R"(Runs an exported program on a device.

:func:`ocl.runtime.load` and :func:`ocl.runtime.prepare` make it. It is not thread safe.)")
      .def(py::init([](const ExportedProgram& program, const ocl::Device& device) {
             return std::make_unique<ProgramRunner>(program, *device);
           }),
           py::arg("program"), py::arg("device"))
      .def_property_readonly("program", &ProgramRunner::current_program,
                             "The program with its states as they are now. Waits for the device.")
      .def_property_readonly(
          "inputs", [](const ProgramRunner& r) { return described(r.program(), r.program().inputs); },
          "(name, shape, dtype) of each input; sizes that follow from symbols are texts.")
      .def_property_readonly(
          "outputs", [](const ProgramRunner& r) { return described(r.program(), r.program().outputs); },
          "(name, shape, dtype) of each result; sizes that follow from symbols are texts.")
      .def_property_readonly(
          "symbols", [](const ProgramRunner& r) { return symbols_of(r.program()); },
          "(least, greatest) size of each symbol of a dynamic program, by name.")
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
  m.def("export_dynamic_program", &export_dynamic_program, py::arg("work"), py::arg("inputs"),
        py::arg("dynamic"), py::arg("named"),
        "Calls `work(tensors) -> [(name, tensor), ...]` with several sizes and gives its program for all. "
        "`dynamic` has {dimension: (name, least, greatest)} for each input. See ocl.export.");
  m.def(
      "load_program",
      [](const std::filesystem::path& path, const ocl::Device& device) {
        return dlprim::load_program(path, *device);
      },
      py::arg("path"), py::arg("device"), WithoutLock(), "Reads a file of the format .ocl. Raises OSError.");
  m.def(
      "trust_binaries",
      [](const ExportedProgram& program, const ocl::Device& device) { trust_binaries(program, *device); },
      py::arg("program"), py::arg("device"), WithoutLock(), "See ocl.runtime.load.");
  m.def(
      "with_binaries",
      [](const ExportedProgram& program, const ocl::Device& device) {
        return with_binaries(program, *device);
      },
      py::arg("program"), py::arg("device"), WithoutLock(),
      "The program with its kernels as they are built in this process, whose kernel cache must be empty.");
}
