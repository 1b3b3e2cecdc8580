#pragma once

namespace testing_support {

/** Whether the device's processor notes that an operand was a denormal number, where its kernels can read
 * that: x86 (MXCSR), by PoCL, which leaves it as kernels do. */
bool notes_denormals();

/** Whether one was met in any thread of the device since the last call. */
bool have_met_denormals();

/** Memory that is given back to the allocator full of denormal numbers. */
void leave_denormals_in_memory();

}  // namespace testing_support
