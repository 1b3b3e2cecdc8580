#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

/** How tensors are printed (torch.set_printoptions). */
struct PrintOptions {
  int precision = 4;              // digits after the point
  std::int64_t threshold = 1000;  // elements above which the middle is left out
  std::int64_t edgeitems = 3;     // entries kept at both ends of a dimension then
  std::int64_t linewidth = 80;
  std::optional<bool> sci_mode;  // scientific notation; where unset the elements decide
};

/** Those in force; process-wide. */
PrintOptions& print_options();

}  // namespace ocl
