#pragma once

/** \file What changes the examples of a dataset of datasets.h, as torch::data::transforms. */

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

using std::nullopt;
using std::optional;

}  // namespace ocl

namespace ocl::data {

/** A sample and what a net is to say of it. */
template <class Data = Tensor, class Target = Tensor>
struct Example {
  Example() = default;
  Example(Data of_data, Target of_target) : data(std::move(of_data)), target(std::move(of_target)) {}
  Data data;
  Target target;
};

template <class Data>
struct Example<Data, void> {
  Example() = default;
  Example(Data of_data) : data(std::move(of_data)) {}
  Data data;
};
using TensorExample = Example<Tensor, void>;

namespace transforms {

/** A transform of one example after the other. `Derived` has apply(Input). */
template <class Derived, class Input, class Output = Input>
struct EachExample {
  using InputBatchType = std::vector<Input>;
  using OutputBatchType = std::vector<Output>;
  OutputBatchType apply_batch(InputBatchType batch) {
    OutputBatchType changed;
    for (Input& example : batch) changed.push_back(static_cast<Derived*>(this)->apply(std::move(example)));
    return changed;
  }
};

/** The examples of a batch as one, whose first dimension counts them. */
template <class OfExamples = Example<>>
struct Stack;

template <>
struct Stack<Example<>> {
  using InputBatchType = std::vector<Example<>>;
  using OutputBatchType = Example<>;
  /** Throws ValueError where there are none, or where they differ in shape. */
  Example<> apply_batch(const std::vector<Example<>>& batch) const;
};

template <>
struct Stack<TensorExample> {
  using InputBatchType = std::vector<TensorExample>;
  using OutputBatchType = TensorExample;
  TensorExample apply_batch(const std::vector<TensorExample>& batch) const;
};

/** A function of examples. */
template <class Input, class Output = Input>
struct Lambda : EachExample<Lambda<Input, Output>, Input, Output> {
  using Function = std::function<Output(Input)>;
  explicit Lambda(Function of_example) : function(std::move(of_example)) {}
  Output apply(Input example) { return function(std::move(example)); }
  Function function;
};

/** A transform of an example's data. One of your own is a class that overrides the call. */
template <class Target = Tensor>
struct TensorTransform : EachExample<TensorTransform<Target>, Example<Tensor, Target>> {
  virtual ~TensorTransform() = default;
  virtual Tensor operator()(Tensor input) = 0;
  Example<Tensor, Target> apply(Example<Tensor, Target> example) {
    example.data = (*this)(std::move(example.data));
    return example;
  }
};

/** A function of an example's data. */
template <class Target = Tensor>
struct TensorLambda : TensorTransform<Target> {
  using Function = std::function<Tensor(Tensor)>;
  explicit TensorLambda(Function of_data) : function(std::move(of_data)) {}
  Tensor operator()(Tensor input) override { return function(std::move(input)); }
  Function function;
};

/** Numbers of which there is one for all channels, or one for each. */
struct ChannelNumbers : std::vector<double> {
  ChannelNumbers(double number) : vector{number} {}
  ChannelNumbers(std::initializer_list<double> numbers) : vector(numbers) {}
  ChannelNumbers(std::vector<double> numbers) : vector(std::move(numbers)) {}
};

/** (x - mean) / std of [channels, height, width], and of many of them: [examples, channels, height, width].
 */
Tensor normalized(const Tensor& x, const ChannelNumbers& mean, const ChannelNumbers& std);

/** The data less its mean, by its standard deviation. */
template <class Target = Tensor>
struct Normalize : TensorTransform<Target> {
  Normalize(ChannelNumbers of_mean, ChannelNumbers of_std)
      : mean(std::move(of_mean)), stddev(std::move(of_std)) {}
  Tensor operator()(Tensor input) override { return normalized(input, mean, stddev); }
  /** Takes a batch that is one example already. */
  Example<Tensor, Target> apply_stacked(Example<Tensor, Target> batch) {
    return this->apply(std::move(batch));
  }
  ChannelNumbers mean, stddev;
};

}  // namespace transforms
}  // namespace ocl::data
