#include "dlprim/ops/fft/fft_transform.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/fft/fft_length.h"
#include "dlprim/ops/fft/fft_tables.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

void insert(cl_long* list, int count, int position, cl_long value) {
  std::copy_backward(list + position, list + count, list + count + 1);
  list[position] = value;
}

/** A side of complex numbers that adjoin each other in memory, `inner` of them from one of a line to its
 * next. */
FftSide dense_side(std::int64_t inner, std::int64_t elements) {
  FftSide side{};
  side.step = 1;
  side.unit = 2 * inner;
  side.imaginary = 1;
  side.limit = elements;
  return side;
}

/** Scratch memory for `n` elements in place of each line: contiguous [outer, n, inner, 2]. */
struct Room {
  Room(Queue& queue, const FftTransform& t, std::int64_t n) {
    const FftLines& g = t.lines;
    inner = 1;
    std::int64_t stride = 2;
    for (int d = g.rank - 1; d >= 0; --d) {
      if (d == t.outer - 1) stride *= n;
      strides[d] = stride;
      stride *= g.sizes[d];
      if (d >= t.outer) inner *= g.sizes[d];
    }
    memory = queue.scratch({g.lines, n, 2}, t.dtype());
    side = dense_side(inner, n);
    std::copy(strides, strides + g.rank, side.strides);
  }

  Tensor memory;
  FftSide side{};
  std::int64_t inner = 1;

 private:
  cl_long strides[FFT_MAX_DIMS] = {};
};

Range lines_range(Queue& queue, FftLines& g, std::int64_t lanes) {
  if (queue.device().info().runs_cpu_kernels())
    return Range::linear(cpu_shares(queue.device().info(), ceil_div(g.lines, lanes), lanes * g.n), 1);
  return Range::groups(work_group(queue.device().info(), 64), ceil_div(g.lines, g.group_lines));
}

/** Lines that a work group of shape simt takes: enough for its items, as many as its memory holds. */
int group_lines(const DeviceInfo& device, DType dtype, const FftLines& g) {
  constexpr std::int64_t values = 1024;
  const std::int64_t most = std::min(values, longest_line(device, dtype)) / g.n;
  int lines = 1;
  while (lines < FFT_MAX_GROUP_LINES && 2 * lines <= most && lines < g.lines) lines *= 2;
  return lines;
}

bool goes_along_lines(const FftSide& side, int rank) {
  return rank == 0 ||
         side.step * side.unit < side.strides[rank - 1] + side.index_strides[rank - 1] * side.unit;
}

}  // namespace

void FftTransform::add_dim(int position, std::int64_t size, std::int64_t in_stride, std::int64_t in_index,
                           std::int64_t out_stride, std::int64_t out_index) {
  require(lines.rank < FFT_MAX_DIMS, "fft: a length of too many factors");
  insert(lines.sizes, lines.rank, position, size);
  insert(lines.in.strides, lines.rank, position, in_stride);
  insert(lines.in.index_strides, lines.rank, position, in_index);
  insert(lines.out.strides, lines.rank, position, out_stride);
  insert(lines.out.index_strides, lines.rank, position, out_index);
  lines.lines *= size;
  ++lines.rank;
}

void transform_lines(Queue& queue, const FftTransform& t) {
  const DeviceInfo& device = queue.device().info();
  FftLines g = t.lines;
  const std::vector<int> radices = fft_radices(g.n);
  g.passes = static_cast<cl_int>(radices.size());
  std::copy(radices.begin(), radices.end(), g.radices);
  g.in.has_factors = t.in_factors.defined();
  g.out.has_factors = t.out_factors.defined();
  g.group_lines = group_lines(device, t.dtype(), g);
  g.reads_along_lines = goes_along_lines(g.in, g.rank);
  g.writes_along_lines = goes_along_lines(g.out, g.rank);

  const auto bytes = static_cast<std::int64_t>(size_of(t.dtype()));
  const std::int64_t lanes = FFT_VECTOR_BYTES / bytes;
  Defines defines = dtype_defines(t.dtype());
  if (device.runs_cpu_kernels()) defines.set("LINE_LANES", lanes);
  Kernel& kernel = queue.kernel("ops/fft/fft_lines.cl", "fft_lines", defines);
  const Range range = lines_range(queue, g, lanes);
  const Tensor roots = fft_roots(queue, t.dtype(), g.n);
  const auto factors = [](const Tensor& table) { return Optional{table.defined() ? &table : nullptr}; };
  const auto count = [](const Tensor& table) { return cl_long{table.defined() ? table.size(1) : 0}; };
  const auto launch = [&](const auto& scale, const auto& fast) {
    queue.launch(kernel, range, t.x, t.out, roots, factors(t.in_factors), count(t.in_factors),
                 factors(t.out_factors), count(t.out_factors), scale, g, fast);
  };
  const auto launch_scaled = [&](const auto& fast) {
    if (t.dtype() == DType::float64)
      launch(t.scale, fast);
    else
      launch(static_cast<float>(t.scale), fast);
  };
  if (device.runs_cpu_kernels())
    launch_scaled(queue.scratch({static_cast<std::int64_t>(range.global[0]), 4 * g.n * lanes}, t.dtype()));
  else
    launch_scaled(LocalMemory{static_cast<std::size_t>(4 * g.n * g.group_lines * bytes)});
}

void transform_split(Queue& queue, const FftTransform& t) {
  const std::int64_t n = t.length(), n1 = first_factor(queue.device().info(), t.dtype(), n), n2 = n / n1;
  const Room room(queue, t, n);

  FftTransform first = t;  // of elements j1 * n2 + j2 over j1, to k1 * n2 + j2
  first.lines.n = static_cast<cl_int>(n1);
  first.lines.in.step = t.lines.in.step * n2;
  first.out = room.memory;
  first.lines.out = room.side;
  first.lines.out.step = n2;
  first.out_factors = fft_twiddles(queue, t.dtype(), n1, n2);
  first.scale = 1;
  first.add_dim(t.outer, n2, 0, t.lines.in.step, 0, 1);

  FftTransform second = t;  // over j2, to k1 + n1 * k2
  second.lines.n = static_cast<cl_int>(n2);
  second.x = room.memory;
  second.lines.in = room.side;
  second.in_factors = {};
  second.lines.out.step = t.lines.out.step * n1;
  second.add_dim(t.outer, n1, n2 * room.side.unit, 0, 0, t.lines.out.step);
  ++second.outer;

  transform_lines(queue, first);
  transform_smooth(queue, second);
}

void transform_smooth(Queue& queue, const FftTransform& t) {
  const DeviceInfo& device = queue.device().info();
  const std::int64_t lines = t.lines.lines, n = t.length();
  if (n == 1 || cost_of_line(device, t.dtype(), lines, n) <= cost_of_split(device, t.dtype(), lines, n))
    transform_lines(queue, t);
  else
    transform_split(queue, t);
}

void transform_by_chirp(Queue& queue, const FftTransform& t) {
  const std::int64_t n = t.length(), padded = next_smooth(2 * n - 1);
  const Tensor spectrum =
      fft_chirp_spectrum(queue, t.dtype(), n, padded, [&](const Tensor& chirp, const Tensor& result) {
        FftTransform of_chirp;
        of_chirp.x = chirp;
        of_chirp.out = result;
        of_chirp.lines.n = static_cast<cl_int>(padded);
        FftSide planes = dense_side(1, padded);
        planes.unit = 1;
        planes.imaginary = padded;
        of_chirp.lines.in = of_chirp.lines.out = planes;
        transform_smooth(queue, of_chirp);
      });
  const Room room(queue, t, padded);

  FftTransform forward = t;
  forward.lines.n = static_cast<cl_int>(padded);
  forward.in_factors = fft_chirp(queue, t.dtype(), n, padded, false);
  forward.out = room.memory;
  forward.lines.out = room.side;
  forward.out_factors = spectrum;
  forward.scale = 1 / static_cast<double>(padded);

  // An inverse transform is a forward one of numbers whose parts are exchanged; and the chirp's factors are
  // conjugated, as they come before that exchange.
  FftTransform back = t;
  back.lines.n = static_cast<cl_int>(padded);
  back.x = room.memory;
  back.lines.in = room.side;
  back.lines.in.form = FFT_SWAP;
  back.in_factors = {};
  back.lines.out.form ^= FFT_SWAP;
  back.out_factors = fft_chirp(queue, t.dtype(), n, padded, true);

  transform_smooth(queue, forward);
  transform_smooth(queue, back);
}

}  // namespace dlprim
