// tapecl-run: runs an exported program (.ocl) on a device.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/program_binaries.h"
#include "dlprim/export/program_file.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/export/program_sizes.h"
#include "dlprim/io/file.h"
#include "dlprim/platform/process.h"
#include "dlprim/runtime/device.h"
#include "generate.h"

namespace {

using dlprim::ProgramRunner;
using dlprim::ProgramTensor;
using dlprim::require;
using dlprim::Tensor;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/** "name=path" as its two parts; without a name, that of the only one of `tensors`. */
std::pair<std::string, std::string> name_and_path(const std::string& text,
                                                  const std::vector<ProgramTensor>& tensors,
                                                  const char* option) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  require(tensors.size() == 1, option, " ", text, ": the program has ", tensors.size(), ", give NAME=FILE");
  return {tensors.front().name, text};
}

/** Reads the arrays of all inputs, and sets the inputs' shapes. */
std::map<std::string, NpyArray> read_inputs(ProgramRunner& runner,
                                            const std::map<std::string, std::string>& paths) {
  std::map<std::string, NpyArray> arrays;
  for (const auto& [name, path] : paths) {
    const std::size_t i = index_of_input(runner, name);
    const ProgramTensor& input = runner.program().inputs[i];
    const NpyArray& array = arrays[name] = read_npy(fs::u8path(path));
    require(array.dtype == input.tensor.dtype, "input ", name, ": the program takes ",
            text_of_dynamic_geometry(input, runner.program().symbols), ", ", path, " has ",
            dlprim::name(array.dtype), array.shape);
    runner.set_input_shape(i, array.shape);
  }
  return arrays;
}

/** Where the time of a run goes on the device, by primitive. */
void print_profile(ProgramRunner& runner) {
  dlprim::Queue& queue = runner.device().queue();
  queue.start_profiling();
  runner.run();
  queue.finish();
  std::map<std::string, std::pair<double, int>> by_operation;
  for (const dlprim::KernelRecord& record : queue.stop_profiling()) {
    auto& [time, count] = by_operation[record.operation.empty() ? record.name : record.operation];
    time += static_cast<double>(record.end - record.start) / 1e6;
    ++count;
  }
  std::vector<std::pair<std::string, std::pair<double, int>>> rows(by_operation.begin(), by_operation.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::printf("%10s  %8s  %s\n", "ms", "launches", "primitive");
  for (const auto& [name, row] : rows) std::printf("%10.3f  %8d  %s\n", row.first, row.second, name.c_str());
}

/** The files of the results by name, opened: a path that cannot be written ends the program before the run.
 */
std::vector<std::pair<std::string, std::unique_ptr<dlprim::io::OutputFile>>> open_outputs(
    const ProgramRunner& runner, const std::vector<std::string>& outputs) {
  std::vector<std::pair<std::string, std::unique_ptr<dlprim::io::OutputFile>>> files;
  for (const std::string& text : outputs) {
    const auto [name, path] = name_and_path(text, runner.program().outputs, "--output");
    runner.output(name);  // throws for an unknown name
    files.emplace_back(name, std::make_unique<dlprim::io::OutputFile>(fs::u8path(path)));
  }
  return files;
}

struct Options {
  std::string program, device = "ocl:0", save, save_binaries;
  std::vector<std::string> inputs, outputs;
  int repeat = 1, generate = 0;
  std::vector<std::int64_t> prompt;
  std::optional<std::int64_t> end;
  bool show = false, profile = false, optimize = false, trust_binaries = false;
};

/** Writes tokens after those of --prompt or --input. */
void write_tokens(ProgramRunner& runner, const Options& options) {
  require(options.inputs.size() + !options.prompt.empty() == 1 && options.outputs.size() <= 1,
          "--generate takes --prompt TOKEN,TOKEN,... or --input tokens=FILE.npy, and at most one --output");
  const auto path_of = [](const std::string& text) { return fs::u8path(text.substr(text.find('=') + 1)); };
  const NpyArray prompt =
      options.prompt.empty() ? read_npy(path_of(options.inputs[0])) : array_of_tokens(options.prompt);
  std::unique_ptr<dlprim::io::OutputFile> file;
  if (!options.outputs.empty()) file = std::make_unique<dlprim::io::OutputFile>(path_of(options.outputs[0]));
  const NpyArray all = generate(runner, prompt, options.generate, options.end);
  if (file) write_npy(*file, all);
}

void run_repeatedly(ProgramRunner& runner, const Options& options, Clock::time_point start) {
  dlprim::Device& device = runner.device();
  std::map<std::string, std::string> paths;
  for (const std::string& text : options.inputs)
    paths.insert(name_and_path(text, runner.program().inputs, "--input"));
  for (const ProgramTensor& input : runner.program().inputs)
    require(paths.count(input.name), "the input ", described(runner, input), " is missing: --input ",
            input.name, "=FILE.npy");
  const std::map<std::string, NpyArray> arrays = read_inputs(runner, paths);
  const auto outputs = open_outputs(runner, options.outputs);

  std::vector<double> times;
  for (int i = 0; i < options.repeat; ++i) {
    for (const auto& [name, array] : arrays) set_input(runner, name, array);
    device.queue().finish();
    const auto began = Clock::now();
    runner.run();
    device.queue().finish();
    times.push_back(milliseconds_since(began));
    if (i == 0)
      std::printf("first result after %.1f ms, its run took %.1f ms\n", milliseconds_since(start), times[0]);
  }
  if (times.size() > 1) {
    std::sort(times.begin() + 1, times.end());
    std::printf("%zu more runs: %.3f ms at best, %.3f ms in the middle\n", times.size() - 1, times[1],
                times[1 + (times.size() - 1) / 2]);
  }
  for (const auto& [name, file] : outputs) write_npy(*file, get_output(runner, name));
}

/** A kernel cache of this process alone, which ends with it; to be made before anything else. */
class OwnKernelCache {
 public:
  OwnKernelCache() : folder_(dlprim::platform::make_temporary_folder("tapecl-run-")) {
    dlprim::platform::set_environment("OCL_KERNEL_CACHE", folder_.u8string());
    dlprim::platform::set_environment("POCL_KERNEL_CACHE", "0");
  }
  ~OwnKernelCache() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  OwnKernelCache(const OwnKernelCache&) = delete;
  OwnKernelCache& operator=(const OwnKernelCache&) = delete;

 private:
  fs::path folder_;
};

void save_binaries(const Options& options) {
  const OwnKernelCache cache;
  dlprim::Device& device = dlprim::Device::get(options.device);
  dlprim::ExportedProgram program = dlprim::load_program(fs::u8path(options.program), device);
  if (options.optimize) optimize_program(program);
  program = with_binaries(program, device);
  save_program(program, fs::u8path(options.save_binaries));
  std::printf("%zu binaries\n", program.binaries.size());
}

void run(const Options& options) {
  if (!options.save_binaries.empty()) return save_binaries(options);
  const auto start = Clock::now();
  dlprim::Device& device = dlprim::Device::get(options.device);
  dlprim::ExportedProgram program = dlprim::load_program(fs::u8path(options.program), device);
  if (options.trust_binaries) dlprim::trust_binaries(program, device);
  if (options.optimize) optimize_program(program);
  ProgramRunner runner(std::move(program), device);
  if (options.show) return static_cast<void>(std::fputs(runner.program().text().c_str(), stdout));

  if (!options.save.empty() && !fs::is_fifo(fs::u8path(options.save)))
    dlprim::io::OutputFile{fs::u8path(options.save)};  // throws where it cannot be written
  if (options.generate > 0)
    write_tokens(runner, options);
  else
    run_repeatedly(runner, options, start);
  if (!options.save.empty()) save_program(runner.current_program(), fs::u8path(options.save));
  if (options.profile) print_profile(runner);
  std::printf("memory for temporaries: %zu bytes in one arena, at least %zu are needed\n",
              runner.plan().bytes, runner.plan().lower_bound);
}

}  // namespace

int main(int argc, char** argv) {
  const dlprim::platform::Arguments arguments(argc, argv);
  Options options;
  CLI::App app("Runs an exported program on an OpenCL device.");
  app.allow_windows_style_options(false);  // a path may begin with "/"
  app.add_option("program", options.program, "the file .ocl")->required();
  app.add_option("--input,-i", options.inputs, "NAME=FILE.npy of each input; FILE.npy where there is one");
  app.add_option("--output,-o", options.outputs, "NAME=FILE.npy of each result that is wanted");
  app.add_option("--device,-d", options.device, "the device")->capture_default_str();
  app.add_option("--repeat,-n", options.repeat, "how many runs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* generate = app.add_option("--generate", options.generate,
                                  "write so many tokens, each as it comes, by a program of a language model "
                                  "(ocl.models.GenerationStep)")
                       ->check(CLI::PositiveNumber);
  app.add_option("--prompt", options.prompt, "the tokens to begin with, as numbers: 464,3290,318")
      ->delimiter(',')
      ->needs(generate);
  app.add_option("--end", options.end, "the token that ends a sequence")->needs(generate);
  app.add_option("--save", options.save, "write the program with its states after the runs");
  auto* save_binaries = app.add_option("--save-binaries", options.save_binaries,
                                       "write the program with its kernels as the device's driver builds "
                                       "them, beside those that it has, and run no inputs");
  app.add_flag("--trust-binaries", options.trust_binaries,
               "use the built kernels in the file, which are native code that nobody checks: for files whose "
               "maker you trust")
      ->excludes(save_binaries);
  app.add_flag("--profile", options.profile, "where the time of one more run goes");
  app.add_flag("--optimize", options.optimize,
               "fold batch norms and constants first; results differ by roundings");
  app.add_flag("--show", options.show, "print the program, and run nothing");
  CLI11_PARSE(app, arguments.count(), arguments.values());
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tapecl-run: %s\n", error.what());
    return 1;
  }
}
