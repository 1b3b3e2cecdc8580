#pragma once

#include <filesystem>

#include "nn/io/checkpoint.h"

/** Writes it into the folder, beside the one of before: a kill or a power cut leaves one of the two whole. */
void write_checkpoint(const ocl::Checkpoint& checkpoint, const std::filesystem::path& folder);

/** The newest of the folder that is whole; of a damaged one stderr tells. Throws FileError where there is
 * none. */
ocl::Checkpoint read_checkpoint(const std::filesystem::path& folder, const ocl::Device& device);
