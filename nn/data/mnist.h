#pragma once

#include <filesystem>

#include "nn/data/idx.h"

namespace ocl::data {

/** Images (N, rows, columns), values 0 to 255; labels (N), values 0 to 9. */
struct Mnist {
  IdxArray train_images, train_labels, test_images, test_labels;
};

/** Mean and deviation of the training images' values as 0 to 1. */
constexpr float mnist_mean = 0.1307F, mnist_std = 0.3081F;

/**
 * Reads MNIST's four IDX files, plain or with the suffix .gz, from `directory` or from `directory`/MNIST/raw,
 * where torchvision keeps them. Throws dlprim::FileError when one is missing or damaged, or when images and
 * labels disagree.
 */
Mnist load_mnist(const std::filesystem::path& directory);

/** Images and labels of one half, see Mnist. */
struct MnistHalf {
  IdxArray images, labels;
};
/** The training half, or the other one, as load_mnist reads both. */
MnistHalf load_mnist_half(const std::filesystem::path& directory, bool train);

}  // namespace ocl::data
