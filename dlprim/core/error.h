#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>

namespace dlprim {

/** Base of every error the library throws. Messages name the operator that the thread is in, if any. */
class Error : public std::runtime_error {
 public:
  /** Puts the operator's name (CallState) before a message that does not have it. */
  explicit Error(const std::string& message);
};

/** A shape, size or option that does not fit. Python: ValueError. */
class ValueError : public Error {
  using Error::Error;
};

/** A dtype or kind of object that an operator does not take. Python: TypeError. */
class TypeError : public Error {
  using Error::Error;
};

/** A dimension or element index out of range. Python: IndexError. */
class IndexError : public Error {
  using Error::Error;
};

/** A whole number divided by zero. Python: ZeroDivisionError. */
class ZeroDivisionError : public Error {
  using Error::Error;
};

/** Something the autograd tape forbids (second backward, stale saved tensor). Python: RuntimeError. */
class AutogradError : public Error {
  using Error::Error;
};

/** A file that is missing, damaged or not what it should be; the message names it. Python: OSError. */
class FileError : public Error {
  using Error::Error;
};

/** No such device, no OpenCL platform, or a failing OpenCL call. Python: ocl.DeviceError. */
class DeviceError : public Error {
  using Error::Error;
};

/** A kernel that does not compile; the message holds the build log. Python: ocl.KernelBuildError. */
class KernelBuildError : public DeviceError {
  using DeviceError::DeviceError;
};

/** A kernel for one kind of device that the driver there does not take, although it should: its
 * implementation is left out from then on. */
class RefusedKernelError : public KernelBuildError {
  using KernelBuildError::KernelBuildError;
};

/** The device has no room for a request, even with the cache freed. Python: ocl.OutOfMemoryError. */
class OutOfMemoryError : public DeviceError {
 public:
  OutOfMemoryError(const std::string& message, std::size_t requested)
      : DeviceError(message), requested_bytes(requested) {}
  const std::size_t requested_bytes;
};

/** Joins its arguments through operator<<. */
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/** Throws `E` with the joined message unless `condition` holds. */
template <class E = ValueError, class... Parts>
void require(bool condition, const Parts&... message) {
  if (!condition) throw E(concat(message...));
}

/** The result of `work`. An error in its arguments says the text `place()` first. */
template <class Place, class Work>
auto at_place(const Place& place, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const ValueError& e) {
    throw ValueError(concat(place(), ": ", e.what()));
  } catch (const TypeError& e) {
    throw TypeError(concat(place(), ": ", e.what()));
  } catch (const IndexError& e) {
    throw IndexError(concat(place(), ": ", e.what()));
  }
}

/** Prints one line to stderr, prefixed "tapecl: warning:"; each distinct text once a process. */
void warn_once(const std::string& message);

}  // namespace dlprim
