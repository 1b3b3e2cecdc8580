#include "dlprim/platform/process.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "dlprim/core/error.h"

namespace dlprim::platform {

namespace fs = std::filesystem;

std::int64_t process_id() {
  return ::getpid();
}

std::int64_t thread_id() {
  return ::gettid();
}

void sleep_for_good() {
  for (;;) ::pause();
}

void at_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) {
  pthread_atfork(before, after_in_parent, after_in_child);
}

bool has_ended_other_threads() {
  return false;
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

void set_environment(const char* name, const std::optional<std::string>& value) {
  value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
}

Arguments::Arguments(int count, char** values) : values_(values, values + count) {}

const char* const variables_of_cache_folder = "XDG_CACHE_HOME nor HOME";

std::optional<fs::path> cache_folder() {
  const fs::path xdg = environment("XDG_CACHE_HOME").value_or("");
  if (xdg.is_absolute()) return xdg;
  const fs::path home = environment("HOME").value_or("");
  if (home.is_absolute()) return home / ".cache";
  return std::nullopt;
}

fs::path make_temporary_folder(const std::string& prefix) {
  std::string folder = (fs::temp_directory_path() / (prefix + "XXXXXX")).string();
  require<FileError>(::mkdtemp(folder.data()) != nullptr, "cannot make the folder ", folder);
  return folder;
}

}  // namespace dlprim::platform
