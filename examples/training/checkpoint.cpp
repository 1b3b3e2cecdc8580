#include "checkpoint.h"

#include <cstdio>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ocl::FileError;

constexpr const char *newest = "checkpoint.safetensors", *previous = "checkpoint.previous",
                     *unfinished = "checkpoint.unfinished";

Checkpoint read_file(const fs::path& path, const ocl::Device& device) {
  ocl::Metadata metadata;
  Checkpoint checkpoint;
  checkpoint.tensors = ocl::load(path, device, &metadata);
  checkpoint.progress = json::parse(metadata["progress"], nullptr, /*allow_exceptions=*/false);
  if (!checkpoint.progress.is_object()) throw FileError(path.string() + ": no checkpoint of a training");
  return checkpoint;
}

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const fs::path& folder) {
  // A file has its name when it is on the disk.
  ocl::save(checkpoint.tensors, folder / unfinished, {{"progress", checkpoint.progress.dump()}});
  if (fs::exists(folder / newest)) fs::rename(folder / newest, folder / previous);
  fs::rename(folder / unfinished, folder / newest);
}

Checkpoint read_checkpoint(const fs::path& folder, const ocl::Device& device) {
  const bool has_previous = fs::exists(folder / previous);
  if (!has_previous && !fs::exists(folder / newest))
    throw FileError(folder.string() + " holds no checkpoint to resume");
  try {
    if (fs::exists(folder / newest)) return read_file(folder / newest, device);
  } catch (const FileError& error) {
    if (!has_previous) throw;
    std::fprintf(stderr, "%s; going on from the one before\n", error.what());
  }
  return read_file(folder / previous, device);
}
