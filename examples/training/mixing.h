#pragma once

#include <cstdint>

#include "autograd/tensor/tensor.h"

/**
 * Mixup (Zhang et al. 2018) and CutMix (Yun et al. 2019) of a batch with itself, moved on by one: in one of
 * the ways whose strength, the alpha of its Beta(alpha, alpha), is above 0. The random numbers depend on the
 * seed and the batch's number alone, so that a resumed training draws the same.
 */
class Mixing {
 public:
  Mixing(double mixup, double cutmix, std::uint64_t seed) : mixup_(mixup), cutmix_(cutmix), seed_(seed) {}

  struct Mixed {
    ocl::Tensor pictures;  // [N, C, H, W]
    double share;          // of each label is its own, the rest that of the picture before
  };
  Mixed operator()(const ocl::Tensor& pictures, std::uint64_t batch) const;

 private:
  double mixup_, cutmix_;
  std::uint64_t seed_;
};

/** Each entry of the first dimension in the place of the one after it: what a batch is mixed with. */
ocl::Tensor moved_on(const ocl::Tensor& batch);
