#pragma once

#include <string>

#include "nn/data/image.h"

/** The classes of made pictures. */
const std::vector<std::string>& made_classes();

struct MadePicture {
  ocl::data::Image image;
  std::int64_t label;
};
/** A shape drawn in a random place, size and colour on a noisy ground: the same one for the same number. */
MadePicture made_picture(int side, std::uint64_t number);
