#include "dlprim/platform/trusted_path.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <aclapi.h>
#include <sddl.h>

#include <fstream>

#include "dlprim/platform/process.h"

namespace dlprim {
namespace {

namespace fs = std::filesystem;

class TrustedPath : public testing::Test {
 protected:
  ~TrustedPath() override { fs::remove_all(folder_); }

  /** An access list in Windows' own text (SDDL). */
  static void set_rights(const fs::path& path, const wchar_t* text) {
    PSECURITY_DESCRIPTOR descriptor = nullptr;
    ASSERT_TRUE(
        ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &descriptor, nullptr));
    ASSERT_TRUE(SetFileSecurityW(path.c_str(), DACL_SECURITY_INFORMATION, descriptor));
    LocalFree(descriptor);
  }

  const fs::path folder_ = platform::make_temporary_folder("tapecl-trust-");
  const fs::path file_ = folder_ / "file";
};

TEST_F(TrustedPath, IsWhereTheUserAloneWrites) {
  std::ofstream{file_};
  EXPECT_EQ(distrust_of_directory(folder_), "");
  EXPECT_EQ(distrust_of_file(file_), "");
  EXPECT_EQ(distrust_of_file(folder_ / "absent"), "");
  EXPECT_NE(distrust_of_directory(folder_ / "absent"), "");
}

TEST_F(TrustedPath, IsNotWhereAllMayWrite) {
  std::ofstream{file_};
  set_rights(file_, L"D:P(A;;FA;;;BA)(A;;FR;;;WD)");
  EXPECT_EQ(distrust_of_file(file_), "");
  set_rights(file_, L"D:P(A;;FA;;;BA)(A;;FA;;;WD)");
  EXPECT_NE(distrust_of_file(file_).find("S-1-1-0 may write "), std::string::npos) << distrust_of_file(file_);
  set_rights(folder_, L"D:P(A;;FA;;;BA)(A;;FA;;;WD)");
  fs::create_directory(folder_ / "inner");
  EXPECT_NE(distrust_of_directory(folder_).find("may write"), std::string::npos);
  EXPECT_NE(distrust_of_directory(folder_ / "inner").find("may write"), std::string::npos);
}

}  // namespace
}  // namespace dlprim
