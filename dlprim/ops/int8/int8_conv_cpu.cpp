#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/int8/int8_implementations.h"
#include "dlprim/runtime/constant_forms.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* products_file = "ops/int8/int8_products_cpu.cl";
constexpr std::int64_t packed_budget = 384 * 1024;  // bytes of packed places that stay in a level-2 cache
constexpr std::int64_t jobs_a_core = 8;

Int8Planes planes_of(const Int8Conv& c) {
  const auto phases = [](int taps, int dilation, int stride) {
    return std::min<std::int64_t>(stride, std::int64_t{taps - 1} * dilation + 1);
  };
  const auto length = [](int out, int taps, int dilation, int stride) {
    return out + std::int64_t{taps - 1} * dilation / stride;
  };
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "int8_conv2d", "a padded plane"); };
  Int8Planes p{};
  p.phases_h = narrow(phases(c.taps_h, c.dilation_h, c.stride_h));
  p.phases_w = narrow(phases(c.taps_w, c.dilation_w, c.stride_w));
  p.rows = narrow(length(c.out_h, c.taps_h, c.dilation_h, c.stride_h));
  p.row_length = narrow(length(c.out_w, c.taps_w, c.dilation_w, c.stride_w));
  p.phase = std::int64_t{p.rows} * p.row_length;
  p.plane = product({p.phases_h, p.phases_w, p.phase});
  p.is_plain = c.stride_h == 1 && c.stride_w == 1 && c.pad_h == 0 && c.pad_w == 0;
  narrow(product({c.channels, p.plane}));
  return p;
}

/** Whether kernels may use vpdpbusd on vectors of 64 bytes: PoCL runs them on the processor that asks. */
bool has_vnni(const DeviceInfo& device) {
#if defined(__x86_64__)
  return device.compiles_at_launch && __builtin_cpu_supports("avx512vnni");
#else
  static_cast<void>(device);
  return false;
#endif
}

/** Work items that share jobs: some a core, to be busy to the end. */
std::int64_t items_for(const Queue& queue, std::int64_t jobs) {
  return std::clamp<std::int64_t>(jobs, 1, jobs_a_core * queue.device().info().compute_units);
}

bool can_take_products(const DeviceInfo& device, const Int8ConvProblem&) {
  return device.runs_cpu_kernels();
}

double cost_of_products(const DeviceInfo&, const Int8ConvProblem& p) {
  const double rows = p.sizes.rows, tile = static_cast<double>(round_up(p.sizes.rows, INT8_ROWS));
  return p.multiply_adds() * tile / rows;
}

void run_products(Queue& queue, const Int8ConvProblem& p) {
  const Int8Conv& c = p.sizes;
  const Int8Planes shape = planes_of(c);
  const std::int64_t depth = p.depth(), neighbours = has_vnni(queue.device().info()) ? 4 : 2,
                     words = ceil_div(depth, neighbours), row_panels = ceil_div(c.rows, INT8_ROWS);

  Defines defines;
  defines.set("NEIGHBOURS", static_cast<int>(neighbours));
  Tensor planes = p.x;
  if (!shape.is_plain) {
    const std::int64_t all = product({c.images, c.groups, c.channels});
    planes = queue.scratch({product({all, shape.plane}) + INT8_SLACK}, DType::int8);
    queue.launch(queue.kernel(products_file, "int8_planes", defines), Range::groups(1, items_for(queue, all)),
                 p.x, c, shape, static_cast<cl_char>(p.finish.x_zero), planes);
  }
  const Tensor filters =
      form_of(queue, p.weight, "int8_filters", {c.groups, c.rows, depth, neighbours},
              {product({c.groups, row_panels, words + 1, INT8_ROWS})}, DType::int32, [&](const Tensor& form) {
                queue.launch(queue.kernel(products_file, "int8_filters", defines),
                             Range::groups(1, items_for(queue, c.groups * row_panels)), p.weight, c.groups,
                             c.rows, static_cast<cl_int>(depth), form);
              });

  const std::int64_t panels = ceil_div(std::int64_t{c.out_h} * shape.row_length, INT8_PLACES);
  const std::int64_t panel_bytes = words * INT8_PLACES * 4;
  const std::int64_t lines = std::int64_t{c.images} * c.groups;
  const std::int64_t fair =
      std::max<std::int64_t>(1, lines * panels / (jobs_a_core * queue.device().info().compute_units));
  const std::int64_t per_job =
      std::clamp<std::int64_t>(packed_budget / panel_bytes, 1, std::min(fair, panels));
  const std::int64_t items = items_for(queue, lines * ceil_div(panels, per_job));
  const std::int64_t slice = round_up(depth, 16) + per_job * words * INT8_PLACES;
  const Tensor scratch = queue.scratch({items, slice}, DType::int32);
  queue.launch(queue.kernel(products_file, "int8_products", defines), Range::groups(1, items), filters,
               planes, p.scales, Optional{p.bias}, Optional{p.addend}, p.y, scratch, c, shape, p.finish,
               static_cast<cl_int>(per_job), slice, planes.numel());
}

bool can_take_depthwise(const DeviceInfo& device, const Int8ConvProblem& p) {
  return device.runs_cpu_kernels() && p.sizes.channels == 1 && p.taps() <= INT8_TAPS;
}

/** A tap costs as much as one of a tile's two rows: narrow tiles are dear. Not measured further. */
double cost_of_depthwise(const DeviceInfo&, const Int8ConvProblem& p) {
  return 4 * p.multiply_adds();
}

void run_depthwise(Queue& queue, const Int8ConvProblem& p) {
  const Int8Conv& c = p.sizes;
  const Int8Planes shape = planes_of(c);
  const std::int64_t places = round_up(std::int64_t{c.out_h} * shape.row_length, INT8_SLACK);
  const std::int64_t slice = round_up(shape.plane + INT8_SLACK + ceil_div(places, 4), 16);
  const std::int64_t items = items_for(queue, std::int64_t{c.images} * c.groups);
  const Tensor scratch = queue.scratch({items, slice}, DType::float32);
  queue.launch(queue.kernel("ops/int8/int8_depthwise_cpu.cl", "int8_depthwise"), Range::groups(1, items),
               p.weight, p.x, p.scales, Optional{p.bias}, Optional{p.addend}, p.y, scratch, c, shape,
               p.finish, slice);
}

}  // namespace

Int8ConvImplementation int8_conv_cpu_products() {
  return {"cpu_products", can_take_products, cost_of_products, run_products};
}
Int8ConvImplementation int8_conv_cpu_depthwise() {
  return {"cpu_depthwise", can_take_depthwise, cost_of_depthwise, run_depthwise};
}

}  // namespace dlprim
