#pragma once

#include "autograd/tape/tape.h"

namespace ocl {

/**
 * How a tensor and a view of its memory lie over one stretch of elements, and how gradients go from one to
 * the other. Gradients are laid out in a stretch of their own, where both are seen as they lie in memory.
 */
class StridedSpan {
 public:
  /** `view` shows memory that `whole` lies in; it may show an element several times, and elements that
   * `whole` does not. */
  StridedSpan(const dlprim::Tensor& whole, const dlprim::Tensor& view);

  /** The gradient of `whole`, where only the view was used. */
  Tensor gradient_of_view(const Tensor& gradient) const;
  /**
   * The gradients of an operation that wrote over the view: of the old `whole`, then of the operation's other
   * inputs. `backward` is its own: from the gradient of what was written to those of the old view and the
   * others.
   */
  TensorList gradients_of_write(const Tensor& gradient, const Backward& backward) const;

 private:
  struct Place {
    Dims shape, strides;
    std::int64_t offset;

    dlprim::Tensor in(const dlprim::Tensor& stretch) const;
    /** Whether no element is shown twice. May say no wrongly for strides that interleave. */
    bool is_injective() const;
  };
  TensorList recorded_gradients_of_write(const Tensor& gradient, const Backward& backward) const;
  Tensor stretch_with(const Place& place, const Tensor& values) const;
  Tensor shared(const Tensor& stretch) const;
  Tensor scattered(const Tensor& gradient) const;
  Tensor gathered(const Tensor& gradient) const;
  static Place place_of(const dlprim::Tensor& t, std::int64_t start);
  static void add_at(const dlprim::Tensor& stretch, Place place, Tensor values);

  Place whole_, view_;
  std::int64_t size_ = 0;
};

/** Until it ends, what SavedTensor gives as the first input, or as the output, of the node that runs is what
 * the node wrote: the view of the span. */
class WrittenView {
 public:
  explicit WrittenView(const StridedSpan& span);
  ~WrittenView();
  WrittenView(const WrittenView&) = delete;
  WrittenView& operator=(const WrittenView&) = delete;

 private:
  const StridedSpan* outer_;
};

}  // namespace ocl
