#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/** This process, its threads and its environment. Folders posix and windows have one implementation each. */
namespace dlprim::platform {

std::int64_t process_id();
/** The system's number of the calling thread. */
std::int64_t thread_id();
[[noreturn]] void sleep_for_good();

/** Calls these at every fork(), as pthread_atfork does. Windows has no fork(). */
void at_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)());
/** Whether the system has ended all threads but the one that ends the process, whatever they held: so Windows
 * does before it unloads libraries. */
bool has_ended_other_threads();

/** A variable of the environment; nothing where it is empty. UTF-8. */
std::optional<std::string> environment(const char* name);
/** Nothing removes the variable. Not while other threads read the environment. */
void set_environment(const char* name, const std::optional<std::string>& value);

/** The arguments of main(), in UTF-8. */
class Arguments {
 public:
  Arguments(int count, char** values);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  int count() const { return static_cast<int>(values_.size()); }
  const char* const* values() const { return values_.data(); }

 private:
  std::vector<std::string> texts_;  ///< where those of main() are not in UTF-8
  std::vector<const char*> values_;
};

/** The folder of this user for what programs can make again. */
std::optional<std::filesystem::path> cache_folder();
/** How users set cache_folder(). */
extern const char* const variables_of_cache_folder;
/** A new folder for this user alone, whose name begins with `prefix`. Throws FileError. */
std::filesystem::path make_temporary_folder(const std::string& prefix);

}  // namespace dlprim::platform
