#pragma once

#include "dlprim/dlprim.h"
#include "tests/cpp/support/layouts.h"

/** \file The cases of layouts_test.cpp, by family: a function is called here with all that it can be given.
 */

namespace testing_support {

LayoutCases element_cases();
LayoutCases row_cases();
LayoutCases norm_cases();
LayoutCases loss_cases();
LayoutCases int8_cases();
LayoutCases matrix_cases();
LayoutCases plane_cases();
LayoutCases volume_cases();
LayoutCases index_cases();
LayoutCases box_cases();
LayoutCases training_cases();

}  // namespace testing_support
