#pragma once

#include "../casters.h"
#include "nn/value.h"

/** A value of modules as Python has it, and back: a tensor, None, or any object, which stays what it is. */
py::object python_of(const ocl::nn::Value& value);
ocl::nn::Value value_of(const py::object& object);

py::tuple positional_of(const ocl::nn::Arguments& arguments);
py::dict named_of(const ocl::nn::Arguments& arguments);
ocl::nn::Arguments arguments_of(const py::tuple& positional, const py::dict& named);
