// Programs that Python wrote, through the C interface of the shared library. Programs that Python makes
// meanwhile: tests/python/export/test_c_interface.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "dlprim/c/tapecl.h"
#include "tests/cpp/support/tensors.h"

namespace {

const std::filesystem::path files = PROGRAM_FILES;

/** The float32 elements of a file of NumPy's format 1. */
std::vector<float> floats_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  unsigned char start[10] = {};
  file.read(reinterpret_cast<char*>(start), sizeof start);
  file.ignore(start[8] + 256 * start[9]);
  std::vector<float> values;
  for (float value; file.read(reinterpret_cast<char*>(&value), sizeof value);) values.push_back(value);
  return values;
}

const char* device_name() {
  const char* name = std::getenv("OCL_TEST_DEVICE");
  return name ? name : "ocl:0";
}

struct Free {
  void operator()(tapecl_program* program) const { tapecl_free(program); }
};
using Program = std::unique_ptr<tapecl_program, Free>;

Program load(const std::filesystem::path& path) {
  tapecl_program* program = nullptr;
  EXPECT_EQ(tapecl_load(path.u8string().c_str(), device_name(), &program), TAPECL_OK) << tapecl_last_error();
  return Program(program);
}

std::vector<float> result_of(tapecl_program* program, const std::vector<float>& input) {
  EXPECT_EQ(tapecl_set_input(program, 0, input.data(), input.size() * sizeof(float)), TAPECL_OK)
      << tapecl_last_error();
  EXPECT_EQ(tapecl_run(program), TAPECL_OK) << tapecl_last_error();
  tapecl_tensor about;
  EXPECT_EQ(tapecl_output(program, 0, &about), TAPECL_OK) << tapecl_last_error();
  EXPECT_STREQ(about.dtype, "float32");
  std::vector<float> output(about.bytes / sizeof(float));
  EXPECT_EQ(tapecl_get_output(program, 0, output.data(), about.bytes), TAPECL_OK) << tapecl_last_error();
  return output;
}

}  // namespace

TEST(CInterface, GivesTheResultsThatPythonKept) {
  const Program program = load(files / "version_1.ocl");
  ASSERT_TRUE(program);
  const std::vector<float> input = floats_of(files / "version_1_input.npy");
  const std::vector<float> expected = floats_of(files / "version_1_output.npy");
  ASSERT_EQ(input.size(), 72U);
  ASSERT_EQ(expected.size(), 6U);
  for (int run = 0; run < 4; ++run)  // the third replays commands
    testing_support::expect_close(result_of(program.get(), input), expected, 1e-6, 1e-7);
}

TEST(CInterface, RunsAProgramAtSizesWithinItsBounds) {
  const Program program = load(files / "version_2.ocl");
  ASSERT_TRUE(program);
  const char* name = nullptr;
  std::int64_t least = 0, greatest = 0;
  ASSERT_EQ(tapecl_input_bounds(program.get(), 0, 2, &name, &least, &greatest), TAPECL_OK);
  EXPECT_STREQ(name, "height");
  EXPECT_EQ(least, 4);
  EXPECT_EQ(greatest, 9);
  const std::vector<float> pictures = testing_support::random_floats(3 * 7 * 6, 1);
  const std::int64_t all[] = {3, 1, 7, 6}, one[] = {1, 1, 7, 6}, too_many[] = {5, 1, 7, 6};
  ASSERT_EQ(tapecl_set_input_shape(program.get(), 0, all, 4), TAPECL_OK) << tapecl_last_error();
  const std::vector<float> together = result_of(program.get(), pictures);
  ASSERT_EQ(together.size(), 9U);
  ASSERT_EQ(tapecl_set_input_shape(program.get(), 0, one, 4), TAPECL_OK) << tapecl_last_error();
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    const std::vector<float> picture(pictures.begin() + 42 * i, pictures.begin() + 42 * (i + 1));
    const std::vector<float> row(together.begin() + 3 * i, together.begin() + 3 * (i + 1));
    testing_support::expect_close(result_of(program.get(), picture), row, 1e-6, 1e-6);
  }
  EXPECT_EQ(tapecl_set_input_shape(program.get(), 0, too_many, 4), TAPECL_ERROR_ARGUMENT);
  EXPECT_NE(std::string(tapecl_last_error()).find("batch, is 5, and must be from 1 to 4"), std::string::npos)
      << tapecl_last_error();
}

TEST(CInterface, WritesAFileThatGivesTheSameBits) {
  const Program program = load(files / "version_1.ocl");
  ASSERT_TRUE(program);
  const auto path = std::filesystem::temp_directory_path() / "tapecl_c_interface_test.ocl";
  ASSERT_EQ(tapecl_save(program.get(), path.u8string().c_str()), TAPECL_OK) << tapecl_last_error();
  const Program again = load(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(again);
  const std::vector<float> input = floats_of(files / "version_1_input.npy");
  EXPECT_EQ(result_of(program.get(), input), result_of(again.get(), input));
}

TEST(CInterface, SaysWhatFailed) {
  tapecl_program* program = nullptr;
  EXPECT_EQ(tapecl_load("/nowhere.ocl", device_name(), &program), TAPECL_ERROR_FILE);
  EXPECT_NE(std::string(tapecl_last_error()).find("/nowhere.ocl"), std::string::npos);
  EXPECT_EQ(tapecl_load(nullptr, device_name(), &program), TAPECL_ERROR_ARGUMENT);
  EXPECT_STREQ(tapecl_last_error(), "path is a null pointer");
  EXPECT_EQ(program, nullptr);
}
