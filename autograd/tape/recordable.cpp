#include "autograd/tape/recordable.h"

#include "autograd/tape/engine.h"

namespace ocl {
namespace {

/** A linear function and its transpose. */
struct LinearPair {
  LinearFunction operation, transpose;
};

Tensor apply(const char* name, const Tensor& x, const std::shared_ptr<const LinearPair>& pair, bool back) {
  const Tensor result = [&] {
    const NoGradGuard no_grad;
    return back ? pair->transpose(x) : pair->operation(x);
  }();
  return record(name, {x}, result.data(), [&] {
    return [name, pair, back](const TensorList& g) { return TensorList{apply(name, g[0], pair, !back)}; };
  });
}

/** That tensor, at which a walk towards it ends. */
Tensor alias(const Tensor& tensor) {
  return record("AliasBackward", {tensor}, tensor.data(),
                [] { return [](const TensorList& g) { return TensorList{g[0]}; }; });
}

}  // namespace

Tensor apply_linear(const char* name, const Tensor& x, LinearFunction operation, LinearFunction transpose) {
  return apply(name, x,
               std::make_shared<const LinearPair>(LinearPair{std::move(operation), std::move(transpose)}),
               false);
}

Backward linear_gradient(const char* name, LinearFunction transpose, LinearFunction operation) {
  return [name,
          pair = std::make_shared<const LinearPair>(LinearPair{std::move(operation), std::move(transpose)})](
             const TensorList& g) { return TensorList{apply(name, g[0], pair, true)}; };
}

TensorList gradients_by_composition(const TensorList& inputs, const TensorList& gradients,
                                    const std::function<TensorList(const TensorList&)>& compose) {
  TensorList own = inputs, wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].requires_grad() || !gradient_is_wanted(i)) continue;
    own[i] = alias(inputs[i]);
    wanted.push_back(own[i]);
    places.push_back(i);
  }
  TensorList used, given;
  const TensorList outputs = compose(own);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
    used.push_back(outputs[i]);
    given.push_back(gradients[i]);
  }
  TensorList results(inputs.size());
  if (used.empty() || wanted.empty()) return results;
  const TensorList found = autograd::grad(used, wanted, given, true, true, true);
  for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = found[i];
  return results;
}

}  // namespace ocl
