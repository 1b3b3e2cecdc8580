#pragma once

#include <random>
#include <vector>

#include "tests/cpp/support/tensors.h"

// Tensors of any dtype and any strides, with their values in double: what references are computed from.
namespace testing_support {

/** The value of one stored element. */
double decode(dlprim::DType dtype, const void* element);
/** Stores `value`, rounded to the nearest representable one (even at ties); integers are truncated. */
void encode(dlprim::DType dtype, double value, void* element);

/** A contiguous tensor of that dtype. */
dlprim::Tensor upload_as(dlprim::DType dtype, const std::vector<double>& values, const dlprim::Dims& shape);
/** The values of a contiguous tensor of any dtype. */
std::vector<double> download_values(const dlprim::Tensor& t);

/** Relative distance between neighbouring values of a floating dtype; 0 for others. */
double epsilon(dlprim::DType dtype);
/** The largest error of rounding a number of size 1 to a 16-bit dtype; 0 for others. */
double rounding_of(dlprim::DType dtype);
/** Whether the device can compute in that dtype. */
bool supports(dlprim::DType dtype);

/** A tensor that views memory in some strided way, and its elements in row-major order. */
struct Sample {
  dlprim::Tensor tensor;
  std::vector<double> values;
};

/** How the dimensions of a sample lie in memory. */
enum class Placement { contiguous, strided, permuted, expanded };

/**
 * A tensor of that shape. Values are multiples of 1/4 in [-8, 8] (whole and non-negative where the dtype asks
 * for it), exact in every dtype. Others than a contiguous one have their dimensions in random order in
 * memory: a strided one with gaps and an offset, a permuted one without, an expanded one with some strides of
 * 0.
 */
Sample sample(std::mt19937& random, dlprim::DType dtype, const dlprim::Dims& shape, Placement placement);

/** Calls visit(coordinates) for every element of the shape in row-major order. */
template <class Visit>
void for_each_element(const dlprim::Dims& shape, const Visit& visit) {
  dlprim::Dims at = dlprim::Dims::filled(shape.size(), 0);
  for (std::int64_t i = 0, n = dlprim::product(shape); i < n; ++i) {
    visit(at);
    for (int d = shape.size() - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
}

/** The row-major number of the element that `at` reaches in a tensor of `shape`, broadcast. */
std::size_t element_number(const dlprim::Dims& shape, const dlprim::Dims& at);

}  // namespace testing_support
