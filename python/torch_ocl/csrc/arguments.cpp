#include "arguments.h"

#include <ATen/Context.h>

namespace torch_ocl {

dlprim::MatmulPrecision matmul_precision() {
  switch (at::globalContext().float32MatmulPrecision()) {
    case at::Float32MatmulPrecision::HIGHEST:
      return dlprim::MatmulPrecision::highest;
    case at::Float32MatmulPrecision::HIGH:
      return dlprim::MatmulPrecision::high;
    case at::Float32MatmulPrecision::MEDIUM:
      return dlprim::MatmulPrecision::medium;
  }
  return dlprim::MatmulPrecision::highest;
}

}  // namespace torch_ocl
