#pragma once

#include <filesystem>

#include "nn/nn.h"
#include "preparation.h"

/** A net, the names of its classes and how pictures are prepared for it. */
struct Classifier {
  std::string name;  // as make_net knows it
  std::shared_ptr<ocl::nn::Module> net;
  std::vector<std::string> classes;
  Preparation preparation;
};

/** One safetensors file with all that is needed to use the net, in the form of
 * examples/training/classifier.py: the programs in Python and C++ read each other's. Throws FileError. */
void save_classifier(const Classifier& classifier, const std::filesystem::path& path);
/** In eval mode on `device`. Throws FileError for a file that is none of save_classifier's. */
Classifier load_classifier(const std::filesystem::path& path, const ocl::Device& device);

/** A net of ocl::models with the weights of a file as torchvision offers, on pictures prepared as there.
 * `names`: a file with those of the classes, one a line; they have numbers if it is empty. `side` 0: the
 * usual one. Throws FileError and ValueError. */
Classifier published_classifier(const std::string& net, const std::filesystem::path& weights,
                                const std::filesystem::path& names, int side, const ocl::Device& device);

/** Class scores [N, classes] of pictures. Where the net in train mode gives auxiliary scores too, they
 * follow. */
ocl::TensorList scores_of(ocl::nn::Module& net, const ocl::Tensor& pictures);
