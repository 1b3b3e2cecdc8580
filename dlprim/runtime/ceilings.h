#pragma once

namespace dlprim {

class Device;

/** The highest rates of a device, measured by kernels that do nothing else: profiles compare with them. */
struct Ceilings {
  /** Operations a second, of float32 multiply-adds in registers, which are two each. Matrix units, which
   * lower precisions and TF32 have on some devices, go beyond. */
  double operations;
  /** Bytes a second that a copy reads and writes, of more memory than most caches hold. */
  double bytes;
};

/** Measured at the first call in a process, which waits for the device and takes it for some tenths of a
 * second. Throws OutOfMemoryError where there is no room for the copy. */
Ceilings ceilings(Device& device);

}  // namespace dlprim
