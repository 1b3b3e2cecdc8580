#include "dlprim/core/error.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "dlprim/core/call_state.h"

namespace dlprim {
namespace {

bool has_word(const std::string& text, const char* word) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  const std::size_t length = std::strlen(word);
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + length)) return true;
  return false;
}

std::string named(const std::string& message) {
  const char* operation = call_state.operation;
  return operation && !has_word(message, operation) ? concat(operation, ": ", message) : message;
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(named(message)) {}

void warn_once(const std::string& message) {
  // Never destroyed: exit handlers warn too.
  static auto* mutex = new std::mutex;
  static auto* seen = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (seen->insert(message).second) std::fprintf(stderr, "tapecl: warning: %s\n", message.c_str());
}

}  // namespace dlprim
