#include <algorithm>
#include <fstream>
#include <memory>

#include "dlprim/core/error.h"
#include "nn/data/image.h"

#ifdef TAPECL_STB_IMAGE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#include <stb_image.h>
#pragma GCC diagnostic pop
#endif

namespace ocl::data {

#ifdef TAPECL_STB_IMAGE

namespace {

/** A file as stb_image reads it, which takes what is missing at its end for zeros. */
struct Source {
  std::ifstream file;
  bool ended_early = false;

  static int read(void* source, char* bytes, int count) {
    auto& self = *static_cast<Source*>(source);
    const auto got = static_cast<int>(self.file.read(bytes, count).gcount());
    self.ended_early = self.ended_early || got == 0;
    return got;
  }
  static void skip(void* source, int count) {
    auto& self = *static_cast<Source*>(source);
    self.file.clear();
    self.file.seekg(count, std::ios::cur);
  }
  static int eof(void* source) { return static_cast<Source*>(source)->file.peek() == EOF; }
};

}  // namespace

Image read_image(const std::filesystem::path& path) {
  const auto require_read = [&](bool holds, const char* reason) {
    dlprim::require<dlprim::FileError>(holds, path.string(), ": cannot be read as an image: ", reason);
  };
  Source source{std::ifstream(path, std::ios::binary)};
  require_read(source.file.is_open() && std::filesystem::is_regular_file(path),
               "no file, or not a readable one");
  const stbi_io_callbacks callbacks{&Source::read, &Source::skip, &Source::eof};
  int width = 0, height = 0, channels_in_file = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_callbacks(&callbacks, &source, &width, &height, &channels_in_file, Image::channels),
      &stbi_image_free);
  require_read(pixels != nullptr, stbi_failure_reason());
  require_read(!source.ended_early, "it ends early");
  Image image(height, width);
  std::copy_n(pixels.get(), image.pixels.size(), image.pixels.begin());
  return image;
}

bool can_read_images() {
  return true;
}

#else

bool can_read_images() {
  return false;
}

Image read_image(const std::filesystem::path& path) {
  throw dlprim::Error(dlprim::concat(path.string(),
                                     ": TapeCL was built without stb_image (Debian's libstb-dev), ",
                                     "and reads no picture files"));
}

#endif

}  // namespace ocl::data
