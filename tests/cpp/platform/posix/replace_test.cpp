#include <gtest/gtest.h>

#include <filesystem>

#include "dlprim/io/file.h"
#include "dlprim/platform/process.h"

namespace {

namespace fs = std::filesystem;
namespace platform = dlprim::platform;
using dlprim::io::InputFile;
using dlprim::io::OutputFile;

/** A file may be replaced while others read it. */
TEST(Replace, TakesTheNameOfAFileThatIsOpen) {
  const fs::path folder = platform::make_temporary_folder("tapecl-replaced-"), path = folder / "file";
  const auto write = [&](const char* text) {
    OutputFile file(path);
    file.write(text, 3);
    file.finish();
  };
  write("old");
  {
    const InputFile old(path);
    write("new");
    char bytes[4] = {};
    EXPECT_EQ(old.read(0, bytes, 3), 3u);
    EXPECT_STREQ(bytes, "old");
    EXPECT_EQ(InputFile(path).read(0, bytes, 3), 3u);
    EXPECT_STREQ(bytes, "new");
  }
  fs::remove_all(folder);
}

}  // namespace
