#include "dlprim/ops/index/index.h"
#include "dlprim/ops/index/accumulate.h"

#include <cmath>
#include <limits>

#include "dlprim/ops/index/nonzero.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Doubles = std::vector<double>;

DeviceCheck index_check() {
  static const DeviceCheck check = register_check("index test: index out of range: ");
  return check;
}

/** An index [outer, along, inner] into `bound` places, counted from either end, and the places. */
Sample random_index(std::mt19937& random, const Dims& shape, std::int64_t bound) {
  Sample index;
  Doubles given;
  for (std::int64_t i = 0; i < product(shape); ++i) {
    const auto place = std::uniform_int_distribution<std::int64_t>(-bound, bound - 1)(random);
    given.push_back(static_cast<double>(place));
    index.values.push_back(static_cast<double>(place < 0 ? place + bound : place));
  }
  index.tensor = upload_as(DType::int64, given, shape);
  return index;
}

/** Calls visit(i, place) for every element of the index: its number, and that of the element it names. */
template <class Visit>
void for_each_place(const Dims& tensor, const Dims& index, const Doubles& places, const Visit& visit) {
  for_each_element(index, [&](Dims at) {
    const std::size_t i = element_number(index, at);
    at[1] = static_cast<std::int64_t>(places[i]);
    visit(i, element_number(tensor, at));
  });
}

struct Shapes {
  Dims tensor, index;
};
const std::vector<Shapes> cases{{{1, 5, 1}, {1, 9, 1}},
                                {{3, 7, 4}, {3, 2, 4}},
                                {{2, 33, 17}, {2, 65, 17}},
                                {{1, 3, 100}, {1, 40, 100}},
                                {{4, 1, 1}, {4, 3, 1}}};

TEST(Index, ReadsPlaces) {
  std::mt19937 random(1);
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float32, DType::int64, DType::float16, DType::uint8})
    for (const Shapes& shapes : cases)
      for (const Placement placement : {Placement::contiguous, Placement::strided}) {
        const Sample x = sample(random, dtype, shapes.tensor, placement),
                     index = random_index(random, shapes.index, shapes.tensor[1]);
        const Tensor y = queue.scratch(shapes.index, dtype);
        read_places(queue, x.tensor, index.tensor, y, Negative::wraps, index_check());
        Doubles expected(index.values.size());
        for_each_place(shapes.tensor, shapes.index, index.values,
                       [&](std::size_t i, std::size_t place) { expected[i] = x.values[place]; });
        EXPECT_EQ(download_values(y), expected) << name(dtype) << " " << shapes.tensor;
      }
}

TEST(Index, TheLastOfThoseThatNameAPlaceIsWritten) {
  std::mt19937 random(2);
  Queue& queue = device().queue();
  for (const Shapes& shapes : cases) {
    const Sample x = sample(random, DType::float32, shapes.index, Placement::strided),
                 index = random_index(random, shapes.index, shapes.tensor[1]),
                 y = sample(random, DType::float32, shapes.tensor, Placement::contiguous);
    write_places(queue, x.tensor, index.tensor, y.tensor, false, Negative::wraps, index_check());
    Doubles expected = y.values;
    for_each_place(shapes.tensor, shapes.index, index.values,
                   [&](std::size_t i, std::size_t place) { expected[place] = x.values[i]; });
    EXPECT_EQ(download_values(y.tensor), expected) << shapes.tensor;
  }
}

TEST(Index, AddsAtPlaces) {
  std::mt19937 random(3);
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float32, DType::int64})
    for (const Shapes& shapes : cases) {
      const Sample source = sample(random, dtype, shapes.index, Placement::strided),
                   index = random_index(random, shapes.index, shapes.tensor[1]),
                   target = sample(random, dtype, shapes.tensor, Placement::contiguous);
      add_at_places(queue, source.tensor, index.tensor, target.tensor, 2, 0, Negative::wraps, index_check());
      Doubles expected = target.values;
      for_each_place(shapes.tensor, shapes.index, index.values, [&](std::size_t i, std::size_t place) {
        if (index.values[i] != 0) expected[place] += 2 * source.values[i];  // place 0 is left out
      });
      expect_close(download_values(target.tensor), expected, 1e-6, 1e-6);
    }
}

TEST(Index, AnExpandedIndexNamesWholeRows) {
  std::mt19937 random(4);
  Queue& queue = device().queue();
  const Dims tensor{2, 6, 9}, shape{2, 20, 9};
  const Sample source = sample(random, DType::float32, shape, Placement::contiguous),
               rows = random_index(random, {1, 20, 1}, 6),
               target = sample(random, DType::float32, tensor, Placement::contiguous);
  add_at_places(queue, source.tensor, rows.tensor.expanded(shape), target.tensor, 1, std::nullopt,
                Negative::wraps, index_check());
  Doubles expected = target.values;
  for_each_element(shape, [&](Dims at) {
    const double value = source.values[element_number(shape, at)];
    at[1] = static_cast<std::int64_t>(rows.values[static_cast<std::size_t>(at[1])]);
    expected[element_number(tensor, at)] += value;
  });
  expect_close(download_values(target.tensor), expected, 1e-6, 1e-6);
}

TEST(Index, ReducesAtPlaces) {
  std::mt19937 random(5);
  Queue& queue = device().queue();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Short lines, columns, one line for many elements, and places that few or all elements name.
  for (const Shapes& shapes :
       {Shapes{{3, 9, 1}, {3, 40, 1}}, Shapes{{3, 1, 1}, {3, 500, 1}}, Shapes{{2, 6, 9}, {2, 20, 9}},
        Shapes{{1, 4000, 1}, {1, 3000, 1}}, Shapes{{2, 7, 1}, {2, 2500, 1}}, Shapes{{1, 1, 3}, {1, 1500, 3}}})
    for (const DType dtype : {DType::float32, DType::float16, DType::int64, DType::int8})
      for (const PlaceReduction reduction :
           {PlaceReduction::product, PlaceReduction::largest, PlaceReduction::least}) {
        const bool multiplies = reduction == PlaceReduction::product;
        const bool with_nan = !multiplies && is_floating(dtype);
        const auto numbers = [&](const Dims& shape) {
          Doubles values(static_cast<std::size_t>(product(shape)));
          for (double& value : values)
            value = multiplies                       ? (random() % 2 ? 1 : -1)
                    : with_nan && random() % 64 == 0 ? nan
                                                     : static_cast<double>(random() % 200) - 100;
          return values;
        };
        const Doubles source = numbers(shapes.index), target = numbers(shapes.tensor);
        const Sample index = random_index(random, shapes.index, shapes.tensor[1]);
        const Tensor result = upload_as(dtype, target, shapes.tensor);
        reduce_at_places(queue, reduction, upload_as(dtype, source, shapes.index), index.tensor, result,
                         Negative::wraps, index_check());
        Doubles expected = target;
        for_each_place(shapes.tensor, shapes.index, index.values, [&](std::size_t i, std::size_t place) {
          double& so_far = expected[place];
          const double value = source[i];
          if (multiplies)
            so_far *= value;
          else if (std::isnan(value) ||
                   (reduction == PlaceReduction::largest ? value > so_far : value < so_far))
            so_far = value;
        });
        expect_close(download_values(result), expected, 0, 0);
      }
}

TEST(Index, SumsOfLinesAreExactWhereOnePlaceGetsAll) {
  Queue& queue = device().queue();
  const Tensor source = upload<float>(std::vector<float>(3 * 1000, 1), {3, 1000, 1}),
               index = upload<std::int64_t>(std::vector<std::int64_t>(3 * 1000, 1), {3, 1000, 1}),
               target = upload<float>({0, 1, -0.0f, 0, 1, -0.0f, 0, 1, -0.0f}, {3, 3, 1});
  add_at_places(queue, source, index, target, 0.5, std::nullopt, Negative::is_error, index_check());
  const auto sums = download<float>(target);
  EXPECT_EQ(sums, (std::vector<float>{0, 501, 0, 0, 501, 0, 0, 501, 0}));
  EXPECT_TRUE(std::signbit(sums[2]));  // a place that nothing names stays as it is
}

TEST(Index, NoPlaceIsAnErrorAtTheNextWaitingPoint) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3}, {1, 3, 1}), y = queue.scratch({1, 1, 1});
  for (const auto& [element, negative] :
       {std::pair(3, Negative::wraps), {-4, Negative::wraps}, {-1, Negative::is_error}}) {
    const Tensor index = upload<std::int64_t>({element}, {1, 1, 1});
    read_places(queue, x, index, y, negative, index_check());
    expect_error<IndexError>([&] { queue.finish(); }, concat("index out of range: ", element));
    EXPECT_EQ(download<float>(y), std::vector<float>{0});
  }
}

TEST(Index, NothingIsIndexed) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3}, {1, 3, 1}), none = queue.scratch({1, 0, 1}),
               index = queue.scratch({1, 0, 1}, DType::int64);
  read_places(queue, x, index, none, Negative::wraps, index_check());
  write_places(queue, none, index, x, false, Negative::wraps, index_check());
  add_at_places(queue, none, index, x, 1, std::nullopt, Negative::wraps, index_check());
  EXPECT_EQ(download<float>(x), (std::vector<float>{1, 2, 3}));
  // Every index of a tensor without places is out of range.
  const Tensor first = upload<std::int64_t>({0}, {1, 1, 1}), y = upload<float>({7}, {1, 1, 1});
  read_places(queue, none, first, y, Negative::wraps, index_check());
  expect_error<IndexError>([&] { queue.finish(); }, "index out of range: 0");
  EXPECT_EQ(download<float>(y), std::vector<float>{0});
}

TEST(Index, AddsInfinitiesAndNan) {
  Queue& queue = device().queue();
  constexpr float inf = std::numeric_limits<float>::infinity();
  const Tensor target = upload<float>({0, 0, 0, -0.0f}, {1, 4, 1}),
               source = upload<float>({inf, 1, inf, -inf, 2}, {1, 5, 1}),
               index = upload<std::int64_t>({0, 0, 1, 1, 2}, {1, 5, 1});
  add_at_places(queue, source, index, target, 1, std::nullopt, Negative::is_error, index_check());
  const auto sums = download<float>(target);
  EXPECT_EQ(sums[0], inf);
  EXPECT_TRUE(std::isnan(sums[1]));
  EXPECT_EQ(sums[2], 2);
  EXPECT_EQ(sums[3], 0);
}

TEST(Index, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({2, 3, 1}), index = queue.scratch({2, 4, 1}, DType::int64),
               y = queue.scratch({2, 4, 1});
  EXPECT_THROW(read_places(queue, x, y, y, Negative::wraps, index_check()), TypeError);
  EXPECT_THROW(read_places(queue, x, index, queue.scratch({2, 5, 1}), Negative::wraps, index_check()),
               ValueError);
  EXPECT_THROW(write_places(queue, y, index, queue.scratch({2, 3, 1}, DType::int64), false, Negative::wraps,
                            index_check()),
               TypeError);
  const Tensor narrow = queue.scratch({4}, DType::int32), places = queue.scratch({4}, DType::int64);
  EXPECT_THROW(join_indices(queue, {places, queue.scratch({3}, DType::int64)}, {3, 5}, places, index_check()),
               ValueError);
  EXPECT_THROW(count_true(queue, narrow), TypeError);
  EXPECT_THROW(
      write_true(queue, queue.scratch({4}, DType::boolean), {2, {}}, queue.scratch({3, 1}, DType::int64)),
      ValueError);
  EXPECT_THROW(add_at_places(queue, y, index, queue.scratch({3, 3, 1}), 1, std::nullopt, Negative::wraps,
                             index_check()),
               ValueError);
  EXPECT_THROW(join_indices(queue, {places}, {3, 5}, places, index_check()), ValueError);
  EXPECT_THROW(triangle(queue, Triangle::lower, narrow, 0, narrow), ValueError);
}

TEST(Index, JoinsSeveralIntoOne) {
  Queue& queue = device().queue();
  const Tensor places = queue.scratch({4}, DType::int64);
  join_indices(queue, {upload<std::int64_t>({0, 1, -1, 2}, {4}), upload<std::int64_t>({4, -5, 2, -1}, {4})},
               {3, 5}, places, index_check());
  EXPECT_EQ(download<std::int64_t>(places), (std::vector<std::int64_t>{4, 5, 12, 14}));
}

TEST(Index, Triangles) {
  std::mt19937 random(5);
  Queue& queue = device().queue();
  for (const Dims& shape : {Dims{5, 5}, Dims{2, 3, 17}, Dims{2, 2, 33, 4}, Dims{1, 1}})
    for (const Triangle kept : {Triangle::lower, Triangle::upper})
      for (const int diagonal : {-40, -2, 0, 1, 40}) {
        const Sample x = sample(random, DType::float32, shape, Placement::contiguous);
        const Tensor y = queue.scratch(shape);
        triangle(queue, kept, x.tensor, diagonal, y);
        Doubles expected = x.values;
        for_each_element(shape, [&](const Dims& at) {
          const std::int64_t beyond = at.back() - at[at.size() - 2] - diagonal;
          if (kept == Triangle::lower ? beyond > 0 : beyond < 0) expected[element_number(shape, at)] = 0;
        });
        EXPECT_EQ(download_values(y), expected) << shape << ", diagonal " << diagonal;
      }
}

TEST(Index, PlacesOfTrueElements) {
  std::mt19937 random(6);
  Queue& queue = device().queue();
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{129}, Dims{7, 33}, Dims{3, 1, 300}}) {
    const Sample x = sample(random, DType::boolean, shape, Placement::contiguous);
    Doubles expected;
    for_each_element(shape, [&](const Dims& at) {
      if (x.values[element_number(shape, at)] == 0) return;
      expected.insert(expected.end(), at.begin(), at.end());
      if (shape.empty()) expected.push_back(0);
    });
    const TrueCount counted = count_true(queue, x.tensor);
    const std::int64_t rank = std::max(shape.size(), 1);
    ASSERT_EQ(counted.count * rank, static_cast<std::int64_t>(expected.size())) << shape;
    const Tensor places = queue.scratch({counted.count, rank}, DType::int64);
    write_true(queue, x.tensor, counted, places);
    EXPECT_EQ(download_values(places), expected) << shape;
  }
}

}  // namespace
