#include "dlprim/ops/creation/upload.h"

#include "dlprim/core/call.h"

namespace dlprim {

void upload(Queue& queue, const HostBytes& bytes, const Tensor& destination) {
  ENTER(upload, queue, bytes, destination);
  const std::size_t expected = static_cast<std::size_t>(destination.numel()) * size_of(destination.dtype);
  require(destination.is_contiguous() && bytes.size == expected, "upload: expected a contiguous tensor of ",
          bytes.size, " bytes, got ", name(destination.dtype), " ", destination.shape);
  if (destination.dtype != DType::boolean) return queue.write(destination, bytes.data, bytes.size);
  // Kernels count on 0 and 1, and others may mean true by any byte.
  const auto* given = static_cast<const unsigned char*>(bytes.data);
  std::vector<unsigned char> truths(given, given + bytes.size);
  for (unsigned char& truth : truths) truth = truth != 0;
  queue.write(destination, truths.data(), truths.size());
}

}  // namespace dlprim
