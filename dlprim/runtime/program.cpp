#include "dlprim/runtime/program.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "dlprim/core/error.h"
#include "dlprim/platform/interrupts.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/kernel_sources.h"
#include "dlprim/runtime/kernel_warnings.h"
#include "dlprim/runtime/measured_choices.h"
#include "dlprim/runtime/program_patch.h"
#include "dlprim/runtime/sha256.h"

namespace dlprim {
namespace {

/** The file that an `#include "…"` line names, below dlprim/: a header that the host includes too names the
 * folder itself. */
std::string included_file(const std::string& line) {
  constexpr std::size_t opening = std::char_traits<char>::length("#include \"");
  constexpr const char* root = "dlprim/";
  const std::string file = line.substr(opening, line.rfind('"') - opening);
  return file.rfind(root, 0) == 0 ? file.substr(std::strlen(root)) : file;
}

void append_expanded(const std::string& file, std::set<std::string>& included, std::string& out) {
  const auto found = kernel_sources().find(file);
  require<DeviceError>(found != kernel_sources().end(), "no kernel source named '", file, "'");
  if (!included.insert(file).second) return;
  std::istringstream lines(found->second);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("#include \"", 0) == 0)
      append_expanded(included_file(line), included, out);
    else if (line != "#pragma once")
      out.append(line).push_back('\n');
  }
}

std::string device_identity(const DeviceInfo& info) {
  return concat(info.platform_name, '|', info.platform_version, '|', info.vendor, '|', info.name, '|',
                info.version, '|', info.driver_version);
}

// No -cl-fast-relaxed-math: results must hold for infinities and NaN as PyTorch's do.
std::string base_options(const DeviceInfo& info) {
  std::string options = "-cl-std=CL1.2";
  if (info.correctly_rounded_divide) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  options += info.runs_cpu_kernels() ? " -DSHAPE_CPU=1" : " -DSHAPE_SIMT=1";
  if (info.fp64) options += " -DHAS_FP64=1";
  return options;
}

std::string join(const std::set<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text.append(item).push_back('\n');
  return text;
}

std::set<std::string> split_lines(const std::string& text) {
  std::set<std::string> items;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) items.insert(line);
  return items;
}

std::vector<unsigned char> binary_of(const cl::Program& program) {
  auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
  return binaries.empty() ? std::vector<unsigned char>() : binaries.front();
}

void refuse_cached(const Program& program) {
  warn_once("a cached kernel binary was refused by the driver and is built again: " + program.label);
  KernelCache::global().forget(program.key);
}

/** Whether PoCL has a cache on disk of its own. */
bool driver_keeps_programs() {
  const char* setting = std::getenv("POCL_KERNEL_CACHE");
  return !setting || std::strcmp(setting, "0") != 0;
}

}  // namespace

std::string expanded_source(const std::string& file) {
  std::string text;
  std::set<std::string> included;
  append_expanded(file, included, text);
  return text;
}

std::size_t ProgramTable::hash_of(const char* file, const char* name, const Defines& defines) {
  const std::hash<std::string_view> hash;
  return defines.hash() ^ hash(file) ^ (hash(name) << 1);
}

Kernel* ProgramTable::known(std::size_t hash, const char* file, const char* name,
                            const Defines& defines) const {
  const auto [first, end] = file_kernels_.equal_range(hash);
  for (auto each = first; each != end; ++each) {
    const FileKernel& found = each->second;
    if (found.defines == defines && found.name == name && found.file == file) return found.kernel;
  }
  return nullptr;
}

namespace {

/** In the place of all kernels under ShapesOnly, where none is launched. */
Kernel& no_kernel() {
  static Kernel none;
  return none;
}

}  // namespace

Kernel& ProgramTable::kernel(const char* file, const char* name, const Defines& defines) {
  if (!call_state.has_elements) return no_kernel();
  const std::size_t hash = hash_of(file, name, defines);
  {
    const DeviceLock lock(mutex_);
    if (Kernel* found = known(hash, file, name, defines)) return *found;
  }
  const std::string options = defines.text();
  Kernel& kernel = lookup(concat(file, options), name, [&](Origin origin) -> Program& {
    return program(concat(file, options), file, options, [file] { return expanded_source(file); }, origin);
  });
  const DeviceLock lock(mutex_);
  if (!known(hash, file, name, defines))
    file_kernels_.emplace(hash, FileKernel{file, name, defines, &kernel});
  return kernel;
}

Kernel& ProgramTable::generated_kernel(const std::string& identity, const char* name, const char* options,
                                       const std::function<std::string()>& source) {
  if (!call_state.has_elements) return no_kernel();
  return lookup(identity, name, [&](Origin origin) -> Program& {
    return program(identity, identity, options, source, origin);
  });
}

// A second thread that wants the same program waits for it instead of building it too.
Kernel& ProgramTable::lookup(std::string id, const char* name,
                             const std::function<Program&(Origin)>& make_program) {
  id.append("#").append(name);
  if (Kernel* known = [&]() -> Kernel* {
        DeviceLock lock(mutex_);
        const auto found = kernels_.find(id);
        return found == kernels_.end() ? nullptr : &found->second;
      }())
    return *known;
  DeviceLock building(building_);
  // The thread that ends the process waits for `building`, so this one must come to its end.
  {
    const InnerLock lock(mutex_);
    const auto found = kernels_.find(id);
    if (found != kernels_.end()) return found->second;
  }
  const InterruptsHeld held;
  Kernel kernel;
  kernel.name = name;
  for (Origin origin : {Origin::cache_or_source, Origin::source}) {
    kernel.program = &make_program(origin);
    try {
      kernel.handle = cl::Kernel(kernel.program->handle, name);
      break;
    } catch (const cl::Error& e) {
      if (!kernel.program->from_cache)
        throw KernelBuildError(
            concat("kernel ", name, " of ", kernel.program->label, ": ", e.what(), " ", error_name(e.err())));
      refuse_cached(*kernel.program);
    }
  }
  const InnerLock lock(mutex_);
  return kernels_.emplace(std::move(id), std::move(kernel)).first->second;
}

Program& ProgramTable::program(const std::string& identity, const std::string& label,
                               const std::string& options, const std::function<std::string()>& source,
                               Origin origin) {
  // A program that takes the place of one from the cache stands beside it, some of whose kernels may be in
  // use.
  const std::string built = identity + "#built", &id = origin == Origin::source ? built : identity;
  {
    const InnerLock lock(mutex_);
    for (const std::string* each : {&built, &id}) {
      const auto found = programs_.find(*each);
      if (found != programs_.end()) return found->second;
    }
  }
  Program program;
  program.label = label;
  const std::string text = source();
  const std::string all_options = base_options(device_.info()) + options;
  program.key = sha256_hex(concat(text, '\0', all_options, '\0', device_identity(device_.info())));
  if (origin == Origin::cache_or_source) load(program, all_options);
  if (!program.from_cache) build(program, text, all_options);
  const InnerLock lock(mutex_);
  return programs_.emplace(id, std::move(program)).first->second;
}

void ProgramTable::load(Program& program, const std::string& options) {
  const auto cached = KernelCache::global().find(program.key);
  if (!cached) return;
  try {
    program.handle = cl::Program(device_.context(), {device_.handle()}, cl::Program::Binaries{cached->bytes});
    program.handle.build(options.c_str());
    program.stored_variants = split_lines(cached->variants);
    program.from_cache = true;
  } catch (const cl::Error&) {
    refuse_cached(program);
  }
}

namespace {

/** Texts about kernels, never destroyed: threads that outlive main may add one. */
struct Warnings {
  std::mutex mutex;
  std::vector<std::string> texts;
};
Warnings& warnings() {
  static auto* all = new Warnings;
  return *all;
}

void note_warnings(const std::string& label, const std::string& build_log) {
  if (!warns_of_source(build_log)) return;
  const std::lock_guard locked(warnings().mutex);
  warnings().texts.push_back(concat(label, ": ", build_log));
}

}  // namespace

bool warns_of_source(std::string_view build_log) {
  constexpr std::string_view word = "warning", without_place = "warning: <unknown>:";
  for (auto at = build_log.find(word); at != build_log.npos; at = build_log.find(word, at + word.size()))
    if (build_log.substr(at, without_place.size()) != without_place) return true;
  return false;
}

std::vector<std::string> kernel_warnings() {
  const std::lock_guard locked(warnings().mutex);
  return warnings().texts;
}

void ProgramTable::build(Program& program, const std::string& source, const std::string& options) {
  KernelCache& cache = KernelCache::global();
  const auto start = std::chrono::steady_clock::now();
  program.handle = cl::Program(device_.context(), source);
  try {
    program.handle.build(options.c_str());
  } catch (const cl::Error& e) {
    throw KernelBuildError(concat(program.label, " does not build on ", device_.name(), " with options '",
                                  options, "': ", error_name(e.err()), "\n",
                                  program.handle.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle())));
  }
  if (device_.info().inline_ptx && wants_patch(source)) patch(program, options);
  note_warnings(program.label, program.handle.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle()));
  cache.note_built(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (!device_.info().compiles_at_launch && cache.is_on())
    cache.store(program.key, program.label, device_.info().name, {binary_of(program.handle), ""});
}

void ProgramTable::patch(Program& program, const std::string& options) {
  // The source may have such lines in parts that are not built.
  const std::vector<unsigned char> binary = binary_of(program.handle);
  if (!wants_patch({binary.begin(), binary.end()})) return;
  try {
    program.handle =
        cl::Program(device_.context(), {device_.handle()}, cl::Program::Binaries{patched(binary)});
    program.handle.build(options.c_str());
  } catch (const cl::Error& e) {
    throw RefusedKernelError(concat(program.label, " is refused by ", device_.name(), ": ",
                                    error_name(e.err()), "\n",
                                    program.handle.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle())));
  }
}

bool ProgramTable::compiles_in(const LaunchShape& shape, Kernel& kernel) {
  if (!device_.info().compiles_at_launch || kernel.last_shape == shape) return false;
  kernel.last_shape = shape;
  const auto& local = shape.local;
  const std::string variant =
      concat(kernel.name, ' ', local[0], 'x', local[1], 'x', local[2], shape.small_grid ? "" : " large");
  Program& program = *kernel.program;
  if (!program.launched_variants.insert(variant).second || program.stored_variants.count(variant))
    return false;
  std::lock_guard<std::mutex> lock(unstored_mutex_);
  unstored_.insert(&program);
  last_compiled_ = std::chrono::steady_clock::now();
  if (first_compiled_ == decltype(first_compiled_)()) first_compiled_ = last_compiled_;
  return true;
}

void ProgramTable::store_some() {
  constexpr auto quiet = std::chrono::seconds(30);
  std::lock_guard<std::mutex> lock(unstored_mutex_);
  if (unstored_.empty() || measures_choices) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_compiled_ > quiet && 20 * storing_ < now - first_compiled_) store_one();
}

void ProgramTable::store_rest() {
  using Duration = std::chrono::steady_clock::duration;
  constexpr Duration least = std::chrono::seconds(1);
  std::lock_guard<std::mutex> lock(unstored_mutex_);
  const auto start = std::chrono::steady_clock::now();
  const Duration patience =
      driver_keeps_programs() ? std::max(least, (start - first_compiled_) / 10) : Duration::max();
  while (!unstored_.empty() && std::chrono::steady_clock::now() - start < patience) store_one();
  unstored_.clear();
}

void ProgramTable::store_one() {
  Program& program = **unstored_.begin();
  unstored_.erase(unstored_.begin());
  program.stored_variants.insert(program.launched_variants.begin(), program.launched_variants.end());
  if (!KernelCache::global().is_on()) return;
  const InterruptsHeld held;  // PoCL starts linkers
  const auto start = std::chrono::steady_clock::now();
  KernelCache::global().store(program.key, program.label, device_.info().name,
                              {binary_of(program.handle), join(program.stored_variants)});
  storing_ += std::chrono::steady_clock::now() - start;
}

std::size_t ProgramTable::count() const {
  DeviceLock lock(mutex_);
  return programs_.size();
}

}  // namespace dlprim
