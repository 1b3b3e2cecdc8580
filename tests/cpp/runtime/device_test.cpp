#include "dlprim/runtime/device.h"

#include <algorithm>

#include "dlprim/platform/process.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** Handles of all devices in the order of clinfo --list. */
std::vector<cl_device_id> listed_devices() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl_device_id> devices;
  for (const cl::Platform& platform : platforms) {
    cl_uint count = 0;
    if (clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> here(count);
    clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, count, here.data(), nullptr);
    devices.insert(devices.end(), here.begin(), here.end());
  }
  return devices;
}

}  // namespace

TEST(Device, NumbersFollowClinfo) {
  const auto listed = listed_devices();
  ASSERT_EQ(static_cast<std::size_t>(Device::count()), listed.size());
  const Device& d = device();
  EXPECT_EQ(d.handle()(), listed[static_cast<std::size_t>(d.index())]);
  EXPECT_EQ(d.name(), "ocl:" + std::to_string(d.index()));
}

TEST(Device, OneObjectPerDevice) {
  Device& d = device();
  EXPECT_EQ(&d, &Device::get(d.index()));
  EXPECT_EQ(&d, &Device::get(d.name()));
  const auto opened = Device::opened();
  EXPECT_EQ(std::count(opened.begin(), opened.end(), &d), 1);
}

TEST(Device, ShortNames) {
  EXPECT_EQ(&Device::get("ocl"), &Device::get(0));
  for (const cl_device_id id : listed_devices()) {
    if (!(cl::Device(id).getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU)) continue;
    EXPECT_EQ(Device::get("cpu").handle()(), id);
    EXPECT_TRUE(Device::get("cpu").info().is_cpu);
    return;
  }
  expect_error<DeviceError>([] { Device::get("cpu"); }, "'cpu' does not exist");
}

TEST(Device, MissingDevicesAreNamedWithThoseThere) {
  const std::string there = "ocl:0 = " + Device::get(0).info().name;
  expect_error<DeviceError>([] { Device::get(Device::count()); }, there);
  expect_error<DeviceError>([] { Device::get(-1); }, "device 'ocl:-1' does not exist");
  expect_error<DeviceError>([] { Device::get("ocl:999"); }, "device 'ocl:999' does not exist");
}

TEST(Device, BadNames) {
  for (const char* name : {"", "cuda", "cuda:0", "ocl:", "ocl:x", "ocl:-1", "ocl:0x", "ocl: 0", "OCL:0",
                           "ocl:00000000000", "gpu"})
    expect_error<ValueError>([&] { Device::get(std::string(name)); }, "expected 'ocl:N'");
}

TEST(Device, Description) {
  const DeviceInfo& info = device().info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.platform_name.empty());
  EXPECT_FALSE(info.driver_version.empty());
  EXPECT_GT(info.compute_units, 0);
  EXPECT_GT(info.max_work_group, 0);
  EXPECT_GT(info.local_memory, 0u);
  EXPECT_GE(info.global_memory, info.max_allocation);
  EXPECT_GE(info.max_parameter_bytes, 256);
  EXPECT_EQ(info.fp64, info.fp64 && device().handle().getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0);
}

TEST(Device, KernelShapeFromTheEnvironment) {
  const auto before = platform::environment("OCL_KERNEL_SHAPE");
  platform::set_environment("OCL_KERNEL_SHAPE", "simt");
  EXPECT_EQ(describe(device().handle()).shape, KernelShape::simt);
  platform::set_environment("OCL_KERNEL_SHAPE", "cpu");
  EXPECT_EQ(describe(device().handle()).shape, KernelShape::cpu);
  platform::set_environment("OCL_KERNEL_SHAPE", std::nullopt);
  const KernelShape own = describe(device().handle()).shape;
  testing::internal::CaptureStderr();
  platform::set_environment("OCL_KERNEL_SHAPE", "vector");
  EXPECT_EQ(describe(device().handle()).shape, own);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("OCL_KERNEL_SHAPE=vector"), std::string::npos);
  platform::set_environment("OCL_KERNEL_SHAPE", before);
}

TEST(Device, ErrorNames) {
  EXPECT_EQ(error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(error_name(-9999), "OpenCL error (-9999)");
}
