#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlprim {

/** Work items of a launch in up to three dimensions; the global size is rounded up to whole work groups. */
struct Range {
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};

  /** `items` work items in groups of `group`. */
  static Range linear(std::int64_t items, int group) { return {{size(items), 1, 1}, {size(group), 1, 1}}; }
  /** `x` by `y` (by `z`) work groups of `group` work items each, laid along the first dimension. */
  static Range groups(int group, std::int64_t x, std::int64_t y = 1, std::int64_t z = 1) {
    return {{size(x) * size(group), size(y), size(z)}, {size(group), 1, 1}};
  }
  /** `x` by `y` work groups of `lines` lines of `lanes` work items, which lie along the first dimension. */
  static Range lines(int lanes, int lines, std::int64_t x, std::int64_t y = 1) {
    return {{size(x) * size(lanes), size(y) * size(lines), 1}, {size(lanes), size(lines), 1}};
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
};

}  // namespace dlprim
