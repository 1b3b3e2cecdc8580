#pragma once

#include "nn/optim/stepper.h"

namespace ocl::optim {

/** The step of an optimizer that is written over tensor operators, for one parameter: Adafactor. */
void tensor_update(const char* name, const Options& options, Participant& participant);

}  // namespace ocl::optim
