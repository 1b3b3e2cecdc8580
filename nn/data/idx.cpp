#include "nn/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "dlprim/core/error.h"
#include "dlprim/io/file.h"

namespace ocl::data {
namespace {

using dlprim::FileError;
using dlprim::require;

constexpr std::uint8_t unsigned_byte_type = 0x08;
constexpr int max_rank = 4;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::uint64_t most_unpacked_bytes = 1'000'000'000;
constexpr std::uint64_t best_compression = 1032;  // deflate's limit

template <class... Parts>
[[noreturn]] void fail(const dlprim::io::InputFile& file, const Parts&... what) {
  throw FileError(dlprim::concat(file.path().string(), ": ", what...));
}

/** Unpacks a gzip file, which may have several members. */
class GzipReader {
 public:
  explicit GzipReader(const dlprim::io::InputFile& file) : file_(file) {
    constexpr int gzip_window = 15 + 16;
    if (inflateInit2(&stream_, gzip_window) != Z_OK) throw std::bad_alloc();
  }
  ~GzipReader() { inflateEnd(&stream_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  static bool is_gzip(const dlprim::io::InputFile& file, std::size_t position = 0) {
    std::array<std::uint8_t, 2> magic{};
    return file.read(position, magic.data(), 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  }

  /** Unpacks up to `count` bytes; fewer only at the end, once the checksums are found right. */
  std::size_t read(std::uint8_t* destination, std::size_t count) {
    constexpr std::size_t largest_step = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t done = 0;
    while (done < count && !is_at_end_) {
      const auto wish = std::min(count - done, largest_step);
      stream_.next_out = destination + done;
      stream_.avail_out = static_cast<uInt>(wish);
      unpack_some();
      done += wish - stream_.avail_out;
    }
    return done;
  }

 private:
  void unpack_some() {
    if (stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(file_.read(position_, input_.data(), input_.size()));
      stream_.next_in = input_.data();
      position_ += stream_.avail_in;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) return end_member();
    if (code == Z_BUF_ERROR) fail(file_, "truncated gzip stream");
    if (code != Z_OK) fail(file_, "damaged gzip stream: ", stream_.msg ? stream_.msg : zError(code));
  }

  void end_member() {
    position_ -= stream_.avail_in;
    stream_.avail_in = 0;
    is_at_end_ = position_ >= file_.size();
    if (is_at_end_) return;
    if (!is_gzip(file_, position_)) fail(file_, "trailing bytes after the gzip stream");
    inflateReset(&stream_);
  }

  const dlprim::io::InputFile& file_;
  std::size_t position_ = 0;  // of what is read next
  std::array<std::uint8_t, 1 << 16> input_;
  z_stream stream_{};
  bool is_at_end_ = false;
};

/** The bytes of a plain or gzip file in order; every error names the file. */
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& path) : file_(path) {
    if (GzipReader::is_gzip(file_)) gzip_ = std::make_unique<GzipReader>(file_);
  }

  /** Reads up to `count` bytes; fewer only at the end of the file. */
  std::size_t read(std::uint8_t* destination, std::size_t count) {
    if (gzip_) return gzip_->read(destination, count);
    const std::size_t got = file_.read(position_, destination, count);
    position_ += got;
    return got;
  }

  /** Refuses a number of bytes still to come that the file cannot hold, or that would fill the memory. */
  void expect(std::uint64_t bytes, const std::string& promise) const {
    const std::uint64_t packed = file_.size();
    if (!gzip_ && bytes > packed - position_)
      fail("truncated: ", promise, ", the file holds ", packed - position_);
    if (!gzip_) return;
    if (bytes / best_compression > packed)
      fail("truncated: ", promise, ", more than a gzip file of ", packed, " bytes can hold");
    if (bytes > most_unpacked_bytes) fail(promise, ", over the limit of ", most_unpacked_bytes);
  }

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... what) const {
    data::fail(file_, what...);
  }

 private:
  dlprim::io::InputFile file_;
  std::size_t position_ = 0;
  std::unique_ptr<GzipReader> gzip_;
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
  const auto expected = count_elements(source, shape);
  const std::string promise = dlprim::concat("dimensions ", to_text(shape), " promise ", expected, " bytes");
  source.expect(expected, promise);
  std::vector<std::uint8_t> values;
  while (values.size() < expected) {
    const auto start = values.size();
    const auto wish = std::min(chunk_bytes, expected - start);
    values.resize(start + wish);
    const auto got = source.read(values.data() + start, wish);
    if (got < wish) source.fail("truncated: ", promise, ", the file holds ", start + got);
  }
  return values;
}

}  // namespace

std::vector<std::int64_t> read_idx_shape(const std::filesystem::path& path) {
  ByteSource source(path);
  return read_shape(source, read_rank(source));
}

IdxArray read_idx(const std::filesystem::path& path) {
  ByteSource source(path);
  IdxArray array;
  array.shape = read_shape(source, read_rank(source));
  array.values = read_values(source, array.shape);
  // Only a read at the end finds the checksum of a gzip stream right or wrong.
  std::uint8_t extra = 0;
  if (source.read(&extra, 1) != 0)
    source.fail("trailing bytes after the data of dimensions ", to_text(array.shape));
  return array;
}

}  // namespace ocl::data
