#include "dlprim/platform/process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "dlprim/io/file.h"

namespace {

namespace fs = std::filesystem;
namespace platform = dlprim::platform;
using dlprim::io::InputFile;
using dlprim::io::OutputFile;

constexpr const char* variable = "TAPECL_TEST_OF_THE_ENVIRONMENT";

TEST(Process, KeepsTheEnvironment) {
  EXPECT_EQ(platform::environment(variable), std::nullopt);
  platform::set_environment(variable, "größer 漢字");
  EXPECT_EQ(platform::environment(variable), "größer 漢字");
  platform::set_environment(variable, "plain");
  EXPECT_STREQ(std::getenv(variable), "plain");
  platform::set_environment(variable, std::nullopt);
  EXPECT_EQ(platform::environment(variable), std::nullopt);
  EXPECT_EQ(std::getenv(variable), nullptr);
}

TEST(Process, NumbersThreads) {
  const std::int64_t here = platform::thread_id();
  EXPECT_EQ(platform::thread_id(), here);
  std::thread([&] { EXPECT_NE(platform::thread_id(), here); }).join();
  EXPECT_GT(platform::process_id(), 0);
  EXPECT_FALSE(platform::has_ended_other_threads());
}

struct EndsWithItsThread {
  std::vector<int>* log;
  std::vector<int> own{1, 2, 3};
  ~EndsWithItsThread() { *log = own; }
};

TEST(Process, EndsObjectsOfAThreadBeforeTheirMemory) {
  for (int i = 0; i < 20; ++i) {
    std::vector<int> log;
    std::thread([&] {
      static thread_local const EndsWithItsThread object{&log};
      EXPECT_EQ(object.own.size(), 3u);
    }).join();
    EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
  }
}

/** Names of files are in UTF-8, whatever the system's own are. */
TEST(Process, MakesFoldersForFilesOfAnyName) {
  const fs::path folder = platform::make_temporary_folder("größer 漢字 ");
  EXPECT_NE(folder.u8string().find("größer 漢字 "), std::string::npos);
  const fs::path path = folder / fs::u8path("ж.bin");
  const std::string text(
      "a\r\nb\n\x1a"
      "c",
      7);  // no text file of Windows: read and written as it is
  OutputFile file(path);
  file.write(text.data(), text.size());
  file.finish();
  {
    std::string again(text.size() + 1, '?');
    const InputFile input(path);
    EXPECT_EQ(input.size(), text.size());
    EXPECT_EQ(input.read(0, again.data(), again.size()), text.size());
    again.resize(text.size());
    EXPECT_EQ(again, text);
  }
  EXPECT_EQ(fs::directory_iterator(folder)->path().filename().u8string(), "ж.bin");
  fs::remove_all(folder);
}

}  // namespace
