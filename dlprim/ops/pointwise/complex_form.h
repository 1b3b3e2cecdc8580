#pragma once

#include <string>

namespace dlprim {

/** Whether an expression of the pointwise table means something for complex numbers: it is made of functions
 * that complex.cl has. Those that compare by size, or round, are not. */
bool has_complex_form(const std::string& expression);

/** The expression over values of type C (complex.cl). Throws ValueError where there is none. */
std::string complex_form(const std::string& expression);
/** The expression as a condition, an int: of the operators whose result is bool. */
std::string complex_condition(const std::string& expression);

}  // namespace dlprim
