#include "nn/data/mnist.h"

#include <algorithm>
#include <string>

#include "dlprim/core/error.h"

namespace ocl::data {
namespace {

using dlprim::FileError;
using dlprim::require;
namespace fs = std::filesystem;

fs::path find_file(const fs::path& directory, const std::string& name) {
  const fs::path folders[] = {directory, directory / "MNIST" / "raw"};
  for (const auto& folder : folders)
    for (const auto& candidate : {name, name + ".gz"}) {
      std::error_code ignored;
      if (fs::exists(folder / candidate, ignored)) return folder / candidate;
    }
  throw FileError(dlprim::concat("MNIST: no file ", name, " or ", name, ".gz in ", folders[0].string(),
                                 " or ", folders[1].string()));
}

// The headers are judged before anything is unpacked.
IdxArray read_images(const fs::path& path) {
  const auto shape = read_idx_shape(path);
  require<FileError>(shape.size() == 3, path.string(), ": images must have 3 dimensions, the file has ",
                     shape.size());
  require<FileError>(std::find(shape.begin(), shape.end(), 0) == shape.end(), path.string(),
                     ": holds no pixels");
  return read_idx(path);
}

IdxArray read_labels(const fs::path& path, std::int64_t image_count) {
  const auto shape = read_idx_shape(path);
  require<FileError>(shape.size() == 1, path.string(), ": labels must have 1 dimension, the file has ",
                     shape.size());
  require<FileError>(shape[0] == image_count, path.string(), ": ", shape[0], " labels for ", image_count,
                     " images");
  auto labels = read_idx(path);
  const auto largest = *std::max_element(labels.values.begin(), labels.values.end());
  require<FileError>(largest <= 9, path.string(), ": label ", int{largest}, " is not a digit");
  return labels;
}

}  // namespace

MnistHalf load_mnist_half(const fs::path& directory, bool train) {
  const std::string name = train ? "train" : "t10k";
  MnistHalf half;
  half.images = read_images(find_file(directory, name + "-images-idx3-ubyte"));
  half.labels = read_labels(find_file(directory, name + "-labels-idx1-ubyte"), half.images.shape[0]);
  return half;
}

Mnist load_mnist(const fs::path& directory) {
  MnistHalf train = load_mnist_half(directory, true), test = load_mnist_half(directory, false);
  return {std::move(train.images), std::move(train.labels), std::move(test.images), std::move(test.labels)};
}

}  // namespace ocl::data
