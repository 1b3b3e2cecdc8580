#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "nn/io/state_dict.h"

/** Tensors of a training, and all else that it goes on from. */
struct Checkpoint {
  ocl::StateDict tensors;
  nlohmann::json progress;
};

/** Writes it into the folder, beside the one of before: a kill or a power cut leaves one of the two whole. */
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& folder);

/** The newest of the folder that is whole; of a damaged one stderr tells. Throws FileError where there is
 * none. */
Checkpoint read_checkpoint(const std::filesystem::path& folder, const ocl::Device& device);
