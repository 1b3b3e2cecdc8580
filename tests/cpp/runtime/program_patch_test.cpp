#include "dlprim/runtime/program_patch.h"

#include <gtest/gtest.h>

#include "dlprim/core/error.h"
#include "support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

std::string patched_text(const std::string& binary) {
  const auto bytes = patched({binary.begin(), binary.end()});
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST(ProgramPatch, InstructionsComeIntoPlaceAndTheTargetIsNamed) {
  EXPECT_EQ(
      patched_text(
          ".version 8.4\n.target sm_90, texmode_independent\n//@90a wgmma.fence;\nret;\n//@90a wait;\n"),
      ".version 8.4\n.target sm_90a, texmode_independent\n wgmma.fence;\nret;\n wait;\n");
}

TEST(ProgramPatch, DirectivesGoBeforeTheBodyTheyStandIn) {
  EXPECT_EQ(
      patched_text(
          ".target sm_90\n.entry first(\n)\n{\nret;\n}\n.entry second(\n)\n.reqntid 256\n{\n//@entry "
          ".minnctapersm 2\n//@90a wgmma;\n}\n"),
      ".target sm_90a\n.entry first(\n)\n{\nret;\n}\n.entry second(\n)\n.reqntid 256\n.minnctapersm 2\n{\n\n"
      " wgmma;\n}\n");
}

TEST(ProgramPatch, OtherBinariesAreRefused) {
  for (const char* binary :
       {"",
        "\x7f"
        "ELF //@90a wgmma;",
        ".target sm_80\n//@90a wgmma;\n", ".target sm_90\n//@90a x;\n//@entry .minnctapersm 2\n",
        ".target sm_90\n.entry f()\n{\n//@entry .minnctapersm 2"})
    EXPECT_THROW(patched_text(binary), RefusedKernelError) << binary;
}

TEST(ProgramPatch, ItIsWantedWhereThereAreSuchLines) {
  EXPECT_TRUE(wants_patch("asm(\"//@90a wgmma;\")"));
  EXPECT_FALSE(wants_patch("asm(\"wgmma;\") // 90a"));
}
