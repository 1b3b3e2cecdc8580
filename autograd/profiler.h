#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dlprim/runtime/profiler.h"

namespace ocl::profiler {

/** One kernel launch on one device. */
struct Launch {
  std::string device;
  dlprim::KernelRecord kernel;
};

/**
 * Times every kernel launch on every opened device from construction to stop(). Launches cost more meanwhile
 * (events); nothing before and after.
 */
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /** Ends the recording; waits for the devices. What follows calls it first. */
  void stop();
  const std::vector<Launch>& launches();
  /** What the lines of a table stand for. */
  enum class By { kernel, operation, module, implementation };
  /** A line per kernel, or per operator, class of module or chosen implementation (dlprim/runtime/
   * implementation.h) that launched it: calls, total and mean time, share; the longest first. */
  std::string table(By by = By::kernel);
  /** A trace for chrome://tracing or Perfetto. Throws FileError. */
  void export_chrome_trace(const std::filesystem::path& path);
  /** One line per launch: device, kernel, start and duration in nanoseconds. Throws FileError. */
  void export_csv(const std::filesystem::path& path);

 private:
  bool running_ = true;
  std::vector<Launch> launches_;
};

}  // namespace ocl::profiler
