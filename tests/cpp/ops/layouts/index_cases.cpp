#include "dlprim/ops/index/accumulate.h"
#include "dlprim/ops/index/count.h"
#include "dlprim/ops/index/nonzero.h"
#include "dlprim/ops/sort/search.h"
#include "tests/cpp/ops/layouts/cases.h"

// Moving and adding by an index, triangles, the places of true elements and of values in order, counts.
namespace testing_support {

using namespace dlprim;

namespace {

DeviceCheck index_check() {
  static const DeviceCheck check = register_check("layouts: index out of range: ");
  return check;
}

/** [outer, along, inner] of a tensor and of an index into it. */
struct Places {
  explicit Places(Draw& d) : tensor{d.size_or_none(5), d.size(17), d.size_or_none(17)}, index(tensor) {
    index[1] = d.size_or_none(33);
  }
  const Tensor* of(Draw& d) const { return d.indices("index", index, tensor[1]); }
  Dims tensor, index;
};

DType moved_dtype(Draw& d) {
  return d.one_of({DType::float32, DType::float32, DType::float16, DType::int64, DType::uint8});
}

void draw_read_places(Draw& d) {
  const Places places(d);
  const DType dtype = moved_dtype(d);
  const Tensor *x = d.operand("x", Role::input, dtype, places.tensor, d.whole(0, 99)), *index = places.of(d),
               *y = d.output("y", places.index, dtype);
  d.calls([=](Queue& queue) { read_places(queue, *x, *index, *y, Negative::wraps, index_check()); });
}

void draw_write_places(Draw& d) {
  const Places places(d);
  const DType dtype = moved_dtype(d);
  const Tensor *x = d.operand("x", Role::input, dtype, places.index, d.whole(0, 99)), *index = places.of(d),
               *y = d.updated("y", places.tensor, dtype);
  d.calls([=](Queue& queue) { write_places(queue, *x, *index, *y, false, Negative::wraps, index_check()); });
}

void draw_add_at_places(Draw& d) {
  const Places places(d);
  const Tensor *source = d.input("source", places.index), *index = places.of(d),
               *target = d.updated("target", places.tensor);
  const std::optional<std::int64_t> left_out = d.coin() ? std::optional<std::int64_t>(0) : std::nullopt;
  d.calls([=](Queue& queue) {
    add_at_places(queue, *source, *index, *target, 2, left_out, Negative::wraps, index_check());
  });
}

void draw_reduce_at_places(Draw& d) {
  const Places places(d);
  const DType dtype = moved_dtype(d);
  const Tensor *source = d.operand("source", Role::input, dtype, places.index, d.whole(1, 3)),
               *index = places.of(d), *target = d.updated("target", places.tensor, dtype);
  const PlaceReduction reduction =
      d.one_of({PlaceReduction::product, PlaceReduction::largest, PlaceReduction::least});
  d.calls([=](Queue& queue) {
    reduce_at_places(queue, reduction, *source, *index, *target, Negative::wraps, index_check());
  });
}

void draw_join_indices(Draw& d) {
  const std::int64_t count = d.size_or_none();
  const Dims sizes{d.number(1, 5), d.number(1, 5), d.number(1, 5)};
  std::vector<const Tensor*> indices;
  for (const std::int64_t size : sizes) indices.push_back(d.indices("index", {count}, size));
  const Tensor* places = d.output("places", {count}, DType::int64);
  d.calls([=](Queue& queue) {
    std::vector<Tensor> given;
    for (const Tensor* index : indices) given.push_back(*index);
    join_indices(queue, given, sizes, *places, index_check());
  });
}

void draw_count_places(Draw& d) {
  const std::int64_t bins = d.size_or_none(40);
  const Tensor *places = d.operand("places", Role::input, DType::int64, d.shape(0, 2), d.whole(-2, 41)),
               *counts = d.output("counts", {bins}, DType::int64);
  d.calls([=](Queue& queue) { count_places(queue, *places, *counts); });
}

void draw_count_in_bins(Draw& d) {
  const std::int64_t bins = d.size_or_none(40);
  const Tensor *x = d.input("x", d.shape(0, 2)), *counts = d.output("counts", {bins}, DType::int64);
  d.calls([=](Queue& queue) { count_in_bins(queue, *x, -0.5, 1.25, *counts); });
}

void draw_places_in_order(Draw& d) {
  const std::int64_t rows = d.size_or_none(5);
  const DType dtype = moved_dtype(d);
  const Dims in_order{rows, d.size_or_none(40)}, looked_up{rows, d.size_or_none(33)};
  const Tensor *sequences = d.operand("sequences", Role::input, dtype, in_order, d.whole(0, 99)),
               *values = d.operand("values", Role::input, dtype, looked_up, d.whole(0, 99)),
               *places = d.output("places", looked_up, DType::int64);
  const bool right = d.coin();
  d.calls([=](Queue& queue) { places_in_order(queue, *sequences, *values, right, *places); });
}

void draw_triangle(Draw& d) {
  const Dims shape = d.shape(2, 4);
  const DType dtype = moved_dtype(d);
  const Tensor *x = d.operand("x", Role::input, dtype, shape, d.whole(1, 99)),
               *y = d.output("y", shape, dtype);
  const Triangle kept = d.one_of({Triangle::lower, Triangle::upper});
  const int diagonal = d.number(-2, 2);
  d.calls([=](Queue& queue) { triangle(queue, kept, *x, diagonal, *y); });
}

const Tensor* truths(Draw& d) {
  return d.operand("x", Role::input, DType::boolean, d.shape(0, 4), d.whole(0, 1));
}

void draw_count_true(Draw& d) {
  const Tensor* x = truths(d);
  d.calls([=, &d](Queue& queue) {
    const TrueCount counted = count_true(queue, *x);
    d.returned(upload<std::int64_t>({counted.count}, {1}));
  });
}

void draw_write_true(Draw& d) {
  const Tensor* x = truths(d);
  Queue& now = device().queue();
  const TrueCount counted = count_true(now, d.plain(x));
  const Tensor* places = d.output("places", {counted.count, std::max(d.plain(x).rank(), 1)}, DType::int64);
  d.calls([=](Queue& queue) { write_true(queue, *x, counted, *places); });
}

}  // namespace

LayoutCases index_cases() {
  return {{"read_places", draw_read_places},        {"write_places", draw_write_places},
          {"add_at_places", draw_add_at_places},    {"reduce_at_places", draw_reduce_at_places},
          {"join_indices", draw_join_indices},      {"triangle", draw_triangle},
          {"count_true", draw_count_true},          {"write_true", draw_write_true},
          {"count_places", draw_count_places},      {"count_in_bins", draw_count_in_bins},
          {"places_in_order", draw_places_in_order}};
}

}  // namespace testing_support
