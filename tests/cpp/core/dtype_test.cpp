#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "dlprim/core/dtype.h"
#include "dlprim/core/error.h"
#include "dlprim/core/real.h"
#include "dlprim/core/scalar.h"

using namespace dlprim;

namespace {

constexpr auto f4 = DType::float32, f8 = DType::float64, f2 = DType::float16, bf = DType::bfloat16,
               i8 = DType::int64, i4 = DType::int32, i2 = DType::int16, i1 = DType::int8, u1 = DType::uint8,
               b1 = DType::boolean, c8 = DType::complex64, c16 = DType::complex128;
constexpr DType all[dtype_count] = {f4, f8, f2, bf, i8, i4, i2, i1, u1, b1, c8, c16};

// torch.promote_types of PyTorch 2.13, rows and columns in the order of `all`.
constexpr DType promoted[dtype_count][dtype_count] = {
    {f4, f8, f4, f4, f4, f4, f4, f4, f4, f4, c8, c16},             // float32
    {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, c16, c16},            // float64
    {f4, f8, f2, f4, f2, f2, f2, f2, f2, f2, c8, c16},             // float16
    {f4, f8, f4, bf, bf, bf, bf, bf, bf, bf, c8, c16},             // bfloat16
    {f4, f8, f2, bf, i8, i8, i8, i8, i8, i8, c8, c16},             // int64
    {f4, f8, f2, bf, i8, i4, i4, i4, i4, i4, c8, c16},             // int32
    {f4, f8, f2, bf, i8, i4, i2, i2, i2, i2, c8, c16},             // int16
    {f4, f8, f2, bf, i8, i4, i2, i1, i2, i1, c8, c16},             // int8
    {f4, f8, f2, bf, i8, i4, i2, i2, u1, u1, c8, c16},             // uint8
    {f4, f8, f2, bf, i8, i4, i2, i1, u1, b1, c8, c16},             // bool
    {c8, c16, c8, c8, c8, c8, c8, c8, c8, c8, c8, c16},            // complex64
    {c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16},  // complex128
};

}  // namespace

TEST(DType, PromotesAsPyTorch) {
  for (int i = 0; i < dtype_count; ++i)
    for (int k = 0; k < dtype_count; ++k)
      EXPECT_EQ(promote_types(all[i], all[k]), promoted[i][k]) << name(all[i]) << " with " << name(all[k]);
}

TEST(DType, Descriptions) {
  const char* names[] = {"float32", "float64", "float16", "bfloat16", "int64",     "int32",
                         "int16",   "int8",    "uint8",   "bool",     "complex64", "complex128"};
  const std::size_t bytes[] = {4, 8, 2, 2, 8, 4, 2, 1, 1, 1, 8, 16};
  const DType computed_in[] = {f4, f8, f4, f4, i8, i4, i4, i4, i4, i4, c8, c16};
  for (std::size_t i = 0; i < dtype_count; ++i) {
    EXPECT_STREQ(name(all[i]), names[i]);
    EXPECT_EQ(size_of(all[i]), bytes[i]) << names[i];
    EXPECT_EQ(is_floating(all[i]), i < 4) << names[i];
    EXPECT_EQ(is_complex(all[i]), i >= 10) << names[i];
    EXPECT_EQ(is_integral(all[i]), i >= 4 && i < 10) << names[i];
    EXPECT_EQ(dtype_from_name(names[i]), all[i]);
    EXPECT_EQ(compute_dtype(all[i]), computed_in[i]) << names[i];
  }
}

TEST(DType, PartsOfComplexNumbers) {
  EXPECT_EQ(real_dtype(c8), f4);
  EXPECT_EQ(real_dtype(c16), f8);
  EXPECT_EQ(real_dtype(i2), i2);
  EXPECT_EQ(complex_dtype(f8), c16);
  EXPECT_EQ(complex_dtype(bf), c8);
}

TEST(DType, Names) {
  EXPECT_EQ(dtype_from_name("float"), f4);
  EXPECT_EQ(dtype_from_name("double"), f8);
  EXPECT_EQ(dtype_from_name("half"), f2);
  EXPECT_EQ(dtype_from_name("long"), i8);
  EXPECT_EQ(dtype_from_name("int"), i4);
  EXPECT_EQ(dtype_from_name("short"), i2);
  EXPECT_EQ(dtype_from_name("cfloat"), c8);
  EXPECT_EQ(dtype_from_name("cdouble"), c16);
  try {
    dtype_from_name("float8");
    FAIL() << "float8 was taken";
  } catch (const TypeError& e) {
    EXPECT_NE(std::string(e.what()).find("'float8'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("bfloat16"), std::string::npos) << e.what();
  }
}

TEST(Scalar, ComplexNumbers) {
  const Scalar number(std::complex<double>(1.5, -2));
  EXPECT_EQ(number.kind(), Scalar::Kind::complex);
  EXPECT_EQ(number.dtype(), c8);
  EXPECT_EQ(number.real(), 1.5);
  EXPECT_EQ(number.imaginary(), -2);
  EXPECT_NO_THROW(require_holds("test", c8, number));
  EXPECT_THROW(require_holds("test", f4, number), ValueError);
  EXPECT_THROW(require_holds("test", c8, std::complex<double>(0, 1e300)), ValueError);
  EXPECT_NO_THROW(require_holds("test", f4, std::complex<double>(3, 0)));
}

TEST(Scalar, KeepsItsKind) {
  EXPECT_EQ(Scalar(true).dtype(), b1);
  EXPECT_EQ(Scalar(2).dtype(), i8);
  EXPECT_EQ(Scalar(2.0f).dtype(), f4);
  EXPECT_EQ(Scalar(2.0).kind(), Scalar::Kind::floating);
  EXPECT_EQ(Scalar(-7).real(), -7.0);
  EXPECT_EQ(Scalar(-2.9).integer(), -2);
  EXPECT_EQ(Scalar((std::int64_t{1} << 62) + 1).integer(), (std::int64_t{1} << 62) + 1);
}

TEST(Scalar, HoldsAtTheEndsOfTheRange) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Scalar(inf).integer(), INT64_MAX);
  EXPECT_EQ(Scalar(-1e30).integer(), INT64_MIN);
  EXPECT_EQ(Scalar(std::numeric_limits<float>::quiet_NaN()).integer(), 0);
}
