#pragma once

#include <string>
#include <vector>

namespace dlprim {

/**
 * Instructions of one architecture alone, which NVIDIA's driver does not compile OpenCL C for: its target is
 * `sm_90`, and Hopper's instructions on warp groups want `sm_90a`. A program's binary is PTX, though, and a
 * comment in `asm` reaches it with its operands. A kernel writes such an instruction as `//@90a wgmma…`. The
 * driver then gets the binary of the program with those comments made part of it and the target named. Text
 * behind `//@entry ` goes to the directives of the kernel around it, which has a reqd_work_group_size.
 */
constexpr const char* patch_mark = "//@90a";
constexpr const char* entry_mark = "//@entry ";

/** Whether a program's source, or its binary, has such lines. */
bool wants_patch(const std::string& source);

/** A binary that has, with the instructions in place. Throws RefusedKernelError where it is not as described.
 */
std::vector<unsigned char> patched(const std::vector<unsigned char>& binary);

}  // namespace dlprim
