#pragma once

#include "nn/data/image_datasets.h"
#include "options.h"
#include "preparation.h"

/** The pictures of a training, those to train on changed at random, the names of their classes, and how they
 * are prepared. */
struct Pictures {
  std::shared_ptr<const ocl::data::Dataset> train, test;
  std::vector<std::string> classes;
  Preparation preparation;
};

/** By --data, --mnist or neither, which is made ones. Throws FileError, and ValueError for a --side that the
 * net cannot take. */
Pictures load_pictures(const TrainingOptions& options);
/** How many pictures are made to test on, behind those to train on. */
std::size_t made_to_test(std::size_t made_to_train);
