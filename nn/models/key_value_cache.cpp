#include "nn/models/key_value_cache.h"

#include "autograd/ops/compare.h"
#include "autograd/ops/index.h"
#include "autograd/ops/masking.h"
#include "autograd/tensor/creation.h"

namespace ocl::models {

using dlprim::require;

namespace {

thread_local KeyValueCache* current_cache = nullptr;

}  // namespace

KeyValueCache::Scope::Scope(KeyValueCache* cache) : outer_(std::exchange(current_cache, cache)) {}

KeyValueCache::Scope::~Scope() {
  current_cache = outer_;
}

KeyValueCache* KeyValueCache::current() {
  return current_cache;
}

bool KeyValueCache::begin_pass() {
  if (!std::exchange(is_awaited_, false)) return false;
  met_ = 0;
  return true;
}

void KeyValueCache::end_pass(std::int64_t positions, std::size_t blocks) {
  require(met_ == blocks, "generate: of ", blocks, " blocks ", met_,
          " keep their keys and values; use_cache=False generates with blocks of any kind");
  moved(positions);
}

Tensor GrowingCache::positions(std::int64_t count, const Device& device) const {
  return arange(length_, length_ + count, 1, DType::int64, device);
}

SeenPositions GrowingCache::keep(std::size_t attention, const Tensor& keys, const Tensor& values) {
  if (attention == entries_.size()) entries_.push_back({room_for(keys), room_for(values)});
  const auto& [all_keys, all_values] = entries_[attention];
  return {put(all_keys, keys), put(all_values, values), {}};
}

Tensor GrowingCache::room_for(const Tensor& like) const {
  return empty({like.size(0), like.size(1), capacity_, like.size(3)}, like.dtype(), like.device());
}

Tensor GrowingCache::put(const Tensor& all, const Tensor& added) const {
  narrow(all, 2, length_, added.size(2)).copy_(added);
  return narrow(all, 2, 0, length_ + added.size(2));
}

PlacedCache::PlacedCache(TensorList keys_and_values, const Tensor& positions)
    : keys_and_values_(std::move(keys_and_values)), positions_(positions) {
  require(!keys_and_values_.empty(), "next_tokens: the cache has no tensors, make_cache gives them");
  require<dlprim::TypeError>(positions.dtype() == DType::int64,
                             "next_tokens: expected positions of dtype int64, got ", name(positions.dtype()));
  const std::int64_t length = keys_and_values_.front().size(2);
  mask_ = le(arange(0, length, 1, DType::int64, positions.device()), unsqueeze(positions, 1));
}

Tensor PlacedCache::positions(std::int64_t count, const Device& /*device*/) const {
  require(positions_.dim() == 1 && positions_.size(0) == count, "next_tokens: expected positions [", count,
          "], one for each token, got shape ", positions_.shape());
  return positions_;
}

SeenPositions PlacedCache::keep(std::size_t attention, const Tensor& keys, const Tensor& values) {
  require(2 * attention + 1 < keys_and_values_.size(), "next_tokens: the cache has ", keys_and_values_.size(),
          " tensors, too few for the net's blocks; make_cache gives two for each");
  const auto put = [&](std::size_t i, const Tensor& added) {
    Tensor all = keys_and_values_[i];
    return index_copy_(all, 2, positions_, added);
  };
  return {put(2 * attention, keys), put(2 * attention + 1, values), mask_};
}

}  // namespace ocl::models
