#include "dlprim/runtime/launch_ranges.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"

namespace dlprim {

int work_group(const DeviceInfo& device, int most) {
  int group = 1;
  while (2 * group <= std::min(most, device.max_work_group)) group *= 2;
  return group;
}

std::int64_t cpu_shares(const DeviceInfo& device, std::int64_t parts, std::int64_t cost) {
  constexpr std::int64_t least_share =
      4096;  // elements; below it starting a work item costs more than its work
  const std::int64_t by_size = parts * std::max<std::int64_t>(cost, 1) / least_share + 1;
  return std::min<std::int64_t>({by_size, 8 * device.compute_units, parts});
}

Range share_range(const Queue& queue, std::int64_t parts, std::int64_t cost, int most) {
  const DeviceInfo& device = queue.device().info();
  if (device.runs_cpu_kernels()) return Range::linear(cpu_shares(device, parts, cost), 1);
  return Range::linear(parts, work_group(device, most));
}

Range line_per_row_range(const Queue& queue, std::int64_t rows, std::int64_t n, int least_lanes) {
  // Joining a row's items takes as long as reading some elements, so that each has those where rows fill the
  // device. Larger groups wait longer for each other.
  constexpr std::int64_t elements_of_item = 8, groups_of_unit = 16;
  const DeviceInfo& device = queue.device().info();
  const int most_items = work_group(device, 128);
  int lanes = work_group(device), lines = 1;
  const bool has_many_rows = rows >= groups_of_unit * device.compute_units;
  while (lanes > least_lanes && lanes / 2 * (has_many_rows ? elements_of_item : 1) >= n) lanes /= 2;
  while (lines * lanes < most_items && rows / (2 * lines) >= groups_of_unit * device.compute_units)
    lines *= 2;
  return Range::lines(lanes, lines, ceil_div(rows, lines));
}

}  // namespace dlprim
