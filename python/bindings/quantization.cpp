#include "autograd/tensor/tensor.h"
#include "casters.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/runtime/device.h"

using dlprim::ExportedProgram;

namespace {

/** The program with results that tell the ranges of its activations, and the number of those. */
std::pair<ExportedProgram, std::size_t> observed(ExportedProgram program) {
  const std::size_t count = observe_activations(program);
  return {std::move(program), count};
}

ExportedProgram quantized(ExportedProgram program, const std::vector<std::pair<float, float>>& given) {
  std::vector<dlprim::ActivationRange> ranges;
  for (const auto& [least, greatest] : given) ranges.push_back({least, greatest});
  quantize_activations(program, ranges);
  return program;
}

}  // namespace

void bind_quantization(py::module_& parent) {
  py::module_ m = parent.def_submodule("_quantization", "Static int8 of exported programs.");
  m.def("observed", &observed, py::arg("program"), WithoutLock(),
        "The program with two more results for each activation, its least and greatest number, and how many "
        "activations there are.");
  m.def("quantized", &quantized, py::arg("program"), py::arg("ranges"), WithoutLock(),
        "The program in int8, by (least, greatest) of each activation.");
}
