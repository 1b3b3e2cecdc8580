#pragma once

#include <limits>
#include <vector>

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

/** Makes calls of the steps of chains and of epilogues, the opposite of fuse_pointwise and join_epilogues,
 * for passes that look for single steps. */
void split_calls(ExportedProgram& program);

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

// Static int8, over a program of given shapes whose batch norms are folded and whose chains are split. First
// observe_activations makes a program that tells the ranges of its activations. With these
// quantize_activations changes the program itself.

/** The least and the greatest number that an activation had. */
struct ActivationRange {
  float least = std::numeric_limits<float>::infinity(), greatest = -least;
};

/** Adds two results for each activation that int8 could hold (int8_groups.h), in their order: its least and
 * its greatest number. Returns the number of activations. Throws ValueError for a dynamic program. */
std::size_t observe_activations(ExportedProgram& program);

/**
 * Makes calls of int8 of convolutions, linear layers, sums, activations, pooling and concatenation, with
 * int8_quantize and int8_dequantize where other calls, inputs or results are float32. Weights have a scale
 * for each output channel. Throws ValueError where there is nothing to quantise, for ranges that saw no data
 * or are not finite, for another number of ranges, and for a dynamic program.
 */
void quantize_activations(ExportedProgram& program, const std::vector<ActivationRange>& ranges);

}  // namespace dlprim
