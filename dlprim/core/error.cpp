#include "dlprim/core/error.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace dlprim {

void warn_once(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  std::lock_guard<std::mutex> lock(mutex);
  if (seen.insert(message).second) std::fprintf(stderr, "tapecl: warning: %s\n", message.c_str());
}

}  // namespace dlprim
