#pragma once

#include <memory>
#include <vector>

#include "autograd/distributed/process_group.h"

namespace ocl::nn::parallel {

/** How gradients are reduced (torch.nn.parallel.DistributedDataParallel). */
struct ReducerOptions {
  std::size_t bucket_bytes = 25 << 20, first_bucket_bytes = 1 << 20;
  /** Before each backward pass, looks in the graph for parameters that it does not reach. */
  bool find_unused_parameters = false;
  /** Every pass reaches the same parameters: the graph is looked at once. */
  bool static_graph = false;
};

/**
 * Averages the gradients of parameters over a group while a backward pass makes them: in buckets, each of
 * which is reduced as soon as its last gradient is there. The last gradient of a pass waits for all buckets;
 * then the gradients are parts of the buckets' memory.
 *
 * Buckets hold parameters of one dtype and device, in the order in which the first pass brought their
 * gradients on rank 0. One thread at a time walks forward and backward.
 */
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  /** `parameters` require gradients, and are the same on all ranks. Throws DistBackendError where they
   * differ.
   */
  static std::shared_ptr<Reducer> make(TensorList parameters, TensorList buffers,
                                       std::shared_ptr<distributed::ProcessGroup> group,
                                       const ReducerOptions& options);

  /** Gives all ranks the parameters and buffers of rank 0. Waits. */
  void broadcast_state();
  /** To be called before a forward pass that gradients are wanted of. Throws AutogradError where the last
   * one's gradients have not all come. */
  void begin_forward();
  /** After it, with its outputs: the next backward pass reduces. Sends rank 0's buffers meanwhile. */
  void begin_backward(const TensorList& outputs);
  /** Whether passes reduce; otherwise gradients add up on each rank. */
  void set_synchronizes(bool on) { synchronizes_ = on; }
  bool synchronizes() const { return synchronizes_; }
  const std::shared_ptr<distributed::ProcessGroup>& group() const { return group_; }
  /** The parameters of each bucket, by number. */
  std::vector<std::vector<std::size_t>> buckets() const;

 private:
  struct Bucket {
    std::vector<std::size_t> parameters;
    std::size_t missing = 0;
    Tensor flat;  // all gradients one after another
    distributed::WorkHandle work;
  };
  Reducer(TensorList parameters, TensorList buffers, std::shared_ptr<distributed::ProcessGroup> group,
          const ReducerOptions& options);
  void require_same_parameters();
  void fill_buckets(const std::vector<std::size_t>& order);
  void take_order_of_first_rank();
  void find_unused(const TensorList& outputs);
  void note_ready(std::size_t parameter);
  void launch(Bucket& bucket);
  void finish();
  std::vector<bool> used_anywhere();
  void send_buffers();
  void take_buffers();

  const TensorList parameters_, buffers_;
  const std::shared_ptr<distributed::ProcessGroup> group_;
  const ReducerOptions options_;
  bool synchronizes_ = true;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter

  // State of the pass that is awaited or under way.
  bool is_awaited_ = false, has_begun_ = false;
  std::vector<bool> is_ready_, is_unused_, has_gradient_;
  std::size_t next_bucket_ = 0;
  std::vector<std::size_t> order_;  // in which gradients came, until the buckets follow it
  bool follows_order_ = false;
  struct SentBuffers {
    TensorList buffers;
    Tensor flat;
    distributed::WorkHandle work;
  };
  std::vector<SentBuffers> sent_buffers_;
};

}  // namespace ocl::nn::parallel
