// At the end of all tests: no kernel that they built made a compiler complain.
#include "dlprim/runtime/kernel_warnings.h"

#include <gtest/gtest.h>

namespace {

class NoKernelWarnings : public testing::Environment {
  void TearDown() override {
    for (const std::string& text : dlprim::kernel_warnings()) ADD_FAILURE() << text;
  }
};

const testing::Environment* const no_kernel_warnings =
    testing::AddGlobalTestEnvironment(new NoKernelWarnings);

}  // namespace
