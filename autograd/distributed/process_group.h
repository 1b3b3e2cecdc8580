#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/distributed/error.h"
#include "autograd/distributed/reduction.h"
#include "autograd/distributed/socket.h"
#include "autograd/distributed/work.h"
#include "autograd/tensor/tensor.h"

namespace ocl::distributed {

using WorkHandle = std::shared_ptr<Work>;

/** How a process finds the others. */
struct GroupOptions {
  Address master;  // where rank 0 listens
  int rank = 0, size = 1;
  Seconds timeout = std::chrono::minutes(30);
};

/**
 * A group of processes, and what they compute together. Every rank calls the same functions in the same
 * order, each but send and recv with all ranks.
 *
 *     auto group = ocl::distributed::ProcessGroup::connect({{"127.0.0.1", 29500}, rank, size});
 *     group->all_reduce(gradient)->wait();
 *
 * A call returns at once. The collective begins when the devices have reached the place where it was called,
 * and runs in a thread of the group's beside what is enqueued afterwards. So nobody may write to its tensors
 * until wait() has returned. Gradients do not flow through it. Everything throws DistBackendError from the
 * moment on when a rank has ended, hangs for `timeout`, or calls something else.
 *
 * Ranks of one host share memory. Others exchange over TCP, or through MPI.
 */
class ProcessGroup {
 public:
  /** Meets the other ranks. Throws ValueError, and DistBackendError where they do not come. */
  static std::shared_ptr<ProcessGroup> connect(const GroupOptions& options);
  /** All processes that mpirun started, by MPI's ranks. MPI carries the data between hosts; a connection to
   * each rank still shows when it has ended. Throws DistBackendError where there is no MPI. */
  static std::shared_ptr<ProcessGroup> connect_by_mpi(Seconds timeout = GroupOptions().timeout);
  /** A group of these ranks alone, numbered in that order; null on others. All ranks call it. */
  std::shared_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks);
  ~ProcessGroup();
  /** Ends what is under way with an error, and leaves the group, as its destructor does. */
  void close();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const;
  int size() const;
  /** The numbers of the ranks in the group that connect() made. */
  const std::vector<int>& global_ranks() const;
  Seconds timeout() const;
  /** Whether that rank exchanges through shared memory. */
  bool shares_memory_with(int rank) const;
  /** Whether MPI carries the data between hosts. */
  bool uses_mpi() const;

  /** In place. Throws TypeError for an average of whole numbers. */
  WorkHandle all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::sum);
  /** Like all_reduce, but the result is `dst`'s alone. */
  WorkHandle reduce(const Tensor& tensor, int dst, ReduceOp op = ReduceOp::sum);
  WorkHandle broadcast(const Tensor& tensor, int src);
  /** One output for each rank, of the input's shape. */
  WorkHandle all_gather(const TensorList& outputs, const Tensor& input);
  /** `outputs` of `dst` alone; others give none. */
  WorkHandle gather(const TensorList& outputs, const Tensor& input, int dst);
  /** `inputs` of `src` alone; others give none. */
  WorkHandle scatter(const Tensor& output, const TensorList& inputs, int src);
  /** `input` holds the inputs of all ranks one after another, each of the output's number of elements. */
  WorkHandle reduce_scatter(const Tensor& output, const Tensor& input, ReduceOp op = ReduceOp::sum);
  /** inputs[j] goes to rank j and arrives in its outputs[own rank]; sizes may differ. */
  WorkHandle all_to_all(const TensorList& outputs, const TensorList& inputs);
  /** To and from one rank. Those to one rank go in order; those of several ranks, and of both directions, at
   * once. Tags must agree. */
  WorkHandle send(const Tensor& tensor, int dst, int tag = 0);
  WorkHandle recv(const Tensor& tensor, int src, int tag = 0);
  /** Returns when all ranks have called it. */
  void barrier();
  /** The bytes of every rank, of one length. Waits. */
  std::vector<std::string> all_gather_bytes(const std::string& own);
  /** Waits for all collectives so far. */
  void drain();

 private:
  struct State;
  explicit ProcessGroup(std::unique_ptr<State> state);
  class Issue;
  WorkHandle all_reduce_to(const char* function, const Tensor& tensor, int root, ReduceOp op);
  int checked_rank(const char* function, int rank) const;

  std::unique_ptr<State> state_;
};

}  // namespace ocl::distributed
