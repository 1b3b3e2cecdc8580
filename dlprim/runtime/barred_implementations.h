#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace dlprim {

class ImplementationFamily;

/** An implementation that is not to run on a device, and why. */
struct BarredImplementation {
  std::string family;
  std::string implementation;
  std::string reason;
};

/**
 * The implementations that give wrong results on a device and are barred for it. An ImplementationList leaves
 * them out unless they are forced. They are kept in the kernel cache's database by the device's name and its
 * driver's version, so that another driver starts with all of them.
 *
 * Thread safe.
 */
class BarredImplementations {
 public:
  BarredImplementations(std::string device, std::string driver)
      : device_(std::move(device)), driver_(std::move(driver)) {}

  /** A bit for each implementation of the family, by its number. */
  std::uint64_t of(const ImplementationFamily& family);
  std::vector<BarredImplementation> list();
  /**
   * Bars one in this process and in later ones; one that is barred already gets the new reason. Throws
   * ValueError for a family or an implementation that does not exist, FileError where it cannot be kept.
   */
  void bar(const BarredImplementation& barred);
  /** Frees all of them. Throws FileError where the database cannot be written. */
  void unbar();

 private:
  void load();

  const std::string device_, driver_;
  std::once_flag loaded_;
  std::atomic<bool> is_empty_{true};
  std::shared_mutex mutex_;
  std::vector<BarredImplementation> entries_;
};

}  // namespace dlprim
