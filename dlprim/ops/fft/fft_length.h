#pragma once

#include <cstdint>
#include <vector>

#include "dlprim/core/dtype.h"
#include "dlprim/runtime/device_info.h"

/** \file What lengths of transforms are made of. */

namespace dlprim {

/** The radices of a line's passes, which multiply to `n`; empty where `n` has a prime factor above 13, and
 * for n = 1. */
std::vector<int> fft_radices(std::int64_t n);
/** Whether all prime factors of `n` are at most 13. */
bool is_smooth(std::int64_t n);
/** The smallest length of at least `n` whose prime factors are at most 5. */
std::int64_t next_smooth(std::int64_t n);

/** The longest line that one launch transforms on the device. */
std::int64_t longest_line(const DeviceInfo& device, DType dtype);
/** The factor that is transformed first where a smooth length is split: the one nearest to the square root
 * among those that one launch transforms; 1 where there is none. */
std::int64_t first_factor(const DeviceInfo& device, DType dtype, std::int64_t n);

/** How long transforms of `lines` lines of that smooth length take: in one launch (infinite where the line is
 * too long), split (infinite where it cannot be), and by the better of both. */
double cost_of_line(const DeviceInfo& device, DType dtype, std::int64_t lines, std::int64_t n);
double cost_of_split(const DeviceInfo& device, DType dtype, std::int64_t lines, std::int64_t n);
double cost_of_smooth(const DeviceInfo& device, DType dtype, std::int64_t lines, std::int64_t n);

}  // namespace dlprim
