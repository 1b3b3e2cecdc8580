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

/** What a net gives under names, as torchvision's give dicts of tensors. */
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
Value value_of(const NamedTensors& tensors);
/** The entries of a dict of tensors, of C++ or another language. Throws TypeError, which says `what` it is,
 * for anything else. */
NamedTensors named_tensors_of(const Value& value, const std::string& what);
/** The tensor of that name. Throws ValueError, which says `what` they are, where there is none. */
const Tensor& entry(const NamedTensors& tensors, const std::string& name, const std::string& what);

}  // namespace ocl::models
