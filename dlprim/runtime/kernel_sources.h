#pragma once

#include <map>
#include <string>

namespace dlprim {

/** Every OpenCL source of the library, and every header that kernels share with the host, by its path below
 * dlprim/, e.g. "ops/pool/max_pool.cl". Built by CMake. */
const std::map<std::string, const char*>& kernel_sources();

}  // namespace dlprim
