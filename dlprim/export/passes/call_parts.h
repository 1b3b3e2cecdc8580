#pragma once

#include <vector>

#include "dlprim/export/argument_reader.h"
#include "dlprim/export/exported_program.h"
#include "dlprim/ops/pointwise/pointwise.h"

/** \file The parts of calls that passes look at and change. */

namespace dlprim {

/** For read_argument: the tensors and the states of random numbers are those that the program has. */
ArgumentContext own_arguments();

/** The argument of that name; null for none. */
const ArgumentValue* argument_of(const ProgramCall& call, const char* name);
/** The tensor that an argument of that name is; an undefined one for none. */
const Tensor& tensor_of(const ProgramCall& call, const char* name);
void set_tensor(ProgramCall& call, const char* name, const Tensor& tensor);

/** A new temporary of the program, contiguous. */
Tensor new_temporary(ExportedProgram& program, Device& device, const Dims& shape, DType dtype);

/** The call of a row of the pointwise table, with its default numbers, in the widest dtype of the inputs. */
ProgramCall pointwise_call(const PointwiseOp& op, const std::vector<Tensor>& inputs, const Tensor& result);

/** Whether the i-th call can be made behind the last: none of those between writes what it reads. */
bool may_wait(const std::vector<ProgramCall>& calls, std::size_t i);

}  // namespace dlprim
