#include "dlprim/ops/sort/sort.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/sort/sort_shared.h"
#include "dlprim/ops/sort/work.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/sort/sort.cl";
constexpr std::int64_t short_row = 128;  // up to here every element counts those before it
constexpr std::int64_t least_cpu_block = 8192;
constexpr std::int64_t digits = 1 << DIGIT_BITS;

Defines key_defines(int key_bits) {
  return Defines().set("KEY_BITS", key_bits);
}

/** How rows are cut for the passes. */
struct Blocks {
  std::int64_t rows, n, size, count;

  std::int64_t parts() const { return rows * count; }
};

Blocks cut(const Queue& queue, const Dims& shape) {
  const DeviceInfo& info = queue.device().info();
  Blocks blocks{shape[0], shape[1], work_group(queue.device().info()) * SIMT_STRETCH, 0};
  if (info.runs_cpu_kernels()) {
    const std::int64_t wanted = 4 * info.compute_units / blocks.rows;
    const std::int64_t count =
        std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(blocks.n / least_cpu_block, 1));
    blocks.size = (blocks.n + count - 1) / count;
  }
  blocks.count = (blocks.n + blocks.size - 1) / blocks.size;
  return blocks;
}

/** Pairs of keys and positions, and room to move them to. */
class Passes {
 public:
  Passes(Queue& queue, const Tensor& keys, int key_bits)
      : queue_(queue),
        defines_(key_defines(key_bits)),
        cpu_(queue.device().info().runs_cpu_kernels()),
        blocks_(cut(queue, keys.shape)),
        keys_(keys),
        other_keys_(queue.scratch(keys.shape, keys.dtype)),
        other_order_(queue.scratch(keys.shape, DType::int32)) {
    if (cpu_ || blocks_.count > 1)
      counts_ = queue.scratch({blocks_.rows, digits * blocks_.count}, DType::int32);
    if (!cpu_ && blocks_.count > 1) totals_ = queue.scratch({blocks_.rows * digits}, DType::int32);
  }

  /** Sorts by the lowest `bits` of the keys. */
  void run(int bits) {
    for (int shift = 0; shift < bits; shift += DIGIT_BITS) {
      if (cpu_)
        pass_on_cpu(shift);
      else
        pass(shift, std::min<int>(DIGIT_BITS, bits - shift));
      std::swap(keys_, other_keys_);
      std::swap(order_, other_order_);
      if (!other_order_.defined()) other_order_ = queue_.scratch(keys_.shape, DType::int32);
    }
  }
  const Tensor& keys() const { return keys_; }
  const Tensor& order() const { return order_; }

 private:
  void pass_on_cpu(int shift) {
    const Range range = share_range(queue_, blocks_.parts(), blocks_.size);
    const auto n = static_cast<cl_int>(blocks_.n), count = static_cast<cl_int>(blocks_.count),
               size = static_cast<cl_int>(blocks_.size);
    const cl_long parts = blocks_.parts();
    queue_.launch(kernel("count_digits"), range, keys_, counts_, n, parts, count, size, cl_int{shift});
    sums_before(queue_, file, defines_, counts_, nullptr);
    queue_.launch(kernel("move_pairs"), range, keys_, order_so_far(), counts_, other_keys_, other_order_, n,
                  parts, count, size, cl_int{shift});
  }

  void pass(int shift, int bits) {
    const int group = work_group(queue_.device().info());
    const Range range = Range::groups(group, blocks_.parts());
    const auto n = static_cast<cl_int>(blocks_.n), count = static_cast<cl_int>(blocks_.count);
    const cl_long parts = blocks_.parts();
    if (counts_.defined()) {
      queue_.launch(kernel("count_digits"), range, keys_, counts_, n, parts, count, cl_int{shift});
      // Those of each digit, over the blocks.
      sums_before(queue_, file, defines_, counts_.reshaped({blocks_.rows * digits, blocks_.count}), &totals_);
    }
    const std::size_t words = static_cast<std::size_t>(group) * (SIMT_STRETCH + 1) * sizeof(cl_uint);
    const std::size_t sums = static_cast<std::size_t>(group) * (1 << DIGIT_BITS / 2) * sizeof(cl_ushort);
    queue_.launch(kernel("move_pairs"), range, keys_, order_so_far(), Optional{defined(counts_)},
                  Optional{defined(totals_)}, other_keys_, other_order_, n, parts, count, cl_int{shift},
                  cl_int{bits}, LocalMemory{words}, LocalMemory{sums});
  }

  static const Tensor* defined(const Tensor& t) { return t.defined() ? &t : nullptr; }
  Kernel& kernel(const char* name) const { return queue_.kernel(file, name, defines_); }
  Optional order_so_far() const { return Optional{defined(order_)}; }

  Queue& queue_;
  const Defines defines_;
  const bool cpu_;
  const Blocks blocks_;
  Tensor keys_, order_, other_keys_, other_order_;
  Tensor counts_, totals_;  // undefined where a row is one block of a work group
};

}  // namespace

void sort_order(Queue& queue, const Tensor& x, bool descending, const Tensor& order) {
  ENTER(sort_order, queue, x, descending, order);
  require(x.rank() == 2, "sort: expected rows [rows, n], got ", x.shape);
  require_contiguous("sort", "the input", x);
  const std::int64_t rows = x.shape[0], n = x.shape[1], kept = order.rank() == 2 ? order.shape[1] : -1;
  require(kept >= 0 && kept <= n, "sort: expected an order [rows, k] with k at most n for rows ", x.shape,
          ", got ", order.shape);
  require_like("sort", "the order", order, {rows, kept}, DType::int32);
  kernel_int(n, "sort", "a row");
  if (order.numel() == 0) return;
  const int value_bits = static_cast<int>(8 * size_of(x.dtype));
  const int key_bits = std::max(32, value_bits);
  const Tensor keys = queue.scratch(x.shape, key_bits == 64 ? DType::int64 : DType::int32);
  static_assert(dtype_count == 12, "a KEYS_OF for every DType but the complex ones in sort.cl");
  queue.launch(queue.kernel(file, (std::string("keys_of_") + name(x.dtype)).c_str(), key_defines(key_bits)),
               share_range(queue, x.numel()), x, keys, cl_long{x.numel()}, cl_int{descending});
  if (n <= short_row)
    return queue.launch(queue.kernel(file, "order_short_rows", key_defines(key_bits)),
                        share_range(queue, x.numel(), n), keys, order, cl_long{x.numel()},
                        static_cast<cl_int>(n), static_cast<cl_int>(kept));
  if (queue.device().info().runs_cpu_kernels() && kept <= CPU_MOST_FIRST)
    return queue.launch(queue.kernel(file, "order_of_first", key_defines(key_bits)),
                        share_range(queue, rows, n), keys, order, cl_long{rows}, static_cast<cl_int>(n),
                        static_cast<cl_int>(kept));
  Passes passes(queue, keys, key_bits);
  passes.run(value_bits);
  Tensor first = passes.order();
  first.shape[1] = kept;
  copy(queue, first, order);
}

SortedKeys sort_keys(Queue& queue, const Tensor& keys, std::int64_t bound) {
  ENTER(sort_keys, queue, keys, bound);
  require_like("sort", "the keys", keys, {keys.numel()}, DType::int32);
  if (keys.numel() == 0) return entered.returns(SortedKeys{keys, keys});
  const Dims row{1, keys.numel()};
  int bits = 1;
  while (std::int64_t{1} << bits < bound) ++bits;
  Passes passes(queue, keys.reshaped(row), 32);
  passes.run(bits);
  return entered.returns(SortedKeys{passes.keys().reshaped(keys.shape), passes.order().reshaped(keys.shape)});
}

}  // namespace dlprim
