#include "dlprim/runtime/huge_pages.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "dlprim/runtime/allocator.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** Linux's setting of huge pages: "always [madvise] never"; empty where it has none. */
std::string setting() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  return line;
}

/** The flags of the mapping that holds an address, as in "rd wr mr mw me ac hg". */
std::string flags_of(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= address && address < end;
    if (inside && line.rfind("VmFlags:", 0) == 0) return line;
  }
  return {};
}

bool asks_for_huge_pages(const void* memory) {
  return flags_of(memory).find(" hg") != std::string::npos;
}

}  // namespace

TEST(HugePages, AreAskedForUnderWholeBuffers) {
  if (!device().info().is_cpu) GTEST_SKIP() << "memory of the device's own";
  if (setting().empty()) GTEST_SKIP() << "Linux has no huge pages here";
  const auto allocator = make_caching_allocator(device());
  const std::size_t bytes = 24 * huge_page_bytes;
  const auto storage = allocator->allocate(bytes);
  const cl::CommandQueue queue(device().context(), device().handle());
  auto* memory = static_cast<char*>(
      queue.enqueueMapBuffer(storage->buffer(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes));
  EXPECT_TRUE(asks_for_huge_pages(memory)) << flags_of(memory);
  EXPECT_TRUE(asks_for_huge_pages(memory + bytes - huge_page_bytes));
  queue.enqueueUnmapMemObject(storage->buffer(), memory);
  queue.finish();
}

TEST(HugePages, AreAskedForWhereverMemoryBegins) {
  if (setting().empty()) GTEST_SKIP() << "Linux has no huge pages here";
  const std::size_t bytes = 4 * huge_page_bytes;
  const std::unique_ptr<char[]> memory(new char[bytes]);
  ask_for_huge_pages(memory.get() + 40, bytes - 40);
  EXPECT_TRUE(asks_for_huge_pages(memory.get() + huge_page_bytes)) << flags_of(memory.get());
  ask_for_huge_pages(memory.get() + 40, 0);
  ask_for_huge_pages(memory.get() + 40, 10);
  memory[bytes - 1] = 1;
  EXPECT_EQ(memory[bytes - 1], 1);
}
