// tapecl-kernel-cache: looks at, checks and empties the on-disk cache of compiled OpenCL programs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dlprim/platform/process.h"
#include "dlprim/runtime/kernel_cache.h"

namespace {

constexpr std::size_t kKeyPrefix = 12;

std::string utc_time(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  return text;
}

void print_table(const std::vector<dlprim::KernelCacheEntry>& entries) {
  std::size_t label_width = 5, device_width = 6;
  for (const auto& entry : entries) {
    label_width = std::max(label_width, entry.label.size());
    device_width = std::max(device_width, entry.device.size());
  }
  const auto print = [&](const std::string& label, const std::string& device, const std::string& bytes,
                         const std::string& last_used, const std::string& key) {
    std::printf("%-*s  %-*s  %10s  %-20s  %s\n", static_cast<int>(label_width), label.c_str(),
                static_cast<int>(device_width), device.c_str(), bytes.c_str(), last_used.c_str(),
                key.c_str());
  };
  print("LABEL", "DEVICE", "BYTES", "LAST USED", "KEY");
  std::uint64_t bytes = 0;
  for (const auto& entry : entries) {
    print(entry.label, entry.device, std::to_string(entry.bytes), utc_time(entry.last_used),
          entry.key.substr(0, kKeyPrefix));
    bytes += entry.bytes;
  }
  std::printf("%zu binaries, %llu bytes\n", entries.size(), static_cast<unsigned long long>(bytes));
}

void print_json(const std::filesystem::path& file, const std::vector<dlprim::KernelCacheEntry>& entries) {
  auto listed = nlohmann::json::array();
  for (const auto& entry : entries) {
    listed.push_back({{"key", entry.key},
                      {"label", entry.label},
                      {"device", entry.device},
                      {"bytes", entry.bytes},
                      {"last_used", utc_time(entry.last_used)}});
  }
  const nlohmann::json document{{"path", file.u8string()}, {"entries", listed}};
  std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

/** Exit status: 0 when all is well or has been made so, 1 when there is damage. */
int verify(dlprim::KernelCache& cache, bool repair) {
  const auto findings = repair ? cache.repair() : cache.verify();
  for (const auto& finding : findings) {
    std::printf("%s: %s\n", repair ? "damaged, dropped" : "damaged", finding.c_str());
  }
  if (findings.empty()) std::puts("no damage found");
  return findings.empty() || repair ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const dlprim::platform::Arguments arguments(argc, argv);
  CLI::App app{"The on-disk cache of compiled OpenCL programs"};
  app.allow_windows_style_options(false);  // a path may begin with "/"
  std::string directory;
  bool json = false, repair = false;
  app.add_option("--dir", directory,
                 "Its directory (default: as the library finds it, see OCL_KERNEL_CACHE)");
  app.require_subcommand(1);
  app.fallthrough();
  auto* list = app.add_subcommand("list", "One line for each binary, the most recently used first");
  list->add_flag("--json", json, "Print JSON");
  auto* verify_command =
      app.add_subcommand("verify", "Read everything; exit status 1 when something is damaged");
  verify_command->add_flag("--repair", repair, "Drop what is damaged");
  auto* clear = app.add_subcommand("clear", "Remove every binary");
  app.add_subcommand("path", "Print where the database file is");
  CLI11_PARSE(app, arguments.count(), arguments.values());

  try {
    auto config = dlprim::KernelCacheConfig::from_environment();
    if (!directory.empty()) config.directory = std::filesystem::u8path(directory);
    if (!config.directory) {
      std::fputs("the kernel cache is off\n", stderr);
      return 0;
    }
    const auto file = std::filesystem::absolute(config.file());
    if (app.got_subcommand("path")) {
      std::puts(file.u8string().c_str());
      return 0;
    }
    const bool exists = std::filesystem::exists(file);  // looking must not create one
    dlprim::KernelCache cache(config.directory, config.max_bytes);
    if (app.got_subcommand(clear)) cache.clear();
    if (app.got_subcommand(verify_command) && exists) return verify(cache, repair);
    if (!app.got_subcommand(list)) return 0;
    const auto entries = exists ? cache.list() : std::vector<dlprim::KernelCacheEntry>();
    json ? print_json(file, entries) : print_table(entries);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tapecl-kernel-cache: %s\n", error.what());
    return 2;
  }
}
