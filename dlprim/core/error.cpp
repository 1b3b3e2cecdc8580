#include "dlprim/core/error.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace dlprim {

void warn_once(const std::string& message) {
  // Never destroyed: exit handlers warn too.
  static auto* mutex = new std::mutex;
  static auto* seen = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (seen->insert(message).second) std::fprintf(stderr, "tapecl: warning: %s\n", message.c_str());
}

}  // namespace dlprim
