#pragma once

#include <memory>
#include <vector>

#include "autograd/distributed/channel.h"
#include "autograd/distributed/mpi/mpi_library.h"

namespace ocl::distributed {

/** MPI as it is on this machine, by the library that was built against it. */
class Mpi {
 public:
  /** Begins MPI at the first call. Throws DistBackendError where there is none, which says what to do. */
  static const Mpi& of_process();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /** Every process's value, by rank. All processes call it. */
  template <class Value>
  std::vector<Value> all_gather(const Value& own) const {
    std::vector<Value> all(static_cast<std::size_t>(size_));
    require_success(library_->all_gather(&own, all.data(), static_cast<int>(sizeof own)), "MPI_Allgather");
    return all;
  }
  const TapeclMpi& library() const { return *library_; }
  /** Throws DistBackendError for an error of MPI's. */
  void require_success(int error, const char* function) const;

 private:
  Mpi();

  const TapeclMpi* library_;
  int rank_ = 0, size_ = 1;
};

/** The ranks of a process group, as MPI knows them. */
class MpiGroup {
 public:
  /** By their numbers among all processes. They alone make it, at once, with one `token`. */
  MpiGroup(const std::vector<int>& ranks, std::uint64_t token);
  ~MpiGroup();
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  /** To a rank of the group. Messages of one `plane` go in order. The group must outlive it. */
  std::unique_ptr<Channel> channel(int rank, Plane plane) const;

 private:
  void* group_ = nullptr;
};

}  // namespace ocl::distributed
