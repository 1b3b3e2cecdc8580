#include "tests/cpp/ops/layouts/cases.h"

// Functions of many tensors at once: optimizer steps, norms and clipping.
namespace testing_support {

using namespace dlprim;

namespace {

using Pointers = std::vector<const Tensor*>;

Dims parameter_shape(Draw& d) {
  return d.shape(0, 3);
}

void draw_fused_step(Draw& d) {
  std::vector<Pointers> parameters;
  for (int count = d.number(1, 3); count > 0; --count) {
    const Dims shape = parameter_shape(d);
    parameters.push_back(
        {d.updated("parameter", shape), d.input("gradient", shape), d.updated("buffer", shape)});
  }
  FusedUpdate update{"sgd_step", {0.5, 0.75, 0.5, 0.25, 1, 0}};
  update.defines.set("MOMENTUM", 1).set("NESTEROV", 0);
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    std::vector<OptimizedParameter> now;
    for (const Pointers& p : parameters) now.push_back({*p[0], *p[1], {*p[2]}});
    fused_step(queue, pack, now, update);
  });
}

/** Tensors that a function reads or changes together. */
struct Tensors {
  Tensors(Draw& d, Role role) {
    for (int count = d.number(1, 3); count > 0; --count)
      pointers.push_back(d.operand("tensor", role, DType::float32, parameter_shape(d), d.between(-2, 2)));
  }
  std::vector<Tensor> now() const {
    std::vector<Tensor> tensors;
    for (const Tensor* t : pointers) tensors.push_back(*t);
    return tensors;
  }
  Pointers pointers;
};

void draw_multi_tensor_norm(Draw& d) {
  const Tensors tensors(d, Role::input);
  const Tensor* norm = d.output("norm", {1});
  const double p = d.number(1, 2);
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    multi_tensor_norm(queue, pack, tensors.now(), p, *norm);
  });
}

void draw_multi_tensor_norms(Draw& d) {
  const Tensors tensors(d, Role::input);
  const Tensor* norms = d.output("norms", {static_cast<std::int64_t>(tensors.pointers.size())});
  const double p = d.number(1, 2);
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    multi_tensor_norms(queue, pack, tensors.now(), p, *norms);
  });
}

void draw_multi_tensor_clip(Draw& d) {
  const Tensors tensors(d, Role::updated);
  const Tensor* norm = d.input("norm", {1}, d.between(2, 3));
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    multi_tensor_clip(queue, pack, tensors.now(), *norm, 1);
  });
}

/** For `function(queue, pack, tensors, number)`. */
template <auto function>
void draw_with_number(Draw& d) {
  const Tensors tensors(d, Role::updated);
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    function(queue, pack, tensors.now(), 0.75);
  });
}

void draw_multi_tensor_unscale(Draw& d) {
  std::vector<const Tensor*> tensors;
  for (int count = d.number(1, 3); count > 0; --count)
    tensors.push_back(d.updated("tensor", parameter_shape(d)));
  const Tensor* found_inf = d.updated("found_inf", {1}, DType::float32);
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    std::vector<Tensor> now;
    for (const Tensor* t : tensors) now.push_back(*t);
    multi_tensor_unscale(queue, pack, now, 0.25, *found_inf);
  });
}

void draw_multi_tensor_pointwise(Draw& d) {
  std::vector<Pointers> rows;
  for (int count = d.number(1, 3); count > 0; --count) {
    const Dims shape = parameter_shape(d);
    rows.push_back({d.updated("tensor", shape), d.input("factor", shape)});
  }
  d.calls([=](Queue& queue) {
    ParameterPack pack;
    std::vector<TensorsAbreast> now;
    for (const Pointers& row : rows) now.push_back({*row[0], {*row[0], *row[1], *row[0]}});
    multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("addcmul")), now, {{}, {}, {}},
                           {0.5});
  });
}

}  // namespace

LayoutCases training_cases() {
  return {{"fused_step", draw_fused_step},
          {"multi_tensor_norm", draw_multi_tensor_norm},
          {"multi_tensor_norms", draw_multi_tensor_norms},
          {"multi_tensor_clip", draw_multi_tensor_clip},
          {"multi_tensor_scale", draw_with_number<multi_tensor_scale>},
          {"multi_tensor_unscale", draw_multi_tensor_unscale},
          {"multi_tensor_clamp", draw_with_number<multi_tensor_clamp>},
          {"multi_tensor_pointwise", draw_multi_tensor_pointwise}};
}

}  // namespace testing_support
