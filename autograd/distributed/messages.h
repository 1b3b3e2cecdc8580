#pragma once

#include <memory>
#include <vector>

#include "autograd/distributed/collectives.h"

namespace ocl::distributed {

/** Tensors to one rank, or from it, in order. One thread uses it. */
class Messages {
 public:
  /** `numbers`: what errors call the ranks. */
  Messages(std::vector<int> numbers, int rank, int other, std::unique_ptr<Exchange> exchange);

  /** Contiguous tensors. Work enqueued on them must be over; they are ready on return. Both throw
   * DistBackendError where the receiver expects something else. */
  void send(const dlprim::Tensor& tensor, int tag);
  void receive(const dlprim::Tensor& tensor, int tag);
  Copier& copier() { return copier_; }

 private:
  struct Header;
  std::int64_t step_of(const dlprim::Tensor& tensor) const;

  const std::vector<int> numbers_;
  const int rank_, other_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::byte> memory_;  // two halves, one in use by the network and one by the device
  Copier copier_;
};

}  // namespace ocl::distributed
