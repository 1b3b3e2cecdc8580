#pragma once

#include <vector>

#include "dlprim/export/exported_program.h"

/** \file The parts of calls that passes look at and change. */

namespace dlprim {

/** The tensor that an argument of that name is; an undefined one for none. */
const Tensor& tensor_of(const ProgramCall& call, const char* name);
void set_tensor(ProgramCall& call, const char* name, const Tensor& tensor);

/** Whether the i-th call can be made behind the last: none of those between writes what it reads. */
bool may_wait(const std::vector<ProgramCall>& calls, std::size_t i);

}  // namespace dlprim
