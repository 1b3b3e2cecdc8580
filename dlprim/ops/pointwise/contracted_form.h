#pragma once

#include <string>

namespace dlprim {

/**
 * A row's expression over floating numbers with its products that are added or taken away written as FUSED(a,
 * b, c), which is a * b + c (core/common.cl). So the row itself says which roundings there are, and not a
 * compiler, which decides by what stands around it. An expression that is no formula (formula.h), or has none
 * of these, stays as it is.
 */
std::string contracted_form(const std::string& expression);

}  // namespace dlprim
