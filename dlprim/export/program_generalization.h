#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dlprim/export/exported_program.h"

/** \file From programs for several sizes to one for all (ExportedProgram::symbols). */

namespace dlprim {

/** A program of given shapes, and the sizes that it is for, one for each symbol. */
struct ProgramSample {
  std::vector<std::int64_t> sizes;
  ExportedProgram program;
};

/** Sizes within the bounds to make samples for. Those below 2 are left out where there are others: work often
 * goes another way there. All there are if they are few (is_all). */
struct SampleSizes {
  std::vector<std::vector<std::int64_t>> sizes;
  bool is_all = false;
};
SampleSizes sample_sizes(const std::vector<ProgramSymbol>& symbols, std::size_t count);
/** Others, side by side, so that quotients which round show where they do. */
std::vector<std::vector<std::int64_t>> more_sample_sizes(const std::vector<ProgramSymbol>& symbols,
                                                         std::size_t count);

/** The first difference between two programs beside their numbers, for people; empty where there is none.
 * With `numbers` those count too. */
std::string difference_of_programs(const ExportedProgram& a, const ExportedProgram& b, bool numbers);

/** The result of `generalized`, and whether more samples would tell formulas apart that these do not. */
struct Generalization {
  ExportedProgram program;
  std::string fault;  // for people, where there is no such program
  bool wants_samples = false;
};

/**
 * One program for all sizes: that of the first sample, whose numbers are formulas where samples differ, at
 * the greatest sizes. `known`: a dynamic program whose formulas are likely. The fault names the call, the
 * argument and its values where the samples' calls differ in anything else, or a number has no formula.
 */
Generalization generalized(const std::vector<ProgramSample>& samples,
                           const std::vector<ProgramSymbol>& symbols, bool is_exhaustive,
                           const ExportedProgram* known = nullptr);

/** A dynamic program after `change`, which is made at several sizes. Throws Error where it depends on them.
 */
ExportedProgram changed_for_all_sizes(const ExportedProgram& program,
                                      const std::function<void(ExportedProgram&)>& change);

}  // namespace dlprim
