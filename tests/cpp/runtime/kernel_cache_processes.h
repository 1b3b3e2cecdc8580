#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/cpp/runtime/kernel_cache_testing.h"

/** Child processes for the tests of the kernel cache, made by fork(), which Windows has not. */
namespace dlprim::kernel_cache_testing {

inline constexpr uid_t kNobody = 65534;

/** Runs `body` in a forked process; true when it returned true. */
inline pid_t start_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return child;
}

inline bool succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline bool in_child(const std::function<bool()>& body) {
  return succeeded(start_child(body));
}

/** Starts `count` children that wait for each other, then run `body(index)`; true when all returned true. */
inline bool all_at_once(int count, const std::function<bool(int)>& body) {
  int gate[2];
  if (pipe(gate) != 0) return false;
  std::vector<pid_t> children;
  for (int index = 0; index < count; ++index) {
    children.push_back(start_child([&] {
      close(gate[1]);
      char byte;
      static_cast<void>(!read(gate[0], &byte, 1));
      return body(index);
    }));
  }
  close(gate[0]);
  close(gate[1]);
  bool all = true;
  for (const pid_t child : children) all = succeeded(child) && all;
  return all;
}

class KernelCacheProcessTest : public KernelCacheTest {
 protected:
  /** Overwrites the file from another process, so that no lock of this one is lost by closing it. */
  void overwrite(const fs::path& path, std::uintmax_t offset, const std::string& bytes) const {
    ASSERT_TRUE(in_child([&] {
      const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT, 0644);
      return pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
             static_cast<ssize_t>(bytes.size());
    }));
  }
};

}  // namespace dlprim::kernel_cache_testing
