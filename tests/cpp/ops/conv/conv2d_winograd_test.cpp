#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dlprim/ops/conv/conv2d.h"
#include "support/denormals.h"
#include "support/implementations.h"
#include "support/tensors.h"

// Convolutions of 3x3 windows by Winograd's tiles. The other tests of conv2d force these implementations too,
// on few channels.

namespace {

using namespace dlprim;
using namespace testing_support;

struct Case {
  Dims x, weight;
  std::array<int, 2> padding;

  Conv2dGeometry geometry() const { return {{1, 1}, padding, {1, 1}, 1}; }
  Dims y() const { return conv2d_output_shape(x, weight, geometry()); }
};

/** The result of a direction: exactly, as plain float32 sums, and the sums of the magnitudes. */
struct Expected {
  std::vector<double> exact, magnitude;
  std::vector<float> plain;

  explicit Expected(std::size_t count) : exact(count), magnitude(count), plain(count) {}
  void add(std::size_t at, float a, float b) {
    exact[at] += double(a) * double(b);
    magnitude[at] += std::abs(double(a) * double(b));
    plain[at] += a * b;
  }
  /** In units of the last place of the magnitude: how far values are off at most, where the truth is finite.
   */
  double distance(const std::vector<float>& values) const {
    double most = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      if (std::isfinite(exact[i]))
        most = std::max(most, std::abs(double(values[i]) - exact[i]) /
                                  std::max(magnitude[i] * std::numeric_limits<float>::epsilon(), 1e-30));
    return most;
  }
};

struct Operands {
  std::vector<float> x, weight, dy, bias;

  explicit Operands(const Case& c)
      : x(random_floats(product(c.x), 1)),
        weight(random_floats(product(c.weight), 2)),
        dy(random_floats(product(c.y()), 3)),
        bias(random_floats(c.weight[0], 4)) {}
};

void expect_as_near_as_plain_sums(const Expected& expected, const std::vector<float>& values) {
  ASSERT_EQ(values.size(), expected.exact.size());
  EXPECT_LE(expected.distance(values), 4 * expected.distance(expected.plain) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected.exact[i]))
      EXPECT_TRUE(std::isnan(values[i])) << i << ": " << values[i];
    else if (std::isinf(expected.exact[i]))
      EXPECT_EQ(double(values[i]), expected.exact[i]) << i;
    else
      EXPECT_TRUE(std::isfinite(values[i])) << i << ": " << values[i];
  }
}

/** Calls visit(y index, x index, weight index) for every multiply-add. */
template <class Visit>
void for_each_product(const Case& c, const Visit& visit) {
  const Dims y = c.y();
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t co = 0; co < y[1]; ++co)
      for (std::int64_t ci = 0; ci < c.x[1]; ++ci)
        for (std::int64_t tap = 0; tap < 9; ++tap)
          for (std::int64_t oh = 0; oh < y[2]; ++oh) {
            const std::int64_t ih = oh - c.padding[0] + tap / 3;
            if (ih < 0 || ih >= c.x[2]) continue;
            for (std::int64_t ow = 0; ow < y[3]; ++ow) {
              const std::int64_t iw = ow - c.padding[1] + tap % 3;
              if (iw < 0 || iw >= c.x[3]) continue;
              visit(static_cast<std::size_t>(((n * y[1] + co) * y[2] + oh) * y[3] + ow),
                    static_cast<std::size_t>(((n * c.x[1] + ci) * c.x[2] + ih) * c.x[3] + iw),
                    static_cast<std::size_t>((co * c.x[1] + ci) * 9 + tap));
            }
          }
}

void check_forward(const Case& c, const Operands& o, const CountChoices& counted) {
  SCOPED_TRACE(
      concat("forward, x ", c.x, " weight ", c.weight, " padding ", c.padding[0], ",", c.padding[1]));
  const Dims shape = c.y();
  Expected expected(static_cast<std::size_t>(product(shape)));
  for_each_product(
      c, [&](std::size_t y, std::size_t x, std::size_t w) { expected.add(y, o.x[x], o.weight[w]); });
  for (std::size_t i = 0; i < expected.exact.size(); ++i)
    expected.add(i, o.bias[i / static_cast<std::size_t>(shape[2] * shape[3]) % o.bias.size()], 1);
  const Tensor x = upload(o.x, c.x), weight = upload(o.weight, c.weight),
               bias = upload(o.bias, {c.weight[0]}), y = Tensor::empty(device(), shape);
  conv2d_forward(device().queue(), x, weight, &bias, c.geometry(), y);
  if (counted.count() > 0) expect_as_near_as_plain_sums(expected, download<float>(y));
}

void check_backward_data(const Case& c, const Operands& o, const CountChoices& counted) {
  SCOPED_TRACE(
      concat("backward data, x ", c.x, " weight ", c.weight, " padding ", c.padding[0], ",", c.padding[1]));
  Expected expected(o.x.size());
  for_each_product(
      c, [&](std::size_t y, std::size_t x, std::size_t w) { expected.add(x, o.dy[y], o.weight[w]); });
  const Tensor dy = upload(o.dy, c.y()), weight = upload(o.weight, c.weight),
               dx = Tensor::empty(device(), c.x);
  conv2d_backward_data(device().queue(), dy, weight, c.geometry(), dx);
  if (counted.count() > 0) expect_as_near_as_plain_sums(expected, download<float>(dx));
}

void check_backward_weight(const Case& c, const Operands& o, const CountChoices& counted) {
  SCOPED_TRACE(
      concat("backward weight, x ", c.x, " weight ", c.weight, " padding ", c.padding[0], ",", c.padding[1]));
  Expected expected(o.weight.size());
  for_each_product(c, [&](std::size_t y, std::size_t x, std::size_t w) { expected.add(w, o.dy[y], o.x[x]); });
  const Tensor dy = upload(o.dy, c.y()), x = upload(o.x, c.x), dw = Tensor::empty(device(), c.weight);
  conv2d_backward_weight(device().queue(), dy, x, c.geometry(), dw);
  if (counted.count() > 0) expect_as_near_as_plain_sums(expected, download<float>(dw));
}

/** Runs `checks` with each of a family's implementations by Winograd's tiles forced; false where the device
 * takes none. */
template <class Checks>
bool for_each_winograd(const std::string& family, const Checks& checks) {
  int taken = 0;
  for (const ImplementationFamily* each : implementation_families())
    for (int i = 0; family == each->name() && i < each->count(); ++i) {
      const std::string name = each->implementation(i);
      if (name.rfind("winograd", 0) != 0) continue;
      SCOPED_TRACE(name);
      const ImplementationsSet forced(family + "=" + name);
      const CountChoices counted(family, name);
      checks(counted);
      taken += counted.count();
    }
  return taken > 0;
}

/** All directions of all cases, with operands that `change` has been at. */
template <class Change>
bool check_all(const std::vector<Case>& cases, const Change& change) {
  bool any = false;
  for (const Case& c : cases) {
    Operands operands(c);
    change(operands);
    any |= for_each_winograd("conv2d_forward",
                             [&](const CountChoices& counted) { check_forward(c, operands, counted); });
    any |= for_each_winograd("conv2d_backward_data",
                             [&](const CountChoices& counted) { check_backward_data(c, operands, counted); });
    any |= for_each_winograd("conv2d_backward_weight", [&](const CountChoices& counted) {
      check_backward_weight(c, operands, counted);
    });
  }
  return any;
}

TEST(Conv2dWinograd, OddSizes) {
  const std::vector<Case> cases{
      {{1, 64, 3, 3}, {1, 64, 3, 3}, {0, 0}},   {{2, 65, 5, 7}, {3, 65, 3, 3}, {1, 1}},
      {{2, 3, 16, 13}, {65, 3, 3, 3}, {1, 1}},  {{1, 65, 6, 6}, {130, 65, 3, 3}, {1, 1}},
      {{1, 64, 6, 9}, {64, 64, 3, 3}, {0, 1}},  {{5, 1, 4, 5}, {130, 1, 3, 3}, {2, 2}},
      {{1, 1, 40, 13}, {1, 1, 3, 3}, {1, 0}},   {{1, 64, 8, 4}, {64, 64, 3, 3}, {1, 2}},
      {{1, 65, 5, 151}, {9, 65, 3, 3}, {1, 1}}, {{3, 2, 9, 70}, {64, 2, 3, 3}, {0, 0}},
      {{2, 64, 7, 66}, {8, 64, 3, 3}, {0, 0}},  {{1, 64, 130, 3}, {17, 64, 3, 3}, {1, 1}},
  };
  if (!check_all(cases, [](Operands&) {})) GTEST_SKIP() << "none here";
}

TEST(Conv2dWinograd, DeepSums) {
  const auto no_negatives = [](Operands& o) {
    for (float& value : o.x) value = std::max(value, 0.0F);
  };
  const std::vector<Case> cases{{{1, 512, 6, 6}, {8, 512, 3, 3}, {1, 1}},
                                {{1, 8, 6, 6}, {520, 8, 3, 3}, {1, 1}},
                                {{1, 2, 101, 130}, {3, 2, 3, 3}, {1, 1}},
                                {{1, 1, 522, 519}, {3, 1, 3, 3}, {1, 1}}};  // also if dealt to 130 units
  if (!check_all(cases, no_negatives)) GTEST_SKIP() << "none here";
}

// The error of plain sums in float32 that are made of chains, as those of the direct product are where its
// depth is not split; sums over channels in one chain would be six times as far off.
TEST(Conv2dWinograd, DeepSumsAreNearlyAsExactAsPlainOnes) {
  constexpr int chain = 512;
  const Case c{{1, 512, 12, 12}, {8, 512, 3, 3}, {1, 1}};
  const Operands o(c);
  const auto results = static_cast<std::size_t>(product(c.y()));
  Expected expected(results);
  std::vector<float> plain(results), open(results);
  std::vector<int> length(results);
  for_each_product(c, [&](std::size_t y, std::size_t x, std::size_t w) {
    expected.add(y, o.x[x], o.weight[w]);
    open[y] += o.x[x] * o.weight[w];
    if (++length[y] % chain > 0) return;
    plain[y] += open[y];
    open[y] = 0;
  });
  for (std::size_t i = 0; i < results; ++i) plain[i] += open[i];
  const auto error_of = [&](const std::vector<float>& values) {
    double squares = 0;
    for (std::size_t i = 0; i < results; ++i) squares += std::pow(values[i] - expected.exact[i], 2);
    return std::sqrt(squares / static_cast<double>(results));
  };
  const bool any = for_each_winograd("conv2d_forward", [&](const CountChoices& counted) {
    const Tensor x = upload(o.x, c.x), weight = upload(o.weight, c.weight),
                 y = Tensor::empty(device(), c.y());
    conv2d_forward(device().queue(), x, weight, nullptr, c.geometry(), y);
    if (counted.count() > 0) {
      EXPECT_LE(error_of(download<float>(y)), 3 * error_of(plain));
    }
  });
  if (!any) GTEST_SKIP() << "none here";
}

/** Two images, and each by itself: results are the same, gradients by the weight add up. */
void check_pieces(const Case& both, const std::string& implementation) {
  const ImplementationsSet forced("conv2d_forward=" + implementation +
                                  ",conv2d_backward_weight=" + implementation);
  const CountChoices forward("conv2d_forward", implementation);
  const Operands o(both);
  Queue& queue = device().queue();
  const auto run = [&](std::int64_t first, std::int64_t count) {
    const auto images = [&](const std::vector<float>& all, Dims shape) {
      shape[0] = count;
      const auto from = all.begin() + first * product(shape) / count;
      return upload(std::vector<float>(from, from + product(shape)), shape);
    };
    const Tensor x = images(o.x, both.x), dy = images(o.dy, both.y()), weight = upload(o.weight, both.weight),
                 y = Tensor::empty(device(), dy.shape), dw = Tensor::empty(device(), both.weight);
    conv2d_forward(queue, x, weight, nullptr, both.geometry(), y);
    conv2d_backward_weight(queue, dy, x, both.geometry(), dw);
    return std::pair(download<float>(y), download<float>(dw));
  };
  const auto [y, dw] = run(0, 2);
  auto [expected_y, first_dw] = run(0, 1);
  const auto [second_y, second_dw] = run(1, 1);
  expected_y.insert(expected_y.end(), second_y.begin(), second_y.end());
  EXPECT_EQ(forward.count(), 3);
  EXPECT_EQ(y, expected_y);
  std::vector<double> expected_dw(first_dw.begin(), first_dw.end());
  for (std::size_t i = 0; i < expected_dw.size(); ++i) expected_dw[i] += double(second_dw[i]);
  // The last bit of the sums of the magnitudes, which are a quarter each.
  const double tolerance = 2 * double(both.x[2] * both.x[3]) / 4 * std::numeric_limits<float>::epsilon();
  expect_close(dw, expected_dw, 0, tolerance);
}

// Two images have more tiles than have their components in memory at once, one has not.
TEST(Conv2dWinograd, Pieces) {
  if (device().info().runs_cpu_kernels())
    check_pieces({{2, 64, 140, 84}, {64, 64, 3, 3}, {1, 1}}, "winograd_cpu_tiles");
  else
    check_pieces({{2, 64, 144, 144}, {448, 64, 3, 3}, {1, 1}}, "winograd_simt_64x64");
}

// Components mix the elements of a tile, results do not: what meets no infinity stays finite.
TEST(Conv2dWinograd, InfinitiesStayWhereTheyAre) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Case> cases{{{2, 64, 13, 14}, {5, 64, 3, 3}, {0, 0}},
                                {{1, 3, 21, 24}, {64, 3, 3, 3}, {1, 1}}};
  const auto put = [&](std::vector<float>& values) {
    values[3] = infinity;
    values[values.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    values[values.size() / 2 + 40] = -infinity;
  };
  const bool any = check_all(cases, [&](Operands& o) {
    put(o.x);
    put(o.dy);
  });
  if (!any) GTEST_SKIP() << "none here";
  check_all(cases, [&](Operands& o) {
    o.weight[4] = infinity;
    o.weight[o.weight.size() - 2] = std::numeric_limits<float>::quiet_NaN();
    o.bias[1] = infinity;
  });
}

// Components are larger than elements by up to 20 times.
TEST(Conv2dWinograd, LargeNumbersDoNotOverflow) {
  const bool any = check_all({{{1, 64, 9, 9}, {4, 64, 3, 3}, {1, 1}}}, [](Operands& o) {
    for (float& value : o.x) value = 2e38F;
    for (std::vector<float>* values : {&o.weight, &o.dy})
      for (float& value : *values) value *= 1e-3F;
  });
  if (!any) GTEST_SKIP() << "none here";
}

TEST(Conv2dWinograd, LargeGradientsDoNotOverflow) {
  const bool any = check_all({{{1, 2, 22, 23}, {64, 2, 3, 3}, {1, 1}}}, [](Operands& o) {
    for (float& value : o.dy) value = 2e38F;
    for (std::vector<float>* values : {&o.weight, &o.x})
      for (float& value : *values) value *= 1e-3F;
  });
  if (!any) GTEST_SKIP() << "none here";
}

// Lanes without a tile hold numbers, not what was left in memory.
TEST(Conv2dWinograd, MeetsNoDenormalNumbers) {
  if (!notes_denormals()) GTEST_SKIP() << "no flags of denormal numbers here";
  for (const std::int64_t side : {28, 14, 56}) {
    const Case c{{3, 64, side, side}, {64, 64, 3, 3}, {1, 1}};
    const Operands o(c);
    const auto check = [&](const std::string& family, const auto& run) {
      const ImplementationsSet forced(family + "=winograd_cpu_tiles");
      const CountChoices counted(family, "winograd_cpu_tiles");
      leave_denormals_in_memory();
      const Tensor x = upload(o.x, c.x), weight = upload(o.weight, c.weight), dy = upload(o.dy, c.y());
      have_met_denormals();
      run(x, weight, dy);
      EXPECT_FALSE(have_met_denormals()) << family << " " << side;
      EXPECT_EQ(counted.count(), 1) << family << " " << side;
    };
    check("conv2d_forward", [&](const Tensor& x, const Tensor& weight, const Tensor&) {
      conv2d_forward(device().queue(), x, weight, nullptr, c.geometry(), Tensor::empty(device(), c.y()));
    });
    check("conv2d_backward_data", [&](const Tensor&, const Tensor& weight, const Tensor& dy) {
      conv2d_backward_data(device().queue(), dy, weight, c.geometry(), Tensor::empty(device(), c.x));
    });
    check("conv2d_backward_weight", [&](const Tensor& x, const Tensor&, const Tensor& dy) {
      conv2d_backward_weight(device().queue(), dy, x, c.geometry(), Tensor::empty(device(), c.weight));
    });
  }
}

TEST(Conv2dWinograd, Oclgrind) {
  const bool on_cpu = device().info().runs_cpu_kernels();
  const std::vector<std::string> names =
      on_cpu ? std::vector<std::string>{"winograd_cpu_tiles"}
             : std::vector<std::string>{"winograd_simt_64x64", "winograd_simt_fused_32x32"};
  const auto check = [&](const std::string& family, const Case& c, const auto& check_direction) {
    for (const std::string& name : names) {
      const ImplementationsSet forced(family + "=" + name);
      const CountChoices counted(family, name);
      check_direction(c, Operands(c), counted);
      EXPECT_EQ(counted.count(), 1) << family << " " << name;
    }
  };
  check("conv2d_forward", {{1, 64, 5, 6}, {2, 64, 3, 3}, {0, 1}}, check_forward);
  check("conv2d_backward_data", {{1, 2, 6, 5}, {64, 2, 3, 3}, {1, 1}}, check_backward_data);
  check("conv2d_backward_weight", {{1, 1, 21, 24}, {2, 1, 3, 3}, {1, 1}}, check_backward_weight);
}

}  // namespace
