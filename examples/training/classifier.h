#pragma once

#include <filesystem>

#include "nn/nn.h"

/** A net, the names of its classes and the side of the pictures that it takes. */
struct Classifier {
  std::string name;  // in ocl::models
  std::shared_ptr<ocl::nn::Module> net;
  std::vector<std::string> classes;
  int side;
};

/** One safetensors file with all that is needed to use the net. Throws FileError. */
void save_classifier(const Classifier& classifier, const std::filesystem::path& path);
/** In eval mode on `device`. Throws FileError for a file that is none of save_classifier's. */
Classifier load_classifier(const std::filesystem::path& path, const ocl::Device& device);

/** Class scores [N, classes] of pictures [N, 1 or 3, H, W]; grey ones count as three equal channels. Where
 * the net in train mode gives auxiliary scores too, they follow. */
ocl::TensorList scores_of(ocl::nn::Module& net, const ocl::Tensor& pictures);
