#pragma once

#include "nn/models/composed.h"

/** \file What nets have in common whose backbone is a net of image classification. */
namespace ocl::models {

/** The state dict of a net of image classification, for a net that contains it; empty where it begins
 * anew. */
struct BackboneWeights {
  StateDict state;
};
std::string repr_of(const BackboneWeights& weights);

/** A net's results under names, where torchvision's give dicts of tensors. */
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
Value value_of(const NamedTensors& tensors);
/** The entries of a dict, of C++ or another language. Throws TypeError, which says `what` it is, for anything
 * else. */
Value::Mapping mapping_of(const Value& value, const std::string& what);
/** The tensor of that name. Throws ValueError, which says `what` the dict is, where there is none, and
 * TypeError for what is no tensor. */
Tensor entry(const Value::Mapping& mapping, const std::string& name, const std::string& what);

}  // namespace ocl::models
