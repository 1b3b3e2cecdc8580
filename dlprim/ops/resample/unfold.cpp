#include "dlprim/ops/resample/unfold.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/resample/resample_launch.h"
#include "dlprim/ops/resample/resample_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

KernelBlocks kernel_blocks(const char* op, const Queue& queue, const Tensor& image, const Tensor& columns,
                           const BlockGeometry& g) {
  require(image.rank() >= 2, op, ": expected an image [..., H, W], got shape ", image.shape);
  const auto size = spatial_sizes(op, image.shape, 2);
  const auto blocks = block_counts(op, {image.size(-2), image.size(-1)}, g);
  const std::int64_t taps = kernel_int(product({g.kernel_size[0], g.kernel_size[1]}), op, "a kernel");
  const std::int64_t planes = product(Dims(image.shape.begin(), image.shape.end() - 2));
  require(columns.rank() >= 1 && columns.size(-1) == blocks[0] * blocks[1] &&
              columns.numel() == product({planes, taps, blocks[0], blocks[1]}),
          op, ": image of shape ", image.shape, " and columns of shape ", columns.shape, " do not fit");
  require<TypeError>(image.dtype == columns.dtype, op, ": expected one dtype, got ", name(image.dtype),
                     " and ", name(columns.dtype));
  require_floating(image.dtype, queue.device(), op);
  require_contiguous(op, "the image", image);
  require_contiguous(op, "the columns", columns);
  KernelBlocks b{};
  for (std::size_t i = 0; i < 2; ++i) {
    b.size[i] = size[i + 1];
    b.blocks[i] = kernel_int(blocks[i], op, "a number of blocks");
    b.kernel_size[i] = g.kernel_size[i];
    b.padding[i] = g.padding[i];
    // Steps that are never taken do not matter, and may be larger than kernels count.
    b.dilation[i] = g.kernel_size[i] == 1 ? 1 : g.dilation[i];
    b.stride[i] = blocks[i] == 1 ? 1 : g.stride[i];
  }
  return b;
}

void launch(Queue& queue, const char* kernel, const Tensor& source, const Tensor& result,
            const KernelBlocks& blocks, std::int64_t columns) {
  if (result.numel() == 0) return;
  const std::int64_t rows = result.numel() / columns;
  queue.launch(resample_kernel(queue, kernel, result.dtype), rows_range(queue, rows, columns), source, result,
               cl_long{rows}, blocks);
}

std::int64_t taps_of(const BlockGeometry& g) {
  return std::int64_t{g.kernel_size[0]} * g.kernel_size[1];
}

}  // namespace

std::array<std::int64_t, 2> block_counts(const char* op, const std::array<std::int64_t, 2>& size,
                                         const BlockGeometry& g) {
  std::array<std::int64_t, 2> counts{};
  for (std::size_t i = 0; i < 2; ++i) {
    require(g.kernel_size[i] > 0, op, ": kernel size should be greater than zero, got ", g.kernel_size[i]);
    require(g.dilation[i] > 0, op, ": dilation should be greater than zero, got ", g.dilation[i]);
    require(g.stride[i] > 0, op, ": stride should be greater than zero, got ", g.stride[i]);
    require(g.padding[i] >= 0, op, ": padding should be non-negative, got ", g.padding[i]);
    const std::int64_t reach = std::int64_t{g.dilation[i]} * (g.kernel_size[i] - 1) + 1;
    const std::int64_t room = size[i] + 2 * std::int64_t{g.padding[i]} - reach;
    require(room >= 0, op, ": no block of kernel_size (", g.kernel_size[0], ", ", g.kernel_size[1],
            "), dilation (", g.dilation[0], ", ", g.dilation[1], ") and padding (", g.padding[0], ", ",
            g.padding[1], ") fits an image of (", size[0], ", ", size[1], ")");
    kernel_int(size[i] + 2 * std::int64_t{g.padding[i]}, op, "a padded image");
    counts[i] = room / g.stride[i] + 1;
  }
  return counts;
}

Dims unfold_output_shape(const char* op, const Dims& image, const BlockGeometry& g) {
  const int rank = image.size();
  require(rank == 3 || rank == 4, op, ": expected an input [N, C, H, W] or [C, H, W], got shape ", image);
  for (int d = rank - 3; d < rank; ++d)
    require(image[d] > 0, op, ": only the batch may be empty, got shape ", image);
  const auto blocks = block_counts(op, {image[rank - 2], image[rank - 1]}, g);
  Dims columns(image.begin(), image.end() - 3);
  columns.push_back(product({image[rank - 3], taps_of(g)}));
  columns.push_back(product({blocks[0], blocks[1]}));
  return columns;
}

Dims fold_output_shape(const char* op, const Dims& columns, const std::array<int, 2>& output_size,
                       const BlockGeometry& g) {
  const int rank = columns.size();
  require(rank == 2 || rank == 3, op,
          ": expected an input [N, C KH KW, blocks] or [C KH KW, blocks], got shape ", columns);
  require(columns[rank - 2] > 0 && columns[rank - 1] > 0, op, ": only the batch may be empty, got shape ",
          columns);
  const auto [height, width] = output_size;
  require(height > 0 && width > 0, op, ": output_size should be greater than zero, got (", height, ", ",
          width, ")");
  const auto blocks = block_counts(op, {height, width}, g);
  require(columns[rank - 2] % taps_of(g) == 0, op, ": expected size of dimension 1 of input ", columns,
          " to be divisible by the product of kernel_size, ", taps_of(g));
  require(columns[rank - 1] == product({blocks[0], blocks[1]}), op, ": output_size (", height, ", ", width,
          ") has ", blocks[0], " * ", blocks[1], " blocks, but input of shape ", columns, " has ",
          columns[rank - 1]);
  Dims image(columns.begin(), columns.end() - 2);
  for (const std::int64_t size : {columns[rank - 2] / taps_of(g), std::int64_t{height}, std::int64_t{width}})
    image.push_back(size);
  return image;
}

void unfold(Queue& queue, const Tensor& image, const BlockGeometry& geometry, const Tensor& columns) {
  ENTER(unfold, queue, image, geometry, columns);
  const KernelBlocks blocks = kernel_blocks("unfold", queue, image, columns, geometry);
  launch(queue, "unfold", image, columns, blocks, blocks.blocks[1]);
}

void fold(Queue& queue, const Tensor& columns, const BlockGeometry& geometry, const Tensor& image) {
  ENTER(fold, queue, columns, geometry, image);
  const KernelBlocks blocks = kernel_blocks("fold", queue, image, columns, geometry);
  launch(queue, "fold", columns, image, blocks, blocks.size[1]);
}

}  // namespace dlprim
