#pragma once

#include "dlprim/core/error.h"

namespace ocl::distributed {

/** A group of processes that cannot go on: a rank ended, hangs, or calls something else than the others.
 * Python: ocl.distributed.DistBackendError, a RuntimeError. */
class DistBackendError : public dlprim::Error {
  using Error::Error;
};

}  // namespace ocl::distributed
