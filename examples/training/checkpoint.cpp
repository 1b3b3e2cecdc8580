#include "checkpoint.h"

#include <cstdio>

namespace {

namespace fs = std::filesystem;
using ocl::FileError;

constexpr const char *newest = "checkpoint.safetensors", *previous = "checkpoint.previous",
                     *unfinished = "checkpoint.unfinished";

}  // namespace

void write_checkpoint(const ocl::Checkpoint& checkpoint, const fs::path& folder) {
  checkpoint.save(folder / unfinished);  // a file has its name when it is on the disk
  if (fs::exists(folder / newest)) fs::rename(folder / newest, folder / previous);
  fs::rename(folder / unfinished, folder / newest);
}

ocl::Checkpoint read_checkpoint(const fs::path& folder, const ocl::Device& device) {
  const bool has_previous = fs::exists(folder / previous);
  if (!has_previous && !fs::exists(folder / newest))
    throw FileError(folder.string() + " holds no checkpoint to resume");
  try {
    if (fs::exists(folder / newest)) return ocl::Checkpoint::load(folder / newest, device);
  } catch (const FileError& error) {
    if (!has_previous) throw;
    std::fprintf(stderr, "%s; going on from the one before\n", error.what());
  }
  return ocl::Checkpoint::load(folder / previous, device);
}
