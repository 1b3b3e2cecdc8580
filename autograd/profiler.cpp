#include "autograd/profiler.h"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include "autograd/device.h"
#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"

namespace ocl::profiler {
namespace {

double microseconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-3;
}

std::ofstream open(const std::filesystem::path& path) {
  std::ofstream file(path);
  dlprim::require<dlprim::FileError>(file.good(), path.string(), ": cannot be written");
  return file;
}

}  // namespace

Profile::Profile() {
  dlprim::Device::start_profiling();
}

Profile::~Profile() {
  if (!running_) return;
  try {
    stop();
  } catch (const std::exception& e) {
    dlprim::warn_once(dlprim::concat("profile: ", e.what()));
  }
}

void Profile::stop() {
  if (!running_) return;
  running_ = false;
  for (auto& [device, records] : dlprim::Device::stop_profiling())
    for (dlprim::KernelRecord& record : records) launches_.push_back({device->name(), std::move(record)});
}

const std::vector<Launch>& Profile::launches() {
  stop();
  return launches_;
}

namespace {

/** What a line of a table stands for: its title, and where a launch has it. */
struct Grouping {
  const char* title;
  std::string dlprim::KernelRecord::* member;
};

Grouping grouping(Profile::By by) {
  using Record = dlprim::KernelRecord;
  switch (by) {
    case Profile::By::kernel:
      break;
    case Profile::By::operation:
      return {"operator", &Record::operation};
    case Profile::By::module:
      return {"module", &Record::module};
    case Profile::By::implementation:
      return {"implementation", &Record::implementation};
  }
  return {"kernel", &Record::name};
}

}  // namespace

std::string Profile::table(By by) {
  struct Row {
    std::string name;
    std::size_t calls = 0;
    double total = 0;  // microseconds
  };
  std::map<std::string, Row> by_name;
  double all = 0;
  const Grouping group = grouping(by);
  for (const Launch& launch : launches()) {
    const std::string& given = launch.kernel.*group.member;
    const std::string name = given.empty() ? "(none)" : given;
    Row& row = by_name[name];
    row.name = name;
    ++row.calls;
    row.total += microseconds(launch.kernel.end - launch.kernel.start);
    all += microseconds(launch.kernel.end - launch.kernel.start);
  }
  std::vector<Row> rows;
  std::size_t width = 8;
  for (auto& [name, row] : by_name) {
    width = std::max(width, name.size());
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.total > b.total; });
  std::ostringstream text;
  text << std::left << std::setw(static_cast<int>(width)) << group.title << std::right
       << "   calls   total ms    mean us   share\n"
       << std::fixed;
  for (const Row& row : rows)
    text << std::left << std::setw(static_cast<int>(width)) << row.name << std::right << std::setw(8)
         << row.calls << std::setw(11) << std::setprecision(3) << row.total * 1e-3 << std::setw(11)
         << std::setprecision(1) << row.total / static_cast<double>(row.calls) << std::setw(7)
         << (all > 0 ? 100 * row.total / all : 0) << "%\n";
  text << "total " << std::setprecision(3) << all * 1e-3 << " ms in " << launches_.size() << " launches\n";
  return text.str();
}

void Profile::export_chrome_trace(const std::filesystem::path& path) {
  std::ofstream file = open(path);
  file << std::fixed << std::setprecision(3) << "{\"traceEvents\": [";
  bool first = true;
  for (const Launch& launch : launches()) {
    file << (first ? "\n" : ",\n") << R"({"ph": "X", "cat": "kernel", "pid": ")" << launch.device
         << R"(", "tid": "queue", "name": ")" << launch.kernel.name << R"(", "ts": )"
         << microseconds(launch.kernel.start) << R"(, "dur": )"
         << microseconds(launch.kernel.end - launch.kernel.start) << R"(, "args": {"operator": ")"
         << launch.kernel.operation << R"(", "module": ")" << launch.kernel.module
         << R"(", "implementation": ")" << launch.kernel.implementation << "\"}}";
    first = false;
  }
  file << "\n]}\n";
}

void Profile::export_csv(const std::filesystem::path& path) {
  std::ofstream file = open(path);
  file << "device,kernel,start_ns,duration_ns\n";
  for (const Launch& launch : launches())
    file << launch.device << ',' << launch.kernel.name << ',' << launch.kernel.start << ','
         << launch.kernel.end - launch.kernel.start << '\n';
}

}  // namespace ocl::profiler
