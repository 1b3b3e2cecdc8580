#pragma once

#include "number_casters.h"

#include "autograd/tape/tape.h"

/** The Python object of a node, of a class with the node's name; None for no node. */
pybind11::object node_object(const std::shared_ptr<ocl::Node>& node);
