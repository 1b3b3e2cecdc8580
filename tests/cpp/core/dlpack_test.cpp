#include "dlprim/core/dlpack.h"

#include "dlprim/core/memory_format.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/copies.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

/** A tensor that another library would take. */
dlpack::ManagedVersioned* shown(const Tensor& tensor) {
  return dlpack::show<dlpack::ManagedVersioned>(dlpack::elements_of(tensor));
}

}  // namespace

TEST(Dlpack, TakenTensorsAreTheSameMemory) {
  Tensor whole = upload(numbers(24), {4, 6});
  Tensor view = whole.transposed();
  view.shape = {3, 4};
  view.offset = 2;  // rows of three, from the third column on
  for (const bool is_versioned : {false, true}) {
    const dlpack::Elements elements =
        is_versioned ? dlpack::take(shown(view))
                     : dlpack::take(dlpack::show<dlpack::Managed>(dlpack::elements_of(view)));
    const Tensor taken = dlpack::tensor_of(elements);
    EXPECT_EQ(taken.shape, view.shape);
    EXPECT_EQ(taken.strides, view.strides);
    EXPECT_TRUE(taken.storage->is_shared());
    fill(queue(), taken, is_versioned ? -1 : -2);
    EXPECT_EQ(download<float>(whole)[2], is_versioned ? -1 : -2);
    EXPECT_EQ(download<float>(whole)[22], is_versioned ? -1 : -2);
    EXPECT_EQ(download<float>(whole)[23], 23);
  }
}

TEST(Dlpack, MemoryStaysUntilBothSidesAreDone) {
  Allocator& allocator = device().allocator();
  const std::uint64_t before = allocator.stats().allocated;
  std::optional<Tensor> tensor = upload(numbers(1000), {1000});
  dlpack::Managed* shown = dlpack::show<dlpack::Managed>(dlpack::elements_of(*tensor));
  tensor.reset();
  EXPECT_GT(allocator.stats().allocated, before);
  std::optional<dlpack::Elements> elements = dlpack::take(shown);
  EXPECT_GT(allocator.stats().allocated, before);
  elements.reset();
  EXPECT_EQ(allocator.stats().allocated, before);
  shown = dlpack::show<dlpack::Managed>(dlpack::elements_of(upload(numbers(1000), {1000})));
  shown->deleter(shown);  // nobody took it
  EXPECT_EQ(allocator.stats().allocated, before);
}

TEST(Dlpack, TypesAreThoseOfTheStandard) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dlpack::dtype_of(dlpack::type_of(dtype)), dtype) << name(dtype);
  }
  EXPECT_EQ(int{dlpack::type_of(DType::bfloat16).code}, 4);
  EXPECT_EQ(int{dlpack::type_of(DType::boolean).code}, 6);
  EXPECT_EQ(dlpack::dtype_of({dlpack::ElementType::complex, 64, 1}), DType::complex64);
  EXPECT_THROW(dlpack::dtype_of({dlpack::ElementType::complex, 32, 1}), TypeError);
  EXPECT_THROW(dlpack::dtype_of({dlpack::ElementType::floating, 32, 4}), TypeError);
}

TEST(Dlpack, EmptyTensorsHaveNoMemory) {
  const Tensor nothing = Tensor::empty(device(), {0, 3}, DType::int64);
  const Tensor taken = dlpack::tensor_of(dlpack::take(shown(nothing)));
  EXPECT_EQ(taken.shape, nothing.shape);
  EXPECT_EQ(taken.dtype, DType::int64);
}

TEST(Dlpack, WhatCannotBeSharedIsTheCallersStill) {
  const Tensor tensor = upload(numbers(24), {4, 6});
  const auto refuse = [&](auto change, auto error) {
    dlpack::ManagedVersioned* wrong = shown(tensor);
    const dlpack::Data right = wrong->tensor;
    change(wrong->tensor);
    EXPECT_THROW(dlpack::take(wrong), decltype(error));
    wrong->tensor = right;
    EXPECT_EQ(download<float>(dlpack::tensor_of(dlpack::take(wrong))), numbers(24));
  };
  std::int64_t strides[] = {-6, 1};
  refuse([](dlpack::Data& d) { d.device_type = 1; }, ValueError(""));
  refuse([](dlpack::Data& d) { d.device_id = 99; }, DeviceError(""));
  refuse([](dlpack::Data& d) { d.dtype.lanes = 2; }, TypeError(""));
  refuse([](dlpack::Data& d) { d.dtype.bits = 4; }, TypeError(""));
  refuse([](dlpack::Data& d) { d.byte_offset += 2; }, ValueError(""));
  refuse([](dlpack::Data& d) { d.byte_offset = std::uint64_t{1} << 40; }, ValueError(""));
  refuse([&](dlpack::Data& d) { d.strides = strides; }, ValueError(""));
  const cl::Context other(device().handle());
  const cl::Buffer foreign(other, CL_MEM_READ_WRITE, 96);
  refuse([&](dlpack::Data& d) { d.data = foreign(), d.byte_offset = 0; }, DeviceError(""));
}

TEST(Dlpack, WithoutStridesTheyAreContiguous) {
  dlpack::ManagedVersioned* given = shown(upload(numbers(6), {2, 3}));
  given->tensor.strides = nullptr;
  EXPECT_EQ(dlpack::take(given).strides, Dims({3, 1}));
}

TEST(Copies, StayByThemselvesWhereTheMeetingIsOfAnotherVersion) {
  copies::Meeting other;
  other.version = 99;
  EXPECT_EQ(copies::join(&other), &other);
  EXPECT_EQ(other.count, 0u);
}
