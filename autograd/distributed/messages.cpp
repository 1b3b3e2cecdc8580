#include "autograd/distributed/messages.h"

#include <algorithm>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;

constexpr std::size_t half = 1 << 20;

}  // namespace

/** The header before a tensor's bytes. */
struct Messages::Header {
  std::int64_t count;
  std::int32_t tag;
  dlprim::DType dtype;
  std::uint8_t unused[3];
};

namespace {

std::string described(std::int64_t count, dlprim::DType dtype, int tag) {
  std::string text = concat(count, " elements of ", dlprim::name(dtype));
  if (tag != 0) text += concat(" with tag ", tag);
  return text;
}

}  // namespace

Messages::Messages(std::vector<int> numbers, int rank, int other, std::unique_ptr<Exchange> exchange)
    : numbers_(std::move(numbers)),
      rank_(rank),
      other_(other),
      exchange_(std::move(exchange)),
      memory_(2 * half) {
  copier_.add_memory(memory_.data(), memory_.size());
}

std::int64_t Messages::step_of(const dlprim::Tensor& tensor) const {
  return static_cast<std::int64_t>(half / size_of(tensor.dtype));
}

void Messages::send(const dlprim::Tensor& tensor, int tag) {
  const std::string what = concat("send of ", described(tensor.numel(), tensor.dtype, tag));
  Header header{tensor.numel(), tag, tensor.dtype, {}};
  std::vector<Outgoing> out{{other_, &header, sizeof header}};
  std::vector<Incoming> none;
  exchange_->run(out, none, what);
  const std::int64_t step = step_of(tensor), all = tensor.numel();
  const auto place = [&](std::int64_t first) { return memory_.data() + (first / step % 2) * half; };
  const auto begin = [&](std::int64_t first) {
    return copier_.down(tensor, first, std::min(step, all - first), place(first));
  };
  cl::Event next = all > 0 ? begin(0) : cl::Event();
  for (std::int64_t first = 0; first < all; first += step) {
    copier_.wait(tensor, next);
    if (first + step < all) next = begin(first + step);
    out = {{other_, place(first),
            static_cast<std::size_t>(std::min(step, all - first)) * size_of(tensor.dtype)}};
    exchange_->run(out, none, what);
  }
}

void Messages::receive(const dlprim::Tensor& tensor, int tag) {
  const std::string what = concat("recv of ", described(tensor.numel(), tensor.dtype, tag));
  Header header{};
  std::vector<Outgoing> none;
  std::vector<Incoming> in{{other_, &header, sizeof header}};
  exchange_->run(none, in, what);
  dlprim::require<DistBackendError>(
      header.count == tensor.numel() && header.dtype == tensor.dtype && header.tag == tag, "rank ",
      numbers_[static_cast<std::size_t>(other_)], " sends ",
      described(header.count, header.dtype, header.tag), ", but rank ",
      numbers_[static_cast<std::size_t>(rank_)], " receives ", described(tensor.numel(), tensor.dtype, tag));
  const std::int64_t step = step_of(tensor), all = tensor.numel();
  cl::Event written[2];
  for (std::int64_t first = 0; first < all; first += step) {
    const auto turn = static_cast<std::size_t>(first / step % 2);
    const std::int64_t count = std::min(step, all - first);
    std::byte* const place = memory_.data() + turn * half;
    copier_.wait(tensor, written[turn]);
    in = {{other_, place, static_cast<std::size_t>(count) * size_of(tensor.dtype)}};
    exchange_->run(none, in, what);
    written[turn] = copier_.up(tensor, first, count, place);
  }
  for (const cl::Event& event : written) copier_.wait(tensor, event);
}

}  // namespace ocl::distributed
