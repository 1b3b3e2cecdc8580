#include "autograd/autograd.h"

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class ComplexNumbers : public OnDevice {};

using Complex = std::complex<float>;

Tensor numbers() {
  return complex(tensor({1.f, -2.f, 0.5f}), tensor({2.f, 1.f, -1.f}));
}

}  // namespace

TEST_F(ComplexNumbers, ComeApartAndTogether) {
  const Tensor z = numbers();
  EXPECT_EQ(z.dtype(), DType::complex64);
  EXPECT_TRUE(z.is_complex());
  EXPECT_EQ(z.to_vector<Complex>(), (std::vector<Complex>{{1, 2}, {-2, 1}, {0.5f, -1}}));
  EXPECT_EQ(imag(z).to_vector<float>(), (std::vector<float>{2, 1, -1}));
  EXPECT_EQ(view_as_real(z).shape(), (Dims{3, 2}));
  EXPECT_EQ(view_as_complex(view_as_real(z)).to_vector<Complex>(), z.to_vector<Complex>());
  EXPECT_EQ((z * z).to_vector<Complex>()[0], Complex(-3, 4));
  EXPECT_EQ(conj(z).to_vector<Complex>()[1], Complex(-2, -1));
  EXPECT_FLOAT_EQ(abs(z).to_vector<float>()[1], std::sqrt(5.f));
  EXPECT_EQ(sum(z).item<Complex>(), Complex(-0.5f, 2));
}

TEST_F(ComplexNumbers, HaveGradientsOfTheirParts) {
  Tensor z = numbers().detach().requires_grad_();
  sum(real(z * z)).backward();  // x^2 - y^2
  EXPECT_EQ(z.grad().to_vector<Complex>(), (std::vector<Complex>{{2, -4}, {-4, -2}, {1, 2}}));
  const Tensor norm = numbers().detach().requires_grad_();
  sum(abs(norm)).backward();
  EXPECT_NEAR(std::abs(norm.grad().to_vector<Complex>()[0] - Complex(1, 2) / std::sqrt(5.f)), 0, 1e-6);
}

TEST_F(ComplexNumbers, AreRefusedWhereTheyMeanNothing) {
  const Tensor z = numbers();
  EXPECT_THROW(relu(z), TypeError);
  EXPECT_THROW(sort(z), TypeError);
  EXPECT_THROW(max(z), TypeError);
  EXPECT_THROW(softmax(z, 0), TypeError);
  EXPECT_THROW(imag(real(z)), TypeError);
  EXPECT_THROW(complex(real(z), imag(z).to(DType::float64)), TypeError);
  EXPECT_THROW(sum(z.detach().requires_grad_()).backward(), AutogradError);
}
