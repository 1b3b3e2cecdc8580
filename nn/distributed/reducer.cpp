#include "nn/distributed/reducer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <unordered_set>

#include "autograd/ops/join.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/layout.h"
#include "dlprim/core/memory_format.h"

namespace ocl::nn::parallel {
namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;

/** The strides that the gradient of a leaf has. */
Dims gradient_strides_of(const dlprim::Tensor& leaf) {
  return dlprim::is_dense(leaf) ? leaf.strides : dlprim::contiguous_strides(leaf.shape);
}

/** The elements of a gradient as they lie in memory, in a row. */
Tensor flattened(const Tensor& gradient, const dlprim::Tensor& leaf) {
  const Dims strides = gradient_strides_of(leaf);
  dlprim::Tensor data = gradient.data();
  if (data.strides != strides) {
    Tensor laid_out(dlprim::Tensor::empty_strided(data.device(), data.shape, strides, data.dtype));
    laid_out.copy_(gradient);
    data = laid_out.data();
  }
  data.shape = {leaf.numel()};
  data.strides = {1};
  return Tensor(data);
}

/** The part of a bucket that begins at an element, as the gradient of that leaf. */
Tensor gradient_in(const Tensor& flat, std::int64_t first, const dlprim::Tensor& leaf) {
  dlprim::Tensor data = flat.data();
  data.offset += first;
  data.shape = leaf.shape;
  data.strides = gradient_strides_of(leaf);
  return Tensor(data);
}

/** Tensors of one dtype and device together, in order. */
std::vector<TensorList> by_kind(const TensorList& tensors) {
  std::map<std::pair<DType, int>, TensorList> kinds;
  for (const Tensor& tensor : tensors) kinds[{tensor.dtype(), tensor.device()->index()}].push_back(tensor);
  std::vector<TensorList> all;
  for (auto& [kind, list] : kinds) all.push_back(std::move(list));
  return all;
}

Tensor joined(const TensorList& tensors) {
  TensorList rows;
  for (const Tensor& tensor : tensors) rows.push_back(tensor.detach().reshape({-1}));
  return cat(rows);
}

/** Writes what joined() has put together back. */
void take_apart(const Tensor& flat, const TensorList& tensors) {
  std::int64_t first = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t end = first + tensor.numel();
    tensor.detach().copy_(slice(flat, 0, first, end).view(tensor.shape().vector()));
    first = end;
  }
}

/** Equal for parameters of the same shapes and dtypes. */
struct Fingerprint {
  std::uint64_t parameters, elements, hash = 14695981039346656037u;

  explicit Fingerprint(const TensorList& tensors) : parameters(tensors.size()), elements(0) {
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
    for (const Tensor& tensor : tensors) {
      elements += static_cast<std::uint64_t>(tensor.numel());
      mix(static_cast<std::uint64_t>(tensor.dtype()));
      for (const std::int64_t size : tensor.shape()) mix(static_cast<std::uint64_t>(size));
    }
  }
};

}  // namespace

std::shared_ptr<Reducer> Reducer::make(TensorList parameters, TensorList buffers,
                                       std::shared_ptr<ProcessGroup> group, const ReducerOptions& options) {
  const std::shared_ptr<Reducer> made(
      new Reducer(std::move(parameters), std::move(buffers), std::move(group), options));
  made->require_same_parameters();
  for (std::size_t i = 0; i < made->parameters_.size(); ++i) {
    Tensor parameter = made->parameters_[i];
    parameter.register_post_accumulate_grad_hook([weak = made->weak_from_this(), i](const Tensor&) {
      const auto reducer = weak.lock();
      if (!reducer) return;
      reducer->has_begun_ = true;
      reducer->note_ready(i);
    });
  }
  return made;
}

Reducer::Reducer(TensorList parameters, TensorList buffers, std::shared_ptr<ProcessGroup> group,
                 const ReducerOptions& options)
    : parameters_(std::move(parameters)),
      buffers_(std::move(buffers)),
      group_(std::move(group)),
      options_(options) {
  dlprim::require(!parameters_.empty(), "DistributedDataParallel: no parameter requires a gradient");
  std::vector<std::size_t> order(parameters_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::reverse(order.begin(), order.end());
  fill_buckets(order);
}

void Reducer::require_same_parameters() {
  const Fingerprint own(parameters_);
  const auto all = group_->all_gather_bytes(std::string(reinterpret_cast<const char*>(&own), sizeof own));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Fingerprint other = own;
    std::memcpy(&other, all[rank].data(), sizeof other);
    dlprim::require<distributed::DistBackendError>(
        other.hash == own.hash && other.parameters == own.parameters && other.elements == own.elements,
        "DistributedDataParallel: rank ", group_->rank(), " has ", own.parameters, " parameters of ",
        own.elements, " elements, rank ", rank, " has ", other.parameters, " of ", other.elements,
        ", or of other shapes or dtypes");
  }
}

void Reducer::broadcast_state() {
  const NoGradGuard no_grad;
  for (const TensorList* tensors : {&parameters_, &buffers_}) {
    for (const TensorList& list : by_kind(*tensors)) {
      const Tensor flat = joined(list);
      group_->broadcast(flat, 0)->wait();
      if (group_->rank() != 0) take_apart(flat, list);
    }
  }
}

void Reducer::fill_buckets(const std::vector<std::size_t>& order) {
  buckets_.clear();
  bucket_of_.assign(parameters_.size(), 0);
  std::map<std::pair<DType, int>, std::pair<std::size_t, std::size_t>> open;  // kind: bucket, bytes
  for (const std::size_t i : order) {
    const Tensor& parameter = parameters_[i];
    const std::pair<DType, int> kind{parameter.dtype(), parameter.device()->index()};
    const std::size_t bytes = static_cast<std::size_t>(parameter.numel()) * size_of(parameter.dtype());
    const auto found = open.find(kind);
    const std::size_t limit =
        found != open.end() && found->second.first == 0 ? options_.first_bucket_bytes : options_.bucket_bytes;
    if (found == open.end() || (found->second.second > 0 && found->second.second + bytes > limit)) {
      open[kind] = {buckets_.size(), 0};
      buckets_.emplace_back();
    }
    auto& [bucket, filled] = open[kind];
    filled += bytes;
    bucket_of_[i] = bucket;
    buckets_[bucket].parameters.push_back(i);
  }
}

std::vector<std::vector<std::size_t>> Reducer::buckets() const {
  std::vector<std::vector<std::size_t>> all;
  for (const Bucket& bucket : buckets_) all.push_back(bucket.parameters);
  return all;
}

void Reducer::take_order_of_first_rank() {
  std::vector<std::uint32_t> order(order_.begin(), order_.end());
  const std::size_t bytes = order.size() * sizeof order[0];
  const auto all = group_->all_gather_bytes(std::string(reinterpret_cast<const char*>(order.data()), bytes));
  std::memcpy(order.data(), all[0].data(), bytes);
  fill_buckets({order.begin(), order.end()});
  follows_order_ = true;
}

void Reducer::begin_forward() {
  take_buffers();
  if (!synchronizes_) return;
  dlprim::require<AutogradError>(
      !is_awaited_ || !has_begun_, "DistributedDataParallel: the last backward pass brought no gradient of ",
      std::count(is_ready_.begin(), is_ready_.end(), false),
      " parameters; where the loss does not depend on all of them, say find_unused_parameters");
  // With unused parameters the order may be another in each pass.
  if (!follows_order_ && !options_.find_unused_parameters && order_.size() == parameters_.size())
    take_order_of_first_rank();
}

void Reducer::begin_backward(const TensorList& outputs) {
  send_buffers();
  if (!synchronizes_) {
    is_awaited_ = false;
    return;
  }
  is_awaited_ = true;
  has_begun_ = false;
  is_ready_.assign(parameters_.size(), false);
  next_bucket_ = 0;
  order_.clear();
  has_gradient_.assign(parameters_.size(), false);
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
    bucket.flat = Tensor();
    bucket.work = nullptr;
  }
  const bool knows_unused = options_.static_graph && !is_unused_.empty();
  if (!knows_unused) {
    is_unused_.assign(parameters_.size(), false);
    if (options_.find_unused_parameters || options_.static_graph) find_unused(outputs);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (is_unused_[i]) note_ready(i);
}

void Reducer::find_unused(const TensorList& outputs) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto reach = [&](const Edge& edge) {
    if (edge.node && seen.insert(edge.node.get()).second) stack.push_back(edge.node.get());
  };
  for (const Tensor& output : outputs)
    if (output.requires_grad()) reach(edge_to(output));
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next()) reach(edge);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    is_unused_[i] = !seen.count(parameters_[i].impl().accumulator().get());
}

void Reducer::note_ready(std::size_t i) {
  if (!synchronizes_ || !is_awaited_) return;
  dlprim::require<AutogradError>(!is_ready_[i], "DistributedDataParallel: a second gradient of parameter ", i,
                                 " came in one pass; call the module once for each backward pass");
  is_ready_[i] = true;
  order_.push_back(i);
  --buckets_[bucket_of_[i]].missing;
  // In one order on all ranks, whatever order the gradients come in.
  for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].missing == 0; ++next_bucket_)
    launch(buckets_[next_bucket_]);
  if (next_bucket_ == buckets_.size()) finish();
}

void Reducer::launch(Bucket& bucket) {
  const NoGradGuard no_grad;
  TensorList rows;
  for (const std::size_t i : bucket.parameters) {
    const Tensor& parameter = parameters_[i];
    const Tensor gradient = parameter.grad();
    has_gradient_[i] = gradient.defined();  // of this pass, or of one before it that did not reduce
    rows.push_back(gradient.defined() ? flattened(gradient, parameter.data())
                                      : zeros({parameter.numel()}, parameter.dtype(), parameter.device()));
  }
  bucket.flat = rows.size() == 1 ? rows[0] : cat(rows);
  bucket.work = group_->all_reduce(bucket.flat, ReduceOp::avg);
}

/** Which parameters some rank has a gradient of. */
std::vector<bool> Reducer::used_anywhere() {
  std::string own(has_gradient_.begin(), has_gradient_.end());
  std::vector<bool> used(own.size());
  for (const std::string& rank : group_->all_gather_bytes(own))
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = used[i] || rank[i];
  return used;
}

void Reducer::finish() {
  is_awaited_ = false;
  const bool may_be_unused = options_.find_unused_parameters || options_.static_graph;
  const std::vector<bool> used =
      may_be_unused ? used_anywhere() : std::vector<bool>(parameters_.size(), true);
  for (Bucket& bucket : buckets_) {
    bucket.work->wait();
    std::int64_t first = 0;
    for (const std::size_t i : bucket.parameters) {
      Tensor parameter = parameters_[i];
      if (used[i]) parameter.set_grad(gradient_in(bucket.flat, first, parameter.data()));
      first += parameter.numel();
    }
    bucket.flat = Tensor();
    bucket.work = nullptr;
  }
  take_buffers();
}

void Reducer::send_buffers() {
  const NoGradGuard no_grad;
  take_buffers();
  if (!synchronizes_) return;
  for (TensorList& list : by_kind(buffers_)) {
    Tensor flat = joined(list);
    distributed::WorkHandle work = group_->broadcast(flat, 0);
    sent_buffers_.push_back({std::move(list), std::move(flat), std::move(work)});
  }
}

void Reducer::take_buffers() {
  const NoGradGuard no_grad;
  for (const SentBuffers& sent : sent_buffers_) {
    sent.work->wait();
    if (group_->rank() != 0) take_apart(sent.flat, sent.buffers);
  }
  sent_buffers_.clear();
}

}  // namespace ocl::nn::parallel
