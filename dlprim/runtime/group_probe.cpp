#include "dlprim/runtime/group_probe.h"

#include <algorithm>

#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"

namespace dlprim {

void group_probe(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& c, int rows, int columns) {
  for (const Tensor* matrix : {&a, &b, &c})
    require(matrix->dtype == DType::float32 && matrix->shape.size() == 2 && matrix->is_contiguous(),
            "group_probe: expected contiguous float32 matrices");
  const std::int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  require(b.shape[0] == k && c.shape[0] == m && c.shape[1] == n, "group_probe: the shapes do not fit: (", m,
          ", ", k, ") (", b.shape[0], ", ", n, ") to (", c.shape[0], ", ", c.shape[1], ")");
  require(std::max({m, n, k}) <= 4096, "group_probe: expected at most 4096 rows and columns");
  const int most = queue.device().info().max_work_group;
  require(rows > 0 && columns > 0 && rows * columns <= most,
          "group_probe: the device runs work groups of 1 to ", most, " items, got ", rows, " x ", columns);
  Defines defines;
  defines.set("ROWS", rows).set("COLUMNS", columns);
  const auto parts = [](std::int64_t size, int group) { return (size + group - 1) / group; };
  queue.launch(queue.kernel("runtime/group_probe.cl", "group_probe", defines),
               Range::lines(columns, rows, parts(n, columns), parts(m, rows)), a, b, c,
               static_cast<cl_int>(m), static_cast<cl_int>(n), static_cast<cl_int>(k));
}

}  // namespace dlprim
