#pragma once

#include "nn/nn.h"

/** The options of a net that follow from its pictures, [N, channels, side, side]. */
struct NetOptions {
  std::int64_t classes = 1000;
  int channels = 3, side = 224;
  /** Whether it is for weights of torchvision's, whose GoogLeNet and Inception change their input. */
  bool is_published = false;
};

/** All names that make_net knows, sorted. */
std::vector<std::string> net_names();
/** A net of ocl::models for the classes of pictures, or `small`, that of examples/training/nets.py. Throws
 * ValueError for another name. */
std::shared_ptr<ocl::nn::Module> make_net(const std::string& name, const NetOptions& options);

/** The least side of pictures, from `side` on, that the net of that name can be trained on. */
int suitable_side(const std::string& name, int side);
/** Throws ValueError where the net cannot be trained on pictures of that side. */
void require_side(const std::string& name, int side);
