#pragma once

#include <utility>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl::models {

/** The positions that one attention sees in a pass over T of them. */
struct SeenPositions {
  Tensor keys, values;  // [N, heads, S, E]
  Tensor mask;          // bool [T, S], true: is seen; undefined where each position sees those up to itself
};

/**
 * The keys and values of the positions so far, of each attention in the order in which a pass meets them.
 * Attention finds the one of its thread (Scope), so that blocks, hooks and modules put in their places are
 * called as ever.
 */
class KeyValueCache {
 public:
  class Scope {
   public:
    explicit Scope(KeyValueCache* cache);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    KeyValueCache* outer_;
  };
  /** Null outside of any scope. */
  static KeyValueCache* current();

  virtual ~KeyValueCache() = default;

  /** The next pass is to be kept: that one alone, and not those that hooks make within it or after it. */
  void await_pass() { is_awaited_ = true; }
  /** Whether the pass that begins is to be kept. */
  bool begin_pass();
  /** `blocks` attentions must have been met since. Throws ValueError. */
  void end_pass(std::int64_t positions, std::size_t blocks);

  /** The positions of a pass of so many tokens: int64 [T]. Throws ValueError for more than there is room for.
   */
  virtual Tensor positions(std::int64_t count, const Device& device) const = 0;
  /** Keeps [N, heads, T, E] of the next attention, and gives all that it sees. */
  SeenPositions extended(const Tensor& keys, const Tensor& values) { return keep(met_++, keys, values); }

 protected:
  virtual SeenPositions keep(std::size_t attention, const Tensor& keys, const Tensor& values) = 0;
  virtual void moved(std::int64_t /*positions*/) {}

 private:
  bool is_awaited_ = false;
  std::size_t met_ = 0;
};

/** Puts each pass behind the one before. The host knows how many positions there are. */
class GrowingCache : public KeyValueCache {
 public:
  explicit GrowingCache(std::int64_t capacity) : capacity_(capacity) {}

  std::int64_t length() const { return length_; }
  Tensor positions(std::int64_t count, const Device& device) const override;

 protected:
  SeenPositions keep(std::size_t attention, const Tensor& keys, const Tensor& values) override;
  void moved(std::int64_t positions) override { length_ += positions; }

 private:
  Tensor room_for(const Tensor& like) const;
  Tensor put(const Tensor& all, const Tensor& added) const;

  std::int64_t capacity_, length_ = 0;
  std::vector<std::pair<Tensor, Tensor>> entries_;
};

/**
 * Puts a pass at positions that the device alone knows, into tensors that the caller keeps: keys and values
 * of each attention in turn, [N, heads, length, E]. A pass makes the same calls wherever its positions are.
 */
class PlacedCache : public KeyValueCache {
 public:
  PlacedCache(TensorList keys_and_values, const Tensor& positions);

  Tensor positions(std::int64_t count, const Device& device) const override;

 protected:
  SeenPositions keep(std::size_t attention, const Tensor& keys, const Tensor& values) override;

 private:
  TensorList keys_and_values_;
  Tensor positions_, mask_;
};

}  // namespace ocl::models
