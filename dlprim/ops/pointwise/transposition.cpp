#include "dlprim/ops/pointwise/transposition.h"

#include <algorithm>
#include <optional>

#include "dlprim/core/checked.h"
#include "dlprim/core/layout.h"
#include "dlprim/ops/pointwise/transposition_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** Where lines are shorter, neighbours in one tensor are near each other in the other one too. */
constexpr std::int64_t least = LEAST_TRANSPOSED;

/** The dimension along which elements follow each other; -1 for none. */
template <class Sizes, class Strides>
int line_of(const Sizes& sizes, const Strides& strides, int rank) {
  for (int d = 0; d < rank; ++d)
    if (strides[d] == 1 && sizes[d] > 1) return d;
  return -1;
}

/** Without its blocks. Nothing for what is no transposition, and for more than kernels count. */
std::optional<Transposition> transposition_of(const Tensor& source, const Tensor& destination) {
  // Most copies are none of these, which is soon seen.
  const int rank = destination.rank(), from = line_of(source.shape, source.strides, rank),
            to = line_of(destination.shape, destination.strides, rank);
  if (from < 0 || to < 0 || from == to) return std::nullopt;
  const Layout layout = elementwise_layout(destination.shape, {source.strides, destination.strides});
  if (layout.numel() > max_kernel_int) return std::nullopt;
  const std::vector<std::int64_t>&sizes = layout.sizes, &sources = layout.strides[0],
        &destinations = layout.strides[1];
  const int merged = static_cast<int>(sizes.size());
  const int across = line_of(sizes, sources, merged), along = line_of(sizes, destinations, merged);
  if (std::min(across, along) < 0 || std::min(sizes[across], sizes[along]) < least) return std::nullopt;
  Transposition t{};
  t.source_stride = sources[along];
  t.destination_stride = destinations[across];
  t.along = static_cast<cl_int>(sizes[along]);
  t.across = static_cast<cl_int>(sizes[across]);
  std::fill(std::begin(t.size), std::end(t.size), 1);
  int other = 0;
  for (int d = merged - 1; d >= 0; --d) {
    if (d == along || d == across) continue;
    t.size[other] = static_cast<cl_int>(sizes[d]);
    t.source_strides[other] = sources[d];
    t.destination_strides[other++] = destinations[d];
  }
  return t;
}

void set_blocks(Transposition& t, int along, int across) {
  t.blocks_along = along;
  t.blocks_across = across;
  t.blocks = along * across;
  for (const cl_int size : t.size) t.blocks *= size;
}

/** A block of a work group on a GPU, in local memory. Lines are an odd number of words apart, so that
 * neighbours of a column meet banks of their own. */
struct LocalBlock {
  int edge, pitch, bytes;

  explicit LocalBlock(int element)
      : edge(element < 8 ? 64 : 32), pitch(edge + std::max(4 / element, 1)), bytes(edge * pitch * element) {}
  bool fits(const DeviceInfo& device) const {
    return device.max_work_group >= TRANSPOSED_ITEMS &&
           static_cast<std::uint64_t>(bytes) <= device.usable_local_memory();
  }
};

Defines element_define(DType dtype) {
  constexpr const char* of_log2_size[] = {"uchar", "ushort", "uint", "ulong"};
  int log2 = 0;
  while (size_of(dtype) >> (log2 + 1)) ++log2;
  return Defines().set("ELEMENT", of_log2_size[log2]).set("ELEMENT_BYTES", 1 << log2);
}

}  // namespace

bool copy_transposed(Queue& queue, const Tensor& source, const Tensor& destination) {
  if (size_of(source.dtype) > 8) return false;  // the kernels' vectors are of integers
  std::optional<Transposition> t = transposition_of(source, destination);
  if (!t) return false;
  Defines defines = element_define(source.dtype);
  if (queue.device().info().runs_cpu_kernels()) {
    constexpr int edge = TRANSPOSED_CPU_BLOCK;
    set_blocks(*t, std::max(t->along / edge, 1), std::max(t->across / edge, 1));
    queue.launch(queue.kernel("ops/pointwise/transposition_cpu.cl", "transposed_copy", defines),
                 share_range(queue, t->blocks, edge * edge), source, destination, *t);
    return true;
  }
  const LocalBlock block(static_cast<int>(size_of(source.dtype)));
  if (!block.fits(queue.device().info())) return false;
  const int edge = block.edge;
  set_blocks(*t, static_cast<int>(ceil_div(t->along, edge)), static_cast<int>(ceil_div(t->across, edge)));
  queue.launch(queue.kernel("ops/pointwise/transposition_simt.cl", "transposed_copy",
                            defines.set("BLOCK", edge).set("PITCH", block.pitch)),
               Range::groups(TRANSPOSED_ITEMS, t->blocks), source, destination, *t);
  return true;
}

}  // namespace dlprim
