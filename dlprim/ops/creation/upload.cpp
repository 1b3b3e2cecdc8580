#include "dlprim/ops/creation/upload.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/runtime/device.h"

namespace dlprim {

void upload(Queue& queue, const HostBytes& bytes, const Tensor& destination) {
  ENTER(upload, queue, bytes, destination);
  const std::size_t expected = static_cast<std::size_t>(destination.numel()) * size_of(destination.dtype);
  require(destination.is_contiguous() && bytes.size == expected, "upload: expected a contiguous tensor of ",
          bytes.size, " bytes, got ", name(destination.dtype), " ", destination.shape);
  const auto* given = static_cast<const unsigned char*>(bytes.data);
  // Kernels count on 0 and 1, and others may mean true by any byte.
  const bool as_it_is = destination.dtype != DType::boolean ||
                        std::all_of(given, given + bytes.size, [](unsigned char byte) { return byte <= 1; });
  if (as_it_is) return queue.write(destination, bytes.data, bytes.size, bytes.non_blocking);
  std::vector<unsigned char> truths(given, given + bytes.size);
  for (unsigned char& truth : truths) truth = truth != 0;
  queue.write(destination, truths.data(), truths.size());
}

void copy_to_device(Queue& queue, const Tensor& source, const Tensor& destination) {
  ENTER(copy_to_device, queue, source, destination);
  const auto bytes_of = [](const Tensor& t) {
    return static_cast<std::size_t>(t.numel()) * size_of(t.dtype);
  };
  require(source.is_contiguous() && destination.is_contiguous() && bytes_of(source) == bytes_of(destination),
          "copy_to_device: expected contiguous tensors of as many bytes, got ", name(source.dtype), " ",
          source.shape, " and ", name(destination.dtype), " ", destination.shape);
  const Device& maker = source.device();
  Queue& target = destination.device().queue();  // a replay has one queue for all calls
  source.device().queue().read_pieces(source, bytes_of(source),
                                      [&](std::size_t start, const void* piece, std::size_t bytes) {
                                        Tensor part = destination;
                                        part.offset += static_cast<std::int64_t>(start / size_of(part.dtype));
                                        return target.write_locked(part, piece, bytes, maker);
                                      });
}

}  // namespace dlprim
