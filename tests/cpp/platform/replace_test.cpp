#include <gtest/gtest.h>

#include <filesystem>

#include "dlprim/io/file.h"
#include "dlprim/platform/process.h"

namespace {

namespace fs = std::filesystem;
namespace platform = dlprim::platform;
using dlprim::io::InputFile;
using dlprim::io::OutputFile;

#ifdef _WIN32
constexpr bool may_refuse = true;  // before Windows 10, and Wine
#else
constexpr bool may_refuse = false;
#endif

/** A file may be replaced while others read it. A system that refuses leaves the old one. */
TEST(Replace, TakesTheNameOfAFileThatIsOpen) {
  const fs::path folder = platform::make_temporary_folder("tapecl-replaced-"), path = folder / "file";
  const auto write = [&](const char* text) {
    OutputFile file(path);
    file.write(text, 3);
    file.finish();
  };
  const auto text_of = [](const InputFile& file) {
    std::string text(3, '?');
    EXPECT_EQ(file.read(0, text.data(), 3), 3u);
    return text;
  };
  write("old");
  {
    const InputFile old(path);
    std::string expected = "new";
    try {
      write("new");
    } catch (const dlprim::io::SystemError& error) {
      EXPECT_TRUE(may_refuse) << error.what();
      EXPECT_EQ(error.number, EACCES);
      expected = "old";
    }
    EXPECT_EQ(text_of(old), "old");
    EXPECT_EQ(text_of(InputFile(path)), expected);
    RecordProperty("found", expected);
  }
  write("new");
  EXPECT_EQ(text_of(InputFile(path)), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

}  // namespace
