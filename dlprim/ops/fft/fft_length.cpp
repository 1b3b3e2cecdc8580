#include "dlprim/ops/fft/fft_length.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dlprim/core/checked.h"
#include "dlprim/ops/fft/fft_shared.h"

namespace dlprim {
namespace {

constexpr int primes[] = {2, 3, 5, 7, 11, 13};
constexpr double never = std::numeric_limits<double>::infinity();

/** `n` divided by `prime` as often as it can be; `count` gets how often that is. */
std::int64_t without(std::int64_t n, int prime, int& count) {
  for (count = 0; n % prime == 0; ++count) n /= prime;
  return n;
}

}  // namespace

bool is_smooth(std::int64_t n) {
  int count;
  for (const int prime : primes) n = without(n, prime, count);
  return n == 1;
}

std::vector<int> fft_radices(std::int64_t n) {
  std::vector<int> radices;
  if (!is_smooth(n)) return radices;
  int count;
  for (const int prime : {13, 11, 7, 5, 3}) {
    n = without(n, prime, count);
    radices.insert(radices.end(), static_cast<std::size_t>(count), prime);
  }
  without(n, 2, count);
  // Passes of radix 8 are the best, and two of radix 4 are better than those of 8 and 2.
  for (; count >= 3 && count != 4; count -= 3) radices.push_back(8);
  for (; count >= 2; count -= 2) radices.push_back(4);
  if (count == 1) radices.push_back(2);
  return radices;
}

std::int64_t next_smooth(std::int64_t n) {
  std::int64_t best = 1;
  while (best < n) best *= 2;
  for (std::int64_t fives = 1; fives < best; fives *= 5)
    for (std::int64_t threes = fives; threes < best; threes *= 3) {
      std::int64_t length = threes;
      while (length < n) length *= 2;
      best = std::min(best, length);
    }
  return best;
}

std::int64_t longest_line(const DeviceInfo& device, DType dtype) {
  constexpr std::int64_t longest = 4096;
  if (device.runs_cpu_kernels()) return longest;
  // Two buffers of complex numbers, beside the places of the lines. They are an argument, which Hopper gives
  // no more memory than it says (as against usable_local_memory, of what kernels declare).
  const auto usable = static_cast<std::int64_t>(device.local_memory) - 2048;
  return std::clamp<std::int64_t>(usable / (4 * static_cast<std::int64_t>(size_of(dtype))), 16, longest);
}

std::int64_t first_factor(const DeviceInfo& device, DType dtype, std::int64_t n) {
  const std::int64_t longest = std::min(longest_line(device, dtype), n / 2);
  const double root = std::sqrt(static_cast<double>(n));
  std::int64_t best = 1;
  for (std::int64_t factor = 2; factor <= longest; ++factor)
    if (n % factor == 0 && std::abs(std::log(static_cast<double>(factor) / root)) <
                               std::abs(std::log(static_cast<double>(best) / root)))
      best = factor;
  return best;
}

double cost_of_line(const DeviceInfo& device, DType dtype, std::int64_t lines, std::int64_t n) {
  if (n > longest_line(device, dtype)) return never;
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t lanes = device.runs_cpu_kernels() ? FFT_VECTOR_BYTES / bytes : 1;
  const std::int64_t tiles = ceil_div(lines, lanes), rounds = ceil_div(tiles, device.compute_units);
  constexpr double ends = 4;              // reading and writing, in passes
  constexpr std::int64_t near = 1 << 18;  // bytes of a tile that stays in a core's nearer caches
  const double crowding = device.runs_cpu_kernels() && n * lanes * 2 * bytes > near ? 1.5 : 1;
  const double passes = ends + crowding * static_cast<double>(fft_radices(n).size());
  return static_cast<double>(rounds * lanes * n) * passes;
}

double cost_of_split(const DeviceInfo& device, DType dtype, std::int64_t lines, std::int64_t n) {
  const std::int64_t first = first_factor(device, dtype, n);
  if (first == 1) return never;
  constexpr double launch = 20000;
  return launch + cost_of_line(device, dtype, lines * (n / first), first) +
         cost_of_smooth(device, dtype, lines * first, n / first);
}

double cost_of_smooth(const DeviceInfo& device, DType dtype, std::int64_t lines, std::int64_t n) {
  const double whole = cost_of_line(device, dtype, lines, n);
  return std::min(whole, n > 1 ? cost_of_split(device, dtype, lines, n) : never);
}

}  // namespace dlprim
