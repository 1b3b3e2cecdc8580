#pragma once

#include "dlprim/core/dtype.h"
#include "dlprim/core/precision.h"
#include "dlprim/ops/gemm/product_shared.h"
#include "dlprim/runtime/device_info.h"
#include "dlprim/runtime/program.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Rows, columns, depth and number of products, of matrices with their sizes known. */
struct ProductSize {
  std::int64_t rows, columns, depth, batches;
};

/**
 * One way to run the products of dlprim/ops/gemm/product.cl: what a work group makes, and how. The host reads
 * it to lay out a launch, kernels get it as macros.
 */
struct ProductTile {
  const char* name;                 // of the implementations that use it
  int rows, columns, depth, items;  // of a work group
  int part_rows, part_columns;      // results of an item in registers, of a warp of 32 on tensor cores
  int tf32_products;                // that make one product on tensor cores; 0: not there
  int resident;                     // work groups that a compute unit of a GPU holds, and
  double speed;                     // of a full one, in plain multiply-adds of the same time; measured

  /** Whether the device can, and the numbers are as precise as asked for. */
  bool can_take(const DeviceInfo& device, DType dtype, MatmulPrecision precision) const;
  /** See Implementation::expected_cost. */
  double cost(const DeviceInfo& device, const ProductSize& size) const;
  /** What a kernel of that depth is built with. */
  Defines defines(DType dtype, std::int64_t depth) const;
  Range range(const ProductSize& size) const;
  /** Work groups of one product without its depth split. */
  std::int64_t groups(const ProductSize& size) const;
};

inline constexpr ProductTile large_register_tile{"simt_128x128", 128, 128, 8, 256, 8, 8, 0, 1, 1.0};
inline constexpr ProductTile small_register_tile{"simt_64x64", 64, 64, 8, 128, 4, 8, 0, 4, 0.7};
inline constexpr ProductTile tf32_tile{"tensor_tf32", 128, 128, 16, 256, 64, 32, 1, 1, 4.0};
inline constexpr ProductTile tf32x3_tile{"tensor_tf32x3", 128, 128, 16, 256, 64, 32, 3, 1, 1.8};

}  // namespace dlprim
