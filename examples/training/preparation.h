#pragma once

#include "nn/data/transforms.h"

/** How a picture becomes the net's input: [channels, side, side], normalised; as in preparation of
 * examples/training/data.py. */
struct Preparation {
  int side = 0, channels = 0;
  bool is_gray = false;
  std::vector<float> mean, std;  // one a channel

  /** By the statistics of MNIST's digits or of ImageNet's photographs. */
  static Preparation of(int side, int channels, bool digits);

  /** The middle of the picture. */
  ocl::data::transforms::Transform to_test() const;
  /** A random part of the picture, of at least that share of its area. */
  ocl::data::transforms::Transform to_train(double least_scale, bool flip) const;
  /** The tensor of a picture that one of them gave. */
  ocl::data::HostArray array_of(const ocl::data::Image& picture) const;

 private:
  ocl::data::transforms::Transform finished(std::vector<ocl::data::transforms::Transform> steps) const;
};
