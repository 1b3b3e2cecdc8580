#pragma once

#include <array>

#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

/**
 * The implementations of work on rows of neighbouring elements, each row by itself. Kernels of
 * KernelShape::cpu give a work item some rows; those of KernelShape::simt give one to a line of a work group.
 * A problem says how many `rows()` of how many elements `row_length()` it has, and how many `row_pieces()`:
 * of those a work item of the latter reads one at once. It launches its kernel over a range.
 */
template <class Problem>
std::array<Implementation<Problem>, 2> row_implementations() {
  const auto cost = [](const DeviceInfo&, const Problem& p) {
    return static_cast<double>(p.rows()) * static_cast<double>(p.row_length());
  };
  return {{{"cpu_rows", runs_cpu_kernels<Problem>, cost,
            [](Queue& queue, const Problem& p) {
              p.launch(queue, share_range(queue, p.rows(), p.row_length()));
            }},
           {"simt_groups", runs_simt_kernels<Problem>, cost, [](Queue& queue, const Problem& p) {
              p.launch(queue, line_per_row_range(queue, p.rows(), p.row_pieces()));
            }}}};
}

}  // namespace dlprim
