#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dlprim/runtime/ceilings.h"
#include "dlprim/runtime/profiler.h"

namespace ocl::profiler {

/** One kernel launch on one device. */
struct Launch {
  std::string device;
  dlprim::KernelRecord kernel;
  /**
   * The least that it had to do: operations of matrix products and convolutions, two a multiply-add, and
   * bytes of the tensors that were read and written. Known of calls as a whole: of one that launches several
   * kernels each has a part by its time. 0 where it is not known: on other threads than the profile's own,
   * and where another thread stops the profile.
   */
  double operations = 0, bytes = 0;
};

/**
 * Times every kernel launch on every opened device from construction to stop(), and counts the work of the
 * constructing thread. Launches cost more meanwhile (events); nothing before and after. A table or trace that
 * compares with the device's ceilings measures these first (dlprim/runtime/ceilings.h).
 */
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /** Ends the recording; waits for the devices. The functions below call it first. */
  void stop();
  const std::vector<Launch>& launches();
  /** The meaning of a table's lines. */
  enum class By { kernel, operation, module, implementation };
  /** A line per kernel, or per operator, module or chosen implementation (dlprim/runtime/implementation.h)
   * that launched it, the longest first. A backward step counts for the module of its forward call, if that
   * was recorded too; modules are called by their path and class, "layer1.0.conv1 (Conv2d)". Columns: calls,
   * total and mean time, share, GFLOP/s, GB/s, and the time that the device's ceilings allow in per cent of
   * that which it took. */
  std::string table(By by = By::kernel);
  /** A trace for chrome://tracing or Perfetto: the launches with the figures of table(), and above them the
   * operators and the modules, one level of their paths in the other, from the first launch of each to its
   * last. Throws FileError. */
  void export_chrome_trace(const std::filesystem::path& path);
  /** One line per launch: device, kernel, start and duration in nanoseconds, operator, module,
   * implementation, and the figures of table(). Throws FileError. */
  void export_csv(const std::filesystem::path& path);

 private:
  class WorkCounter;

  /** The ceilings of the devices that launched. */
  std::map<std::string, dlprim::Ceilings> ceilings();

  bool running_ = true;
  std::unique_ptr<WorkCounter> counter_;
  std::vector<Launch> launches_;
};

}  // namespace ocl::profiler
