#include <string>

#include "dlprim/core/arguments.h"
#include "dlprim/core/error.h"
#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/passes/int8_groups.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/ops/reduce/reduce.h"

namespace dlprim {

std::size_t observe_activations(ExportedProgram& program) {
  require(!program.is_dynamic(), "observe_activations: a program of given shapes expected");
  const std::vector<Tensor> activations = int8_activations(int8_groups(program));
  const auto add_extreme = [&](const char* row, const Tensor& activation, const std::string& name) {
    const Tensor result = new_temporary(program, activation.device(), {}, DType::float32);
    const auto mask = static_cast<std::int64_t>((std::uint64_t{1} << activation.rank()) - 1);
    program.calls.push_back({"reduce",
                             {{"row", std::string(row)},
                              {"input", activation},
                              {"mask", mask},
                              {"output", result},
                              {"parameters", value_of(ReductionParameters{})}},
                             "observe",
                             {}});
    program.outputs.push_back({name, result});
  };
  for (std::size_t i = 0; i < activations.size(); ++i) {
    add_extreme("amin", activations[i], concat("activation_", i, "_least"));
    add_extreme("amax", activations[i], concat("activation_", i, "_greatest"));
  }
  return activations.size();
}

}  // namespace dlprim
