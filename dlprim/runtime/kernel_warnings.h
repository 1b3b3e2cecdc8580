#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlprim {

/**
 * Whether a compiler's log warns of anything in a source. Intel's runtime warns at no place, `<unknown>:0:0`,
 * of loops that it has made itself and could not vectorise.
 */
bool warns_of_source(std::string_view build_log);

/** The warnings of compilers about the kernels that this process has built, a text a program. There should
 * be nothing. */
std::vector<std::string> kernel_warnings();

}  // namespace dlprim
