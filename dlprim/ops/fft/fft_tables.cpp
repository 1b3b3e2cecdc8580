#include "dlprim/ops/fft/fft_tables.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

enum class Kind { roots, twiddles, chirp, conjugate_chirp, chirp_spectrum };
using Key = std::tuple<const Device*, DType, Kind, std::int64_t, std::int64_t>;

/** The tables that have been used last, up to some bytes. */
class Tables {
 public:
  template <class Make>
  Tensor get(const Key& key, const Make& make) {
    if (const auto known = find(key)) return *known;
    const CommandGraph::Pause pause;  // replays share the table with everybody else
    const Tensor made = make();
    keep(key, made);
    return made;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;
  using Entry = std::pair<Key, Tensor>;

  static std::size_t bytes(const Tensor& table) {
    return static_cast<std::size_t>(table.numel()) * size_of(table.dtype);
  }

  std::optional<Tensor> find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == key; });
    if (found == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found);
    return found->second;
  }

  void keep(const Key& key, const Tensor& table) {
    std::list<Entry> dropped;  // destroyed without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.emplace_front(key, table);
    bytes_ += bytes(table);
    while (bytes_ > most_bytes && entries_.size() > 1) {
      bytes_ -= bytes(entries_.back().second);
      dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
    }
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  std::size_t bytes_ = 0;
};

Tables& tables() {
  static Tables& all = *new Tables;
  return all;
}

struct Complex {
  double re, im;
};

/** exp(-2 pi i turns / n). */
Complex root(std::int64_t turns, std::int64_t n) {
  constexpr double half_pi = 1.57079632679489661923;
  turns %= n;
  const std::int64_t quarters = 4 * turns / n;
  const double angle = half_pi * static_cast<double>(4 * turns - quarters * n) / static_cast<double>(n);
  const double c = std::cos(angle), s = std::sin(angle);
  switch (quarters) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

/** value(k) for k < count; 0 from there on. */
template <class Real, class Value>
void upload_as(Queue& queue, const Tensor& table, std::int64_t count, const Value& value) {
  const auto all = static_cast<std::size_t>(table.numel() / 2);
  std::vector<Real> numbers(2 * all);
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    const Complex z = value(static_cast<std::int64_t>(k));
    numbers[k] = static_cast<Real>(z.re);
    numbers[all + k] = static_cast<Real>(z.im);
  }
  queue.write(table, numbers.data(), numbers.size() * sizeof(Real));
}

template <class Value>
Tensor table_of(Queue& queue, DType dtype, std::int64_t all, std::int64_t count, const Value& value) {
  const Tensor table = Tensor::empty_for_upload(queue.device(), {2, all}, dtype);
  if (dtype == DType::float64)
    upload_as<double>(queue, table, count, value);
  else
    upload_as<float>(queue, table, count, value);
  return table;
}

Complex chirp(std::int64_t k, std::int64_t n, bool conjugate) {
  const Complex z = root(k * k % (2 * n), 2 * n);
  return {z.re, conjugate ? -z.im : z.im};
}

}  // namespace

Tensor fft_roots(Queue& queue, DType dtype, std::int64_t n) {
  return tables().get({&queue.device(), dtype, Kind::roots, n, 0}, [&] {
    return table_of(queue, dtype, n, n, [n](std::int64_t k) { return root(k, n); });
  });
}

Tensor fft_twiddles(Queue& queue, DType dtype, std::int64_t first, std::int64_t rest) {
  return tables().get({&queue.device(), dtype, Kind::twiddles, first, rest}, [&] {
    const std::int64_t n = first * rest;
    // The root of turns a * rest + b is a product, so that few sines are computed.
    std::vector<Complex> coarse, fine;
    for (std::int64_t a = 0; a < first; ++a) coarse.push_back(root(a, first));
    for (std::int64_t b = 0; b < rest; ++b) fine.push_back(root(b, n));
    return table_of(queue, dtype, n, n, [&](std::int64_t place) {
      const std::int64_t turns = place / rest * (place % rest);
      const Complex a = coarse[static_cast<std::size_t>(turns / rest)],
                    b = fine[static_cast<std::size_t>(turns % rest)];
      return Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    });
  });
}

Tensor fft_chirp(Queue& queue, DType dtype, std::int64_t n, std::int64_t padded, bool conjugate) {
  const Kind kind = conjugate ? Kind::conjugate_chirp : Kind::chirp;
  return tables().get({&queue.device(), dtype, kind, n, padded}, [&] {
    return table_of(queue, dtype, padded, n, [&](std::int64_t k) { return chirp(k, n, conjugate); });
  });
}

Tensor fft_chirp_spectrum(Queue& queue, DType dtype, std::int64_t n, std::int64_t padded,
                          const std::function<void(const Tensor& chirp, const Tensor& spectrum)>& transform) {
  return tables().get({&queue.device(), dtype, Kind::chirp_spectrum, n, padded}, [&] {
    const Tensor planes = table_of(queue, dtype, padded, padded, [&](std::int64_t k) {
      const std::int64_t distance = std::min(k, padded - k);
      return distance < n ? chirp(distance, n, true) : Complex{0, 0};
    });
    const Tensor spectrum = Tensor::empty(queue.device(), {2, padded}, dtype);
    const auto pairs = [&](Tensor t) {
      t.shape = {padded, 2};
      t.strides = {1, padded};
      return t;
    };
    transform(pairs(planes), pairs(spectrum));
    return spectrum;
  });
}

}  // namespace dlprim
