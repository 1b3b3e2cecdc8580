#pragma once

#include <string>

#include "dlprim/export/program_runner.h"
#include "npy.h"

/** \file Between arrays of files and the inputs and results of a program. */

/** The place of the input of that name. Throws dlprim::ValueError for one that is not there. */
std::size_t index_of_input(const dlprim::ProgramRunner& runner, const std::string& name);
/** Copies the array to an input, whose shape it has. Waits. */
void set_input(dlprim::ProgramRunner& runner, const std::string& name, const NpyArray& array);
/** The result as an array. Waits. */
NpyArray get_output(dlprim::ProgramRunner& runner, const std::string& name);
/** "x: float32[batch, 3]". */
std::string described(const dlprim::ProgramRunner& runner, const dlprim::ProgramTensor& each);
