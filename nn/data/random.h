#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace ocl::data {

/** Random numbers on the host, the same on every platform for the same seeds. */
class Random {
 public:
  /** One stream for all the numbers together, as in {seed, pass, index}. */
  Random(std::initializer_list<std::uint64_t> seeds) {
    std::vector<std::uint32_t> words;
    for (const std::uint64_t seed : seeds)
      words.insert(words.end(), {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    std::seed_seq sequence(words.begin(), words.end());
    engine_.seed(sequence);
  }

  /** From [0, 1). */
  double uniform() { return std::ldexp(static_cast<double>(engine_() >> 11), -53); }
  /** From [low, high). */
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /** From 0 to count - 1; `count` must not be 0. */
  std::uint64_t integer(std::uint64_t count) {
    // Numbers of the last, incomplete run of `count` would come too often.
    const std::uint64_t unfair = (UINT64_MAX - count + 1) % count;
    std::uint64_t drawn = engine_();
    while (drawn > UINT64_MAX - unfair) drawn = engine_();
    return drawn % count;
  }
  bool chance(double p) { return uniform() < p; }
  /** For distributions of <random>, whose numbers differ between standard libraries. */
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ocl::data
