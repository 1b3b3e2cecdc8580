#include "dlprim/io/safetensors.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <random>

#include "dlprim/core/error.h"

namespace {

namespace fs = std::filesystem;
using dlprim::FileError;
using dlprim::ValueError;
using dlprim::io::SafetensorsEntry;
using dlprim::io::SafetensorsFile;
using dlprim::io::SafetensorsWriter;

SafetensorsEntry entry(const std::string& name, const std::string& dtype,
                       const std::vector<std::int64_t>& shape) {
  SafetensorsEntry result;
  result.name = name;
  result.dtype = dtype;
  result.shape = shape;
  return result;
}

std::string with_length(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string slurp(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/** A folder of its own for each test, removed at the end. */
class SafetensorsTest : public testing::Test {
 protected:
  SafetensorsTest() {
    folder_ = fs::temp_directory_path() / ("tapecl-safetensors-" + std::to_string(std::random_device{}()));
    fs::create_directories(folder_);
    path_ = folder_ / "model.safetensors";
  }
  ~SafetensorsTest() override { fs::remove_all(folder_); }

  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  void write_example() const {
    SafetensorsWriter writer(path_,
                             {entry("weight", "F32", {2, 3}), entry("empty", "F16", {0, 4}),
                              entry("flags", "BOOL", {3}), entry("step \"ü\"", "I64", {})},
                             {{"format", "tapecl"}, {"epoch", "3"}});
    writer.write(weight_.data(), 24);
    writer.write(nullptr, 0);
    writer.write("\1\0\1", 3);
    writer.write(&step_, 8);
    writer.finish();
  }

  void expect_damage(const std::string& bytes, const std::string& reason) const {
    put(bytes);
    try {
      SafetensorsFile file(path_);
      FAIL() << "no error for: " << reason;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }

  std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_, path_;
  const std::vector<float> weight_{1, 2, 3, -4, 5.5f, 6};
  const std::int64_t step_ = -7;
};

TEST_F(SafetensorsTest, WritesWhatItReads) {
  write_example();
  const SafetensorsFile file(path_);
  ASSERT_EQ(file.entries().size(), 4u);
  EXPECT_EQ(file.entries()[0].name, "weight");
  EXPECT_EQ(file.entries()[0].dtype, "F32");
  EXPECT_EQ(file.entries()[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.entries()[1].shape, (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(file.entries()[3].name, "step \"ü\"");
  EXPECT_TRUE(file.entries()[3].shape.empty());
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "tapecl"}, {"epoch", "3"}}));

  std::vector<float> weight(6);
  file.read(file.entries()[0], weight.data());
  EXPECT_EQ(weight, weight_);
  std::int64_t step = 0;
  file.read(file.entries()[3], &step);
  EXPECT_EQ(step, step_);
  file.read(file.entries()[1], nullptr);
}

TEST_F(SafetensorsTest, DataStartsAtAMultipleOfEight) {
  write_example();
  EXPECT_EQ(static_cast<unsigned char>(slurp(path_)[0]) % 8, 0);
}

TEST_F(SafetensorsTest, AFileWithoutTensorsIsValid) {
  SafetensorsWriter(path_, {}).finish();
  EXPECT_TRUE(SafetensorsFile(path_).entries().empty());
}

TEST_F(SafetensorsTest, AnUnfinishedWriteLeavesTheOldFile) {
  write_example();
  const auto before = slurp(path_);
  {
    SafetensorsWriter writer(path_, {entry("a", "U8", {2})});
    EXPECT_EQ(files_in_folder(), 2u);
    EXPECT_THROW(writer.finish(), ValueError);
    writer.write("xy", 2);
  }
  EXPECT_EQ(slurp(path_), before);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(SafetensorsTest, FinishReplacesTheOldFile) {
  put("old");
  write_example();
  EXPECT_EQ(SafetensorsFile(path_).entries().size(), 4u);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(SafetensorsTest, AFailedRenameLeavesNoTemporaryFile) {
  SafetensorsWriter writer(path_, {});
  fs::create_directories(path_ / "in the way");
  EXPECT_THROW(writer.finish(), FileError);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(SafetensorsTest, TwoWritersLeaveEachOtherAlone) {
  const auto entries = std::vector<SafetensorsEntry>{entry("a", "U8", {2})};
  SafetensorsWriter first(path_, entries);
  SafetensorsWriter second(path_, entries);
  EXPECT_EQ(files_in_folder(), 2u);
  second.write("22", 2);
  second.finish();
  first.write("11", 2);
  first.finish();
  EXPECT_EQ(slurp(path_).substr(slurp(path_).size() - 2), "11");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(SafetensorsTest, ADeadWritersFileGoesWithTheNextOne) {
  const auto dead = path_.string() + ".0123456789abcdef.tmp";
  const auto others = {path_.string() + ".0123456789abcde.tmp", path_.string() + ".0123456789abcdeg.tmp",
                       path_.string() + "0.0123456789abcdef.tmp", path_.string() + ".tmp"};
  std::ofstream{dead};
  for (const auto& name : others) std::ofstream{name};
  SafetensorsWriter(path_, {}).finish();
  EXPECT_FALSE(fs::exists(dead));
  for (const auto& name : others) EXPECT_TRUE(fs::exists(name)) << name;
}

TEST_F(SafetensorsTest, SaysWhyTheSystemRefuses) {
  const auto number_of = [](const auto& action) {
    try {
      action();
    } catch (const dlprim::io::SystemError& error) {
      return error.number;
    }
    return 0;
  };
  EXPECT_EQ(number_of([&] { SafetensorsFile file(path_); }), ENOENT);
  EXPECT_EQ(number_of([&] { SafetensorsFile file(folder_); }), EISDIR);
  EXPECT_EQ(number_of([&] { SafetensorsWriter writer(folder_, {}); }), EISDIR);
  EXPECT_EQ(number_of([&] { SafetensorsWriter writer(folder_ / "absent" / "model", {}); }), ENOENT);
  if (!fs::exists("/dev/full")) return;
  EXPECT_EQ(number_of([&] { SafetensorsWriter writer("/dev/full", {}); }), ENOSPC);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(SafetensorsTest, TheWriterChecksItsCaller) {
  EXPECT_THROW(SafetensorsWriter(path_, {entry("a", "F32", {}), entry("a", "F32", {})}), ValueError);
  EXPECT_THROW(SafetensorsWriter(path_, {entry("__metadata__", "F32", {})}), ValueError);
  EXPECT_THROW(SafetensorsWriter(path_, {entry("a", "float", {})}), ValueError);
  EXPECT_THROW(SafetensorsWriter(path_, {entry("a", "F32", {-1})}), ValueError);
  EXPECT_THROW(SafetensorsWriter(path_, {entry("a", "F32", {std::int64_t{1} << 62, 4})}), ValueError);
  EXPECT_THROW(SafetensorsWriter(path_, {entry("\xff", "F32", {})}), ValueError);
  EXPECT_THROW(SafetensorsWriter(folder_ / "absent" / "model", {}), FileError);
  SafetensorsWriter writer(path_, {entry("a", "U8", {2})});
  EXPECT_THROW(writer.write("x", 1), ValueError);
  writer.write("xy", 2);
  EXPECT_THROW(writer.write("", 0), ValueError);
  writer.finish();
  EXPECT_THROW(writer.finish(), ValueError);
}

TEST_F(SafetensorsTest, ReadRefusesAnEntryOfAnotherFile) {
  write_example();
  auto foreign = entry("foreign", "U8", {1000});
  foreign.end = 1000;
  char destination[1000];
  EXPECT_THROW(SafetensorsFile(path_).read(foreign, destination), ValueError);
}

TEST_F(SafetensorsTest, ReadsAFileWhoseHeaderIsNotInDataOrder) {
  put(with_length(R"({"z":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}   )",
                  "xyz"));
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.entries()[0].name, "z");
  EXPECT_EQ(file.entries()[1].name, "a");
}

TEST_F(SafetensorsTest, KeepsTheOrderOfItsEntries) {
  const std::vector<std::string> names{"z", "no elements", "b", "a", "none either", "also none", "c"};
  std::vector<SafetensorsEntry> entries;
  for (const std::string& name : names) entries.push_back(entry(name, "U8", {name.size() == 1 ? 1 : 0}));
  SafetensorsWriter writer(path_, entries);
  for (const std::string& name : names) writer.write(name.data(), name.size() == 1 ? 1 : 0);
  writer.finish();
  const SafetensorsFile file(path_);
  ASSERT_EQ(file.entries().size(), names.size());
  std::size_t place = 0;  // in the header, which others read in its order
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(file.entries()[i].name, names[i]);
    const std::size_t found = slurp(path_).find('"' + names[i] + "\":{");
    EXPECT_GT(found, place);
    place = found;
  }
}

TEST_F(SafetensorsTest, NamesWhatIsWrong) {
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"("a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const auto one = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return with_length("{" + tensor(dtype, shape, offsets) + "}", "12345678");
  };
  EXPECT_THROW(SafetensorsFile(folder_ / "absent"), FileError);
  EXPECT_THROW(SafetensorsFile{folder_}, FileError);
  expect_damage("", "too short");
  expect_damage("1234567", "too short");
  expect_damage("12345678", "over the limit");
  expect_damage("PK\3\4 and more", "torch.save");
  expect_damage(with_length("{}", "").substr(0, 9), "truncated");
  expect_damage(with_length("", ""), "'{'");
  expect_damage(with_length(" {}", ""), "'{'");
  expect_damage(with_length("[]", ""), "'{'");
  expect_damage(with_length("{\"a\"", ""), "not JSON");
  expect_damage(with_length(std::string("{}\0{}", 5), ""), "zero byte");
  expect_damage(with_length("{\"\xff\":0}", ""), "not JSON");
  expect_damage(with_length("{\"a\":" + std::string(100000, '['), ""), "nested");
  expect_damage(with_length("{}", "x"), "holds 1");
  expect_damage(with_length(R"({"a":1})", ""), "\"dtype\" is missing");
  expect_damage(with_length(R"({"__metadata__":{"a":1}})", ""), "strings to strings");
  expect_damage(with_length(R"({"__metadata__":[]})", ""), "must be an object");
  expect_damage(
      with_length("{" + tensor("\"U8\"", "[8]", "[0,8]") + "," + tensor("\"U8\"", "[8]", "[0,8]") + "}", ""),
      "occurs twice");
  expect_damage(one("\"F31\"", "[2]", "[0,8]"), "unknown dtype");
  expect_damage(one("1", "[2]", "[0,8]"), "must be a string");
  expect_damage(one("\"F32\"", "2", "[0,8]"), "must be a list");
  expect_damage(one("\"F32\"", "[-2]", "[0,8]"), "non-negative");
  expect_damage(one("\"F32\"", "[2.0]", "[0,8]"), "non-negative");
  expect_damage(one("\"F32\"", "[1e999]", "[0,8]"), "out of range");
  expect_damage(one("\"F32\"", "[1e3]", "[0,8]"), "non-negative");
  expect_damage(one("\"F32\"", "[18446744073709551615]", "[0,8]"), "non-negative");
  expect_damage(one("\"F32\"", "[4611686018427387904,4]", "[0,8]"), "overflow");
  expect_damage(one("\"F32\"", "[3]", "[0,8]"), "need 12 bytes");
  expect_damage(one("\"F32\"", "[2]", "[0,8,9]"), "list of two");
  expect_damage(one("\"F32\"", "[2]", "[8,0]"), "do not start");
  expect_damage(one("\"F32\"", "[1]", "[4,8]"), "do not start");
  expect_damage(one("\"F32\"", "[1]", "[0,4]"), "holds 8");
  expect_damage(one("\"F32\"", "[4]", "[0,16]"), "holds 8");
}

/** Every byte that a valid-looking header names must be there to read, whatever happened to the file. */
TEST_F(SafetensorsTest, SurvivesRandomDamage) {
  write_example();
  const auto original = slurp(path_);
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    auto bytes = original.substr(0, round % 3 == 0 ? random() % original.size() : original.size());
    for (int flips = round % 5; flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
    put(bytes);
    try {
      const SafetensorsFile file(path_);
      for (const auto& tensor : file.entries()) {
        std::vector<char> data(tensor.end - tensor.begin);
        file.read(tensor, data.data());
      }
    } catch (const FileError&) {
    }
  }
}

}  // namespace
