#include "dlprim/export/program_binaries.h"

#include <set>

#include "dlprim/core/error.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/kernel_cache.h"

namespace dlprim {
namespace {

std::string driver_of(const DeviceInfo& info) {
  return concat(info.platform_name, ", ", info.platform_version, ", ", info.driver_version);
}

std::set<std::string> keys_of(const std::vector<KernelCacheEntry>& entries) {
  std::set<std::string> keys;
  for (const KernelCacheEntry& entry : entries) keys.insert(entry.key);
  return keys;
}

void write_zeros(ProgramRunner& runner) {
  const ExportedProgram& program = runner.program();
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const std::size_t bytes = program.buffers[program.buffer_of(program.inputs[i].tensor)].bytes;
    if (bytes == 0) continue;
    const std::vector<char> zeros(bytes);
    const Tensor whole{runner.input(i).storage, DType::uint8, {static_cast<std::int64_t>(bytes)}, {1}, 0};
    runner.device().queue().write(whole, zeros.data(), bytes);
  }
}

}  // namespace

void trust_binaries(const ExportedProgram& program, const Device& device) {
  if (program.binaries.empty()) return;
  KernelCache& cache = KernelCache::global();
  if (!cache.is_on())
    return warn_once("the kernel cache is off, so that binaries of a program's file are not used");
  std::set<std::string> known;
  try {
    known = keys_of(cache.list());
  } catch (const FileError&) {  // storing will say why
  }
  const DeviceInfo& info = device.info();
  for (const ProgramBinary& binary : program.binaries)
    if (binary.device == info.name && binary.driver == driver_of(info) && !known.count(binary.key))
      cache.store(binary.key, binary.label, binary.device, {*binary.bytes, binary.variants});
}

ExportedProgram with_binaries(const ExportedProgram& program, Device& device) {
  KernelCache& cache = KernelCache::global();
  require<Error>(cache.is_on() && cache.list().empty(),
                 "binaries of a program are taken from an empty kernel cache (OCL_KERNEL_CACHE)");
  ProgramRunner runner(program, device);
  for (int run = 0; run < 2; ++run) {  // the second keeps commands
    write_zeros(runner);
    runner.run();
    device.queue().finish();
  }
  device.programs().store_rest();
  ExportedProgram result = program;
  const DeviceInfo& info = device.info();
  std::set<std::string> known;
  for (const ProgramBinary& binary : result.binaries) known.insert(binary.key);
  for (const KernelCacheEntry& entry : cache.list())
    if (const auto found = cache.find(entry.key); found && !known.count(entry.key))
      result.binaries.push_back({entry.key, entry.label, info.name, driver_of(info), found->variants,
                                 std::make_shared<const std::vector<unsigned char>>(found->bytes)});
  return result;
}

}  // namespace dlprim
