#pragma once

#include "dlprim/export/exported_program.h"

namespace dlprim {

class Device;

/**
 * Lets programs on the device use the binaries that `program` has for its driver: they go into the kernel
 * cache, where kernels are looked for before they are built. Binaries of other devices and drivers are left
 * out. To be called before the program runs first. Has no effect but a warning where the cache is off.
 *
 * A binary is native code. Drivers load it unchecked, and it runs with the rights of the process, in later
 * processes of the user too. Call it for files alone whose maker you trust as you trust a program's.
 */
void trust_binaries(const ExportedProgram& program, const Device& device);

/**
 * The program with the binaries of all kernels that it needs on the device. It runs twice, with zeros as
 * inputs and the greatest sizes of a dynamic program. `program` stays as it is.
 *
 * Throws Error unless the process's kernel cache is on and empty: whatever is in it afterwards is taken. Use
 * a process of its own, with OCL_KERNEL_CACHE naming a new folder, and POCL_KERNEL_CACHE=0, without which
 * ProgramTable::store_rest does not wait for all of PoCL's binaries.
 */
ExportedProgram with_binaries(const ExportedProgram& program, Device& device);

}  // namespace dlprim
