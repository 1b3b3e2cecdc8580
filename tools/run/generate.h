#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dlprim/export/program_runner.h"
#include "npy.h"

/**
 * Lets a program write `count` tokens after those of `prompt`, int64 [N, T]. Prints each as it comes: a line
 * of numbers for one sequence, a line a step for several. Ends early where all sequences have `end`. Returns
 * all tokens, int64 [N, up to T + count].
 *
 * The program is one of ocl.models.GenerationStep. Its inputs are tokens, int64 [N, T], and their positions,
 * int64 [T], with a T that may differ. Its result is the tokens that follow, int64 [N, 1]. Its states hold
 * earlier positions. Throws dlprim::ValueError for other programs and for more tokens than it has room for.
 */
NpyArray generate(dlprim::ProgramRunner& runner, const NpyArray& prompt, std::int64_t count,
                  std::optional<std::int64_t> end);

/** The tokens of one sequence as an array int64 [1, T]. */
NpyArray array_of_tokens(const std::vector<std::int64_t>& tokens);
