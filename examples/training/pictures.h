#pragma once

#include "nn/data/image_datasets.h"
#include "options.h"

/** The pictures of a training: with what is drawn at them to train on, without it to test on. */
struct Pictures {
  std::shared_ptr<const ocl::data::Dataset> train, test;
  std::vector<std::string> classes;
  int side;
};

/** By --data (DIR/train/CLASS/… and DIR/val/CLASS/…), --mnist or neither. Throws FileError. */
Pictures load_pictures(const TrainingOptions& options);

/** What a trained net sees of a picture: its middle. */
ocl::data::transforms::Transform test_transform(int side);
