// Files that Windows has not, or not for every user.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "dlprim/io/file.h"
#include "dlprim/platform/process.h"

namespace {

namespace fs = std::filesystem;
using dlprim::FileError;
using dlprim::io::InputFile;
using dlprim::io::OutputFile;

/** A folder of its own for each test, removed at the end. */
class LinksAndPipes : public testing::Test {
 protected:
  ~LinksAndPipes() override { fs::remove_all(folder_); }

  const fs::path folder_ = dlprim::platform::make_temporary_folder("tapecl-links-");
};

TEST_F(LinksAndPipes, AWriterKeepsModeAndLink) {
  const fs::path real = folder_ / "real", link = folder_ / "link";
  std::ofstream{real};
  constexpr auto mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read;
  fs::permissions(real, mode);
  fs::create_symlink("real", link);
  OutputFile file(link);
  file.write("new", 3);
  file.finish();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(real).permissions(), mode);
  EXPECT_EQ(InputFile(real).size(), 3u);
}

TEST_F(LinksAndPipes, AReaderRefusesAPipeWithoutWaiting) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(InputFile{pipe}, FileError);
}

}  // namespace
