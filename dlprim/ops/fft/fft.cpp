#include "dlprim/ops/fft/fft.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/fft/fft_length.h"
#include "dlprim/ops/fft/fft_transform.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/implementation.h"

namespace dlprim {
namespace {

struct FftProblem {
  FftTransform transform;
  std::int64_t lines() const { return transform.lines.lines; }
  std::int64_t n() const { return transform.length(); }
  DType dtype() const { return transform.dtype(); }
  std::optional<ProblemKey> key() const {
    const FftSide &in = transform.lines.in, &out = transform.lines.out;
    return ProblemKey(lines(), n(), in.unit, out.unit, in.form, out.form, dtype());
  }
};

/** Every line in one launch, and in fast memory meanwhile. */
constexpr Implementation<FftProblem> in_one_launch() {
  return {"lines",
          [](const DeviceInfo& device, const FftProblem& p) {
            return is_smooth(p.n()) && p.n() <= longest_line(device, p.dtype());
          },
          [](const DeviceInfo& device, const FftProblem& p) {
            return cost_of_line(device, p.dtype(), p.lines(), p.n());
          },
          [](Queue& queue, const FftProblem& p) { transform_lines(queue, p.transform); }};
}

/** A launch for each of several factors of the length. */
constexpr Implementation<FftProblem> in_several_launches() {
  return {"split",
          [](const DeviceInfo& device, const FftProblem& p) {
            return is_smooth(p.n()) && first_factor(device, p.dtype(), p.n()) > 1;
          },
          [](const DeviceInfo& device, const FftProblem& p) {
            return cost_of_split(device, p.dtype(), p.lines(), p.n());
          },
          [](Queue& queue, const FftProblem& p) { transform_split(queue, p.transform); }};
}

/** Takes a transform for a convolution with a chirp, which is done by transforms of a longer length. */
constexpr Implementation<FftProblem> by_chirp() {
  return {"chirp", [](const DeviceInfo&, const FftProblem&) { return true; },
          [](const DeviceInfo& device, const FftProblem& p) {
            return 2 * cost_of_smooth(device, p.dtype(), p.lines(), next_smooth(2 * p.n() - 1));
          },
          [](Queue& queue, const FftProblem& p) { transform_by_chirp(queue, p.transform); }};
}

const ImplementationList<FftProblem> implementations("fft", in_one_launch(), in_several_launches(),
                                                     by_chirp());

/** A tensor as complex or real numbers: the dimensions of the numbers, and how far their parts are apart. */
struct Numbers {
  Dims shape, strides;
  std::int64_t imaginary = 0;
};

Numbers real_numbers(const Tensor& t) {
  return {t.shape, t.strides, 0};
}

Numbers complex_numbers(const char* op, const char* what, const Tensor& t) {
  require(t.rank() > 0 && t.size(-1) == 2, op, ": expected ", what,
          " as pairs (real, imaginary) of a last dimension of size 2, got the shape ", t.shape);
  Numbers numbers = real_numbers(t);
  numbers.imaginary = t.strides.back();
  numbers.shape.erase(t.rank() - 1);
  numbers.strides.erase(t.rank() - 1);
  return numbers;
}

/** Checks what all transforms ask for, and runs one of length `n` along `dim`. `forms`: of both sides. */
void run(Queue& queue, const char* op, const Tensor& x, const Numbers& in, std::int64_t dim, std::int64_t n,
         double scale, const Tensor& y, const Numbers& out, int in_form, int out_form) {
  require<TypeError>(x.dtype == DType::float32 || x.dtype == DType::float64, op,
                     ": expected float32 or float64, got ", name(x.dtype));
  require_floating(x.dtype, queue.device(), op);
  require<TypeError>(y.dtype == x.dtype, op, ": expected a result of ", name(x.dtype), ", got ",
                     name(y.dtype));
  require_contiguous(op, "the result", y);
  const int axis = static_cast<int>(dim);
  if (product(y.shape) == 0) return;

  FftTransform t;
  t.x = x;
  t.out = y;
  t.scale = scale;
  t.outer = axis;
  t.lines.n = kernel_int(n, op, "a length");
  const auto side = [&](FftSide& s, const Numbers& numbers, int form) {
    s.step = 1;
    s.unit = numbers.strides[axis];
    s.imaginary = numbers.imaginary;
    s.limit = form & FFT_HALF ? n : numbers.shape[axis];
    s.whole = n;
    s.form = form;
  };
  side(t.lines.in, in, in_form);
  side(t.lines.out, out, out_form);
  for (int d = 0; d < in.shape.size(); ++d)
    if (d != axis) t.add_dim(t.lines.rank, in.shape[d], in.strides[d], 0, out.strides[d], 0);
  implementations.run(queue, {t});
}

void require_sizes(const char* op, const Numbers& in, const Numbers& out, int axis, std::int64_t expected) {
  Dims shape = in.shape;
  shape[axis] = expected;
  require(out.shape == shape, op, ": expected a result of shape ", shape, " without the pairs, got ",
          out.shape);
}

int axis_of(const char* op, const Numbers& in, std::int64_t dim) {
  require<IndexError>(in.shape.size() > 0, op, ": expected a dimension to transform, got a scalar");
  const int axis = wrap_dim(dim, in.shape.size(), op);
  require(in.shape[axis] > 0, op, ": expected at least one element along dimension ", axis,
          ", got the shape ", in.shape);
  return axis;
}

}  // namespace

void fft_c2c(Queue& queue, const Tensor& x, std::int64_t dim, bool inverse, double scale, const Tensor& y) {
  ENTER(fft_c2c, queue, x, dim, inverse, scale, y);
  constexpr const char* op = "fft_c2c";
  const Numbers in = complex_numbers(op, "the input", x), out = complex_numbers(op, "the result", y);
  const int axis = axis_of(op, in, dim), form = inverse ? FFT_SWAP : 0;
  require_sizes(op, in, out, axis, in.shape[axis]);
  run(queue, op, x, in, axis, in.shape[axis], scale, y, out, form, form);
}

void fft_r2c(Queue& queue, const Tensor& x, std::int64_t dim, double scale, const Tensor& y) {
  ENTER(fft_r2c, queue, x, dim, scale, y);
  constexpr const char* op = "fft_r2c";
  const Numbers in = real_numbers(x), out = complex_numbers(op, "the result", y);
  const int axis = axis_of(op, in, dim);
  const std::int64_t n = in.shape[axis];
  const bool is_half = out.shape.size() == in.shape.size() && out.shape[axis] != n;
  require_sizes(op, in, out, axis, is_half ? n / 2 + 1 : n);
  run(queue, op, x, in, axis, n, scale, y, out, FFT_REAL, 0);
}

void fft_c2r(Queue& queue, const Tensor& x, std::int64_t dim, double scale, const Tensor& y) {
  ENTER(fft_c2r, queue, x, dim, scale, y);
  constexpr const char* op = "fft_c2r";
  const Numbers in = complex_numbers(op, "the input", x), out = real_numbers(y);
  const int axis = axis_of(op, in, dim);
  const std::int64_t n = out.shape.size() == in.shape.size() ? out.shape[axis] : 0;
  require(n > 0 && n / 2 + 1 == in.shape[axis], op, ": expected n / 2 + 1 elements along dimension ", axis,
          " of the input for n of the result, got the shapes ", in.shape, " and ", out.shape);
  require_sizes(op, in, out, axis, n);
  run(queue, op, x, in, axis, n, scale, y, out, FFT_HALF, FFT_REAL);
}

}  // namespace dlprim
