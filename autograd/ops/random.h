#pragma once

#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"

namespace ocl {

// Tensors of random numbers (the torch functions of the same names), from `generator` or the default one of
// the device. A seed gives the same numbers on every device. Tensor has uniform_, normal_, … in place.

/** Uniform in [0, 1). */
Tensor rand(const Shape& shape, DType dtype = DType::float32, const Device& device = {},
            Generator* generator = nullptr);
/** Standard normal. */
Tensor randn(const Shape& shape, DType dtype = DType::float32, const Device& device = {},
             Generator* generator = nullptr);
/** Integers in [low, high). */
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype = DType::int64,
               const Device& device = {}, Generator* generator = nullptr);
/** The numbers from 0 to n - 1 in random order. */
Tensor randperm(std::int64_t n, DType dtype = DType::int64, const Device& device = {},
                Generator* generator = nullptr);

/** Normal with the mean and the standard deviation that `mean` and `std` give for each element, broadcast;
 * one of them may be a number. Throws ValueError for a negative std; waits for the device where that is a
 * tensor, as PyTorch does. */
Tensor normal(const Operand& mean, const Operand& std = 1, Generator* generator = nullptr);
/** Normal of that shape. */
Tensor normal(double mean, double std, const Shape& shape, DType dtype = DType::float32,
              const Device& device = {}, Generator* generator = nullptr);
/** 1 with the probability that each element of `p` gives, else 0; in p's dtype. Waits for the device; throws
 * ValueError for elements outside [0, 1]. */
Tensor bernoulli(const Tensor& p, Generator* generator = nullptr);
/** 1 with probability p, in the shape and dtype of `like`. */
Tensor bernoulli(const Tensor& like, double p, Generator* generator = nullptr);

/**
 * Indices drawn with the probabilities that `input` [n] or [rows, n] gives up to a factor: int64
 * [num_samples] or [rows, num_samples]. Without replacement no index comes twice. Throws ValueError for more
 * samples than there are indices; a row that is no distribution is reported at the next waiting point.
 */
Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement = false,
                   Generator* generator = nullptr);

}  // namespace ocl
