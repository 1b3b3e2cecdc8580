#pragma once

#include <string>
#include <vector>

namespace dlprim {

/** What compilers have said against the kernels that this process has built, a text a program. There should be nothing. */
std::vector<std::string> kernel_warnings();

}  // namespace dlprim
