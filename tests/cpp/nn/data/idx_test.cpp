#include "nn/data/idx.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <random>

#include "dlprim/core/error.h"
#include "nn/data/mnist.h"

namespace {

namespace fs = std::filesystem;
using dlprim::FileError;
using ocl::data::load_mnist;
using ocl::data::read_idx;
using ocl::data::read_idx_shape;

std::string idx_bytes(const std::vector<std::uint32_t>& shape, const std::string& values, char type = 0x08) {
  std::string bytes{0, 0, type, static_cast<char>(shape.size())};
  for (auto size : shape)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xff);
  return bytes + values;
}

std::string gzip(std::string bytes) {
  z_stream stream{};
  const int gzip_window = 15 + 16;
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/** A folder of its own for each test, removed at the end. */
class IdxTest : public testing::Test {
 protected:
  IdxTest() {
    folder_ = fs::temp_directory_path() / ("tapecl-idx-" + std::to_string(std::random_device{}()));
    fs::create_directories(folder_);
  }
  ~IdxTest() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name, const std::string& bytes) const {
    const auto path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /** Expects a FileError that names the file and says `reason`. */
  void expect_damage(const std::string& bytes, const std::string& reason) const {
    expect_error([&] { read_idx(file("damaged", bytes)); }, "damaged", reason);
  }

  template <class Action>
  static void expect_error(Action action, const std::string& name, const std::string& reason) {
    try {
      action();
      FAIL() << "no error for: " << reason;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }

  fs::path folder_;
};

TEST_F(IdxTest, ReadsRanksOneToFour) {
  for (std::uint32_t rank = 1; rank <= 4; ++rank) {
    std::vector<std::uint32_t> shape(rank, 2);
    const auto array = read_idx(file("ranks", idx_bytes(shape, std::string(1u << rank, '\x7'))));
    EXPECT_EQ(array.shape, std::vector<std::int64_t>(rank, 2));
    EXPECT_EQ(array.values, std::vector<std::uint8_t>(1u << rank, 7));
  }
}

TEST_F(IdxTest, ReadsGzipByContentWhateverTheName) {
  std::string values;
  for (unsigned i = 0; i < 3'000'000; ++i) values += static_cast<char>(i * i >> 3);
  const auto bytes = idx_bytes({300, 100, 100}, values);
  const auto plain = read_idx(file("plain.gz", bytes));
  const auto packed = read_idx(file("packed", gzip(bytes)));
  EXPECT_EQ(plain.shape, (std::vector<std::int64_t>{300, 100, 100}));
  EXPECT_EQ(plain.shape, packed.shape);
  EXPECT_EQ(plain.values, packed.values);
  EXPECT_EQ(plain.values, std::vector<std::uint8_t>(values.begin(), values.end()));
}

TEST_F(IdxTest, AcceptsNoItems) {
  const auto array = read_idx(file("none", idx_bytes({0, 28, 28}, "")));
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{0, 28, 28}));
  EXPECT_TRUE(array.values.empty());
}

TEST_F(IdxTest, NamesWhatIsWrong) {
  expect_error([&] { read_idx(folder_ / "absent"); }, "absent", "No such file");
  expect_error([&] { read_idx(folder_); }, folder_.string(), "directory");
  expect_damage("", "empty");
  expect_damage(gzip(""), "empty");
  expect_damage(std::string(3, '\0'), "truncated");
  expect_damage("PNG\x01 something else", "not an IDX file");
  expect_damage(idx_bytes({1}, std::string(4, '\0'), 0x0D), "element type 13");
  expect_damage(idx_bytes({}, ""), "rank 0");
  expect_damage(idx_bytes({1, 1, 1, 1, 1}, "x"), "rank 5");
  expect_damage(idx_bytes({2, 2}, "1234").substr(0, 10), "truncated");
  expect_damage(idx_bytes({2, 2}, "123"), "truncated: dimensions 2x2 promise 4 bytes, the file holds 3");
  expect_damage(idx_bytes({2, 2}, "12345"), "trailing");
  expect_damage(gzip(idx_bytes({2, 2}, "12345")), "trailing");
}

TEST_F(IdxTest, TrustsNoDimension) {
  const std::uint32_t huge = 0xffffffff;
  expect_damage(idx_bytes({huge, huge, huge, huge}, "x"), "absurd dimensions");
  expect_damage(idx_bytes({huge, huge}, "x"), "absurd dimensions");
  expect_damage(idx_bytes({0x7fffffff, huge}, "x"), "truncated");
  expect_damage(gzip(idx_bytes({0x7fffffff, 0x7fffffff}, "x")), "truncated");
}

TEST_F(IdxTest, RefusesABombByItsHeader) {
  const std::uint32_t count = 1u << 30;
  const auto bytes = gzip(idx_bytes({count}, std::string(1 << 16, '\0')));
  expect_damage(bytes, "more than a gzip file of");
  expect_damage(bytes + std::string(1 << 21, '\0'), "over the limit");  // large enough to hold so many
}

TEST_F(IdxTest, ReadsMembersOneAfterTheOther) {
  const auto bytes = idx_bytes({4}, "abcd");
  EXPECT_EQ(read_idx(file("members", gzip(bytes.substr(0, 6)) + gzip(bytes.substr(6)))).values,
            (std::vector<std::uint8_t>{'a', 'b', 'c', 'd'}));
  expect_damage(gzip(bytes) + "more", "trailing bytes after the gzip stream");
  expect_damage(gzip(bytes) + gzip("more"), "trailing bytes after the data");
}

TEST_F(IdxTest, ReadsTheShapeAlone) {
  EXPECT_EQ(read_idx_shape(file("shape", idx_bytes({2, 3}, ""))), (std::vector<std::int64_t>{2, 3}));
}

TEST_F(IdxTest, FindsGzipDamage) {
  const auto bytes = gzip(idx_bytes({8}, "abcdefgh"));
  auto bad_crc = bytes;
  bad_crc[bytes.size() - 8] ^= 1;
  expect_damage(bad_crc, "incorrect data check");
  auto bad_length = bytes;
  bad_length[bytes.size() - 4] ^= 1;
  expect_damage(bad_length, "incorrect length check");
  for (std::size_t size = 2; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    expect_damage(bytes.substr(0, size), "truncated");
  }
}

TEST_F(IdxTest, NoDamageGetsThroughUnnoticed) {
  std::mt19937 random(1);
  std::string values;
  for (int i = 0; i < 500; ++i) values += static_cast<char>(random());
  const auto original = gzip(idx_bytes({5, 10, 10}, values));
  const auto expected = read_idx(file("original", original)).values;
  for (int round = 0; round < 3000; ++round) {
    auto bytes = original.substr(0, round % 3 == 0 ? random() % original.size() : original.size());
    for (int flips = round % 4; flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
    try {
      EXPECT_EQ(read_idx(file("fuzzed", bytes)).values,
                expected);  // a flip in gzip's unused fields does no harm
    } catch (const FileError&) {
    }
  }
}

class MnistTest : public IdxTest {
 protected:
  void write_all(const std::string& below, const std::string& suffix = "") const {
    file(below + "train-images-idx3-ubyte" + suffix, idx_bytes({3, 2, 2}, "aaaabbbbcccc"));
    file(below + "train-labels-idx1-ubyte" + suffix, idx_bytes({3}, {1, 9, 0}));
    file(below + "t10k-images-idx3-ubyte" + suffix, idx_bytes({1, 2, 2}, "dddd"));
    file(below + "t10k-labels-idx1-ubyte" + suffix, idx_bytes({1}, {5}));
  }
};

TEST_F(MnistTest, LoadsBothLayouts) {
  for (const std::string below : {"", "nested/MNIST/raw/"}) {
    write_all(below, below.empty() ? ".gz" : "");
    const auto mnist = load_mnist(below.empty() ? folder_ : folder_ / "nested");
    EXPECT_EQ(mnist.train_images.shape, (std::vector<std::int64_t>{3, 2, 2}));
    EXPECT_EQ(mnist.train_labels.values, (std::vector<std::uint8_t>{1, 9, 0}));
    EXPECT_EQ(mnist.test_images.values, (std::vector<std::uint8_t>(4, 'd')));
    EXPECT_EQ(mnist.test_labels.values, (std::vector<std::uint8_t>{5}));
  }
}

TEST_F(MnistTest, SaysWhichFilesItLookedForAndWhere) {
  expect_error([&] { load_mnist(folder_); }, folder_.string(), "train-images-idx3-ubyte.gz");
  write_all("");
  fs::remove(folder_ / "t10k-labels-idx1-ubyte");
  expect_error([&] { load_mnist(folder_); }, "MNIST/raw", "t10k-labels-idx1-ubyte");
}

TEST_F(MnistTest, ImagesAndLabelsMustAgree) {
  const auto expect_mnist_error = [&](const std::string& name, const std::string& bytes,
                                      const std::string& reason) {
    write_all("");
    file(name, bytes);
    expect_error([&] { load_mnist(folder_); }, name, reason);
  };
  expect_mnist_error("train-labels-idx1-ubyte", idx_bytes({2}, {1, 2}), "2 labels for 3 images");
  expect_mnist_error("train-labels-idx1-ubyte", idx_bytes({3}, {1, 10, 2}), "label 10");
  expect_mnist_error("train-labels-idx1-ubyte", idx_bytes({3, 1}, {1, 1, 2}), "1 dimension");
  expect_mnist_error("t10k-images-idx3-ubyte", idx_bytes({1, 4}, "dddd"), "3 dimensions");
  expect_mnist_error("t10k-images-idx3-ubyte", idx_bytes({0, 2, 2}, ""), "no pixels");
}

}  // namespace
