#include "tests/cpp/ops/layouts/cases.h"

namespace testing_support {

using namespace dlprim;

namespace {

/** Class scores and what a loss over them takes and gives. */
struct Scores {
  explicit Scores(Draw& d)
      : shape(shape_of(d)),
        classes(shape[shape.size() == 1 ? 0 : 1]),
        reduction(d.one_of({Reduction::none, Reduction::mean, Reduction::sum})),
        loss_shape(class_loss_shape(shape, reduction)) {
    weight = d.coin() ? d.input("weight", {classes}, d.between(0.5, 2)) : nullptr;
  }

  static Dims shape_of(Draw& d) {
    if (d.number(0, 4) == 0) return {d.size()};
    Dims all{d.size_or_none(8), d.size()};
    for (int more = d.number(0, 2); more > 0; --more) all.push_back(d.size_or_none(5));
    return all;
  }
  const Tensor* class_indices(Draw& d) const {
    return d.indices("target", class_loss_shape(shape, Reduction::none), classes);
  }
  const Tensor* any_target(Draw& d) const {
    return d.coin() ? class_indices(d) : d.input("target", shape, d.between(0, 1));
  }

  Dims shape;
  std::int64_t classes;
  Reduction reduction;
  Dims loss_shape;
  const Tensor* weight;
};

void draw_nll_loss_forward(Draw& d) {
  const Scores s(d);
  const Tensor *x = d.input("log_probabilities", s.shape), *target = s.class_indices(d),
               *loss = d.output("loss", s.loss_shape), *total = d.output("total_weight", {});
  d.calls(
      [=](Queue& queue) { nll_loss_forward(queue, *x, *target, s.weight, 1, s.reduction, *loss, *total); });
}

void draw_nll_loss_backward(Draw& d) {
  const Scores s(d);
  const Tensor *grad = d.input("grad", s.loss_shape), *target = s.class_indices(d),
               *total = d.input("total_weight", {}, d.between(1, 2)), *dx = d.output("dx", s.shape);
  d.calls(
      [=](Queue& queue) { nll_loss_backward(queue, *grad, *target, s.weight, 1, s.reduction, *total, *dx); });
}

CrossEntropyOptions options_of(Draw& d, const Scores& s) {
  return {1, d.coin() ? 0.25 : 0.0, s.reduction};
}

void draw_cross_entropy_forward(Draw& d) {
  const Scores s(d);
  const CrossEntropyOptions options = options_of(d, s);
  const Tensor *logits = d.input("logits", s.shape), *target = s.any_target(d),
               *loss = d.output("loss", s.loss_shape), *total = d.output("total_weight", {}),
               *normalizers = d.output("normalizers", cross_entropy_normalizer_shape(s.shape));
  d.calls([=](Queue& queue) {
    cross_entropy_forward(queue, *logits, *target, s.weight, options, *loss, *total, *normalizers);
  });
}

void draw_cross_entropy_backward(Draw& d) {
  const Scores s(d);
  const CrossEntropyOptions options = options_of(d, s);
  const Tensor *grad = d.input("grad", s.loss_shape), *logits = d.input("logits", s.shape),
               *target = s.any_target(d), *total = d.input("total_weight", {}, d.between(1, 2)),
               *normalizers =
                   d.input("normalizers", cross_entropy_normalizer_shape(s.shape), d.between(2, 3)),
               *dlogits = d.output("dlogits", s.shape);
  d.calls([=](Queue& queue) {
    cross_entropy_backward(queue, *grad, *logits, *target, s.weight, options, *total, *normalizers, *dlogits);
  });
}

void draw_cross_entropy_target_backward(Draw& d) {
  const Scores s(d);
  const CrossEntropyOptions options = options_of(d, s);
  const Tensor *grad = d.input("grad", s.loss_shape), *logits = d.input("logits", s.shape),
               *total = d.input("total_weight", {}, d.between(1, 2)),
               *normalizers =
                   d.input("normalizers", cross_entropy_normalizer_shape(s.shape), d.between(2, 3)),
               *dtarget = d.output("dtarget", s.shape);
  d.calls([=](Queue& queue) {
    cross_entropy_target_backward(queue, *grad, *logits, s.weight, options, *total, *normalizers, *dtarget);
  });
}

}  // namespace

LayoutCases loss_cases() {
  return {{"nll_loss_forward", draw_nll_loss_forward},
          {"nll_loss_backward", draw_nll_loss_backward},
          {"cross_entropy_forward", draw_cross_entropy_forward},
          {"cross_entropy_backward", draw_cross_entropy_backward},
          {"cross_entropy_target_backward", draw_cross_entropy_target_backward}};
}

}  // namespace testing_support
