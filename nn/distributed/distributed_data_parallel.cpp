#include "nn/distributed/distributed_data_parallel.h"

#include <algorithm>

namespace ocl::nn::parallel {
namespace {

/** The tensors within a value. */
void add_tensors(const Value& value, TensorList& tensors) {
  if (value.is_tensor()) {
    tensors.push_back(value.tensor("an output"));
  } else if (const auto* mapping = value.mapping()) {
    for (const auto& [name, one] : *mapping) add_tensors(one, tensors);
  } else if (value.is_sequence()) {
    for (const Value& one : value.sequence()) add_tensors(one, tensors);
  }
}

TensorList trained(const Module& module) {
  TensorList parameters = module.parameters();
  parameters.erase(std::remove_if(parameters.begin(), parameters.end(),
                                  [](const Tensor& parameter) { return !parameter.requires_grad(); }),
                   parameters.end());
  return parameters;
}

}  // namespace

ReducerOptions DistributedDataParallelOptions::reducer() const {
  dlprim::require(bucket_cap_mb > 0, "DistributedDataParallel: bucket_cap_mb is ", bucket_cap_mb,
                  ", expected more than 0");
  ReducerOptions made;
  made.bucket_bytes = static_cast<std::size_t>(bucket_cap_mb * (1 << 20));
  made.first_bucket_bytes = std::min(made.first_bucket_bytes, made.bucket_bytes);
  made.find_unused_parameters = find_unused_parameters;
  made.static_graph = static_graph;
  return made;
}

DistributedDataParallel::DistributedDataParallel(const std::shared_ptr<Module>& module,
                                                 const std::shared_ptr<distributed::ProcessGroup>& group,
                                                 const DistributedDataParallelOptions& options) {
  register_module("module", module);
  reducer_ = Reducer::make(trained(*module), options.broadcast_buffers ? module->buffers() : TensorList(),
                           group, options.reducer());
  if (options.init_sync) reducer_->broadcast_state();
}

Tensor DistributedDataParallel::forward(const Tensor& x) {
  return call({{Value(x)}, {}}).tensor("the output of " + module()->name());
}

Value DistributedDataParallel::call(const Arguments& arguments) {
  const bool is_reduced = grad_enabled();
  if (is_reduced) reducer_->begin_forward();
  const Value output = (*module())(arguments);
  if (is_reduced) {
    TensorList outputs;
    add_tensors(output, outputs);
    reducer_->begin_backward(outputs);
  }
  return output;
}

}  // namespace ocl::nn::parallel
