#include "nn/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "dlprim/core/error.h"

namespace ocl::data {
namespace {

using dlprim::FileError;
using dlprim::require;

constexpr std::uint8_t unsigned_byte_type = 0x08;
constexpr int max_rank = 4;

/** Bytes of a plain or gzip file in order; every error names the file. */
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& path) : path_(path) {
    require<FileError>(!std::filesystem::is_directory(path), path_.string(),
                       ": is a directory, not an IDX file");
    errno = 0;
    file_.reset(gzopen(path.c_str(), "rb"));
    require<FileError>(file_ != nullptr, path_.string(), ": cannot open: ", std::strerror(errno));
  }

  /** Reads up to `count` bytes; fewer only at the end of the file. */
  std::size_t read(std::uint8_t* destination, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
      const auto wish = static_cast<unsigned>(std::min<std::size_t>(count - done, 1u << 30));
      const int got = gzread(file_.get(), destination + done, wish);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    check_stream();
    return done;
  }

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... what) const {
    throw FileError(dlprim::concat(path_.string(), ": ", what...));
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  /** gzread reports a stream that ends early as a plain end of file; only gzerror tells. */
  void check_stream() const {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_OK || code == Z_STREAM_END) return;
    if (code == Z_ERRNO) fail("cannot read: ", std::strerror(errno));
    if (code == Z_BUF_ERROR) fail("truncated gzip stream");
    fail("damaged gzip stream: ", text);
  }

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

std::string to_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (auto size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

int read_rank(ByteSource& source) {
  std::array<std::uint8_t, 4> magic{};
  const auto got = source.read(magic.data(), magic.size());
  if (got == 0) source.fail("empty file");
  if (got < magic.size()) source.fail("truncated: ends within the magic number");
  if (magic[0] != 0 || magic[1] != 0)
    source.fail("not an IDX file: the magic number must start with two zero bytes");
  if (magic[2] != unsigned_byte_type)
    source.fail("unsupported IDX element type ", int{magic[2]}, ": only unsigned bytes (8) are read");
  if (magic[3] < 1 || magic[3] > max_rank)
    source.fail("unsupported IDX rank ", int{magic[3]}, ": expected 1 to ", max_rank);
  return magic[3];
}

std::vector<std::int64_t> read_shape(ByteSource& source, int rank) {
  std::vector<std::int64_t> shape;
  for (int i = 0; i < rank; ++i) {
    std::array<std::uint8_t, 4> bytes{};
    if (source.read(bytes.data(), bytes.size()) < bytes.size())
      source.fail("truncated: ends within the dimensions");
    std::int64_t size = 0;
    for (auto byte : bytes) size = size << 8 | byte;
    shape.push_back(size);
  }
  return shape;
}

std::size_t count_elements(const ByteSource& source, const std::vector<std::int64_t>& shape) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  std::uint64_t count = 1;
  for (auto size : shape) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (factor != 0 && count > limit / factor) source.fail("absurd dimensions ", to_text(shape));
    count *= factor;
  }
  return static_cast<std::size_t>(count);
}

/** Grows with the bytes that are there, so that a false header costs no memory. */
std::vector<std::uint8_t> read_values(ByteSource& source, const std::vector<std::int64_t>& shape) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  const auto expected = count_elements(source, shape);
  std::vector<std::uint8_t> values;
  while (values.size() < expected) {
    const auto start = values.size();
    const auto wish = std::min(chunk, expected - start);
    values.resize(start + wish);
    const auto got = source.read(values.data() + start, wish);
    if (got < wish)
      source.fail("truncated: dimensions ", to_text(shape), " promise ", expected, " bytes, the file holds ",
                  start + got);
  }
  return values;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
  ByteSource source(path);
  IdxArray array;
  array.shape = read_shape(source, read_rank(source));
  array.values = read_values(source, array.shape);
  // This read also makes zlib compare the checksum at the end of a gzip stream.
  std::uint8_t extra = 0;
  if (source.read(&extra, 1) != 0)
    source.fail("trailing bytes after the data of dimensions ", to_text(array.shape));
  return array;
}

}  // namespace ocl::data
