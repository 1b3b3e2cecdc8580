#include "dlprim/ops/sort/search.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

void places_in_order(Queue& queue, const Tensor& sequences, const Tensor& values, bool right,
                     const Tensor& places) {
  ENTER(places_in_order, queue, sequences, values, right, places);
  constexpr const char* op = "places_in_order";
  const DType dtype = values.dtype;
  require<TypeError>(dtype != DType::boolean, op, ": not implemented for bool");
  if (is_floating(dtype)) require_floating(dtype, queue.device(), op);
  require(sequences.rank() == 2 && values.rank() == 2 && sequences.shape[0] == values.shape[0], op,
          ": expected sequences [rows, n] and values [rows, m], got ", sequences.shape, " and ",
          values.shape);
  require_like(op, "the sequences", sequences, sequences.shape, dtype);
  require_contiguous(op, "the values", values);
  require_like(op, "the places", places, values.shape, DType::int64);
  if (places.numel() == 0) return;
  constexpr std::int64_t steps = 16;  // of a search, about
  queue.launch(queue.kernel("ops/sort/search.cl", "places_in_order", dtype_defines(dtype)),
               share_range(queue, places.numel(), steps), sequences, values, places,
               cl_long{sequences.shape[1]}, cl_long{values.shape[1]}, cl_long{places.numel()},
               cl_int{right ? 1 : 0});
}

}  // namespace dlprim
