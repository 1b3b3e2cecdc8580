#include "dlprim/platform/process.h"

#include <windows.h>
#include <winternl.h>

#include <shellapi.h>

#include <cstdlib>
#include <random>

#include "dlprim/core/error.h"

#if defined(__MINGW32__)
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*);

/**
 * MinGW keeps what is thread_local, and the list of its destructors, by two keys of threads, which end in the
 * order in which they were made. The list comes first from here on: destructors would find freed memory.
 */
__attribute__((constructor(101))) static void end_objects_before_their_memory() {
  __cxa_thread_atexit([](void*) {}, nullptr, nullptr);
}
#endif

namespace dlprim::platform {
namespace {

namespace fs = std::filesystem;

std::string utf8(const std::wstring& text) {
  return fs::path(text).u8string();
}

std::wstring wide(const std::string& text) {
  return fs::u8path(text).wstring();
}

}  // namespace

std::int64_t process_id() {
  return GetCurrentProcessId();
}

std::int64_t thread_id() {
  return GetCurrentThreadId();
}

void sleep_for_good() {
  for (;;) Sleep(INFINITE);
}

void at_fork(void (*)(), void (*)(), void (*)()) {}

bool has_ended_other_threads() {
  using InShutdown = BOOLEAN(NTAPI*)();
  static const auto in_shutdown = reinterpret_cast<InShutdown>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlDllShutdownInProgress")));
  return in_shutdown && in_shutdown();
}

std::optional<std::string> environment(const char* name) {
  const std::wstring wide_name = wide(name);
  std::wstring value(GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0), L'\0');
  if (value.size() < 2) return std::nullopt;
  value.resize(GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size())));
  return utf8(value);
}

// The C library keeps a copy, which it reads, and changes the system's as well.
void set_environment(const char* name, const std::optional<std::string>& value) {
  _wputenv_s(wide(name).c_str(), wide(value.value_or("")).c_str());
}

// main() gets them in the code page of the system, which has no more than 256 characters.
Arguments::Arguments(int, char**) {
  int count = 0;
  wchar_t** const values = CommandLineToArgvW(GetCommandLineW(), &count);
  for (int i = 0; i < count; ++i) texts_.push_back(utf8(values[i]));
  LocalFree(values);
  for (const std::string& text : texts_) values_.push_back(text.c_str());
}

const char* const variables_of_cache_folder = "LOCALAPPDATA";

std::optional<fs::path> cache_folder() {
  const fs::path folder = fs::u8path(environment("LOCALAPPDATA").value_or(""));
  if (!folder.is_absolute()) return std::nullopt;
  return folder;
}

fs::path make_temporary_folder(const std::string& prefix) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    const fs::path folder = fs::temp_directory_path() / fs::u8path(prefix + std::to_string(random()));
    if (CreateDirectoryW(folder.c_str(), nullptr)) return folder;
  }
  throw FileError(concat("cannot make a folder ", prefix, "* in ", fs::temp_directory_path().u8string()));
}

}  // namespace dlprim::platform
