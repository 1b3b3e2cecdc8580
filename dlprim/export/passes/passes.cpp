#include "dlprim/export/passes/passes.h"

namespace dlprim {

void simplify_program(ExportedProgram& program) {
  remove_dead_calls(program);
  fuse_pointwise(program);
}

void optimize_program(ExportedProgram& program) {
  remove_dead_calls(program);
  fold_batch_norm(program);
  fold_constants(program);
  fuse_pointwise(program);
}

}  // namespace dlprim
