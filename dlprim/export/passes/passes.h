#pragma once

#include "dlprim/export/exported_program.h"

/** \file What makes an exported program smaller or faster. Each pass changes it in place, and leaves a sound
 * program (check_program) that does the same. Single passes take programs of given shapes; a dynamic program
 * goes through them at several sizes (program_generalization.h). */

namespace dlprim {

/** The passes that every export goes through, before formulas are found: results keep their bits. */
void simplify_program(ExportedProgram& program);
/** All passes, over a dynamic program too. Results may differ by roundings from what they were; constants
 * that were folded lose their names. */
void optimize_program(ExportedProgram& program);

/** Drops calls whose results nobody reads, and buffers that no call uses. */
void remove_dead_calls(ExportedProgram& program);

/** Makes one call (PointwiseChain) of pointwise calls that give one another their results, forward or
 * backward: results that nobody else reads are no longer stored. */
void fuse_pointwise(ExportedProgram& program);

/** Makes calls that read constants alone, and no random numbers, on the program's device, and keeps their
 * results as constants. */
void fold_constants(ExportedProgram& program);

/**
 * Moves batch norms of constant statistics, behind convolutions and linear layers of constant weights, into
 * these: calls of constants make the weight and the bias (fold_constants). The activation and the addend of
 * the norm's epilogue become calls of their own.
 */
void fold_batch_norm(ExportedProgram& program);

/** Makes one call (conv2d_epilogue_forward) of a convolution and the addition and the activation that alone
 * read its result. */
void join_epilogues(ExportedProgram& program);

}  // namespace dlprim
