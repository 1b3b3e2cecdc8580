#pragma once

#include <string>

namespace ocl {

class Node;

/** The name that programs see: "MulBackward0" of `mul`, as PyTorch writes it; of a Function its own name. */
std::string shown_name(const Node& node);

}  // namespace ocl
