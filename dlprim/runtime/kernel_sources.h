#pragma once

#include <map>
#include <string>

namespace dlprim {

/** Every OpenCL source of the library by its path below dlprim/, e.g. "ops/pool/max_pool.cl". Built by CMake.
 */
const std::map<std::string, const char*>& kernel_sources();

}  // namespace dlprim
