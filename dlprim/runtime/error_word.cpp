#include "dlprim/runtime/error_word.h"

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

std::mutex registry_mutex;

std::vector<std::string>& registry() {
  static auto* messages = new std::vector<std::string>;
  return *messages;
}

}  // namespace

DeviceCheck register_check(const char* message) {
  std::lock_guard<std::mutex> lock(registry_mutex);
  registry().push_back(message);
  return {static_cast<int>(registry().size())};  // codes start at 1: 0 says that nothing failed
}

ErrorWord::ErrorWord(const cl::Context& context, const cl::CommandQueue& queue)
    : buffer_(context, CL_MEM_READ_WRITE, 2 * sizeof(cl_int)) {
  queue.enqueueFillBuffer(buffer_, cl_int{0}, 0, 2 * sizeof(cl_int));
}

void ErrorWord::raise_if_set(const cl::CommandQueue& queue) {
  if (!in_use_) return;
  in_use_ = false;
  std::array<cl_int, 2> word{};
  queue.enqueueReadBuffer(buffer_, CL_TRUE, 0, sizeof word, word.data());
  if (word[0] == 0) return;
  queue.enqueueFillBuffer(buffer_, cl_int{0}, 0, sizeof word);
  std::lock_guard<std::mutex> lock(registry_mutex);
  throw IndexError(concat(registry().at(static_cast<std::size_t>(word[0] - 1)), word[1]));
}

}  // namespace dlprim
