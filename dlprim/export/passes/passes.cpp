#include "dlprim/export/passes/passes.h"

#include "dlprim/export/program_generalization.h"

namespace dlprim {
namespace {

void optimize_static_program(ExportedProgram& program) {
  remove_dead_calls(program);
  fold_batch_norm(program);
  fold_constants(program);
  join_epilogues(program);
  fuse_pointwise(program);
}

}  // namespace

void simplify_program(ExportedProgram& program) {
  remove_dead_calls(program);
  fuse_pointwise(program);
}

void optimize_program(ExportedProgram& program) {
  if (program.is_dynamic())
    program = changed_for_all_sizes(program, optimize_static_program);
  else
    optimize_static_program(program);
}

}  // namespace dlprim
