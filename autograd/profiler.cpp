#include "autograd/profiler.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <optional>
#include <sstream>
#include <thread>

#include "autograd/tensor/device.h"
#include "dlprim/core/call.h"
#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"

namespace ocl::profiler {
namespace {

using dlprim::Argument;
using dlprim::Call;
using dlprim::call_state;
using dlprim::Ceilings;

struct Work {
  double operations = 0, bytes = 0;
};

/** The size of the elements in memory: broadcast ones count once. */
double bytes_of(const dlprim::Tensor& t) {
  double count = static_cast<double>(dlprim::size_of(t.dtype));
  for (int i = 0; i < t.rank(); ++i)
    if (t.strides[i] != 0 || t.shape[i] == 0) count *= static_cast<double>(t.shape[i]);
  return count;
}

double bytes_of(const std::vector<Argument>& arguments) {
  double count = 0;
  for (const dlprim::Tensor& t : dlprim::tensors_in(arguments)) count += bytes_of(t);
  return count;
}

/** Bytes that a primitive reads and writes of its tensors: each once, but for those below. */
double traffic_of(const std::string& primitive, const std::vector<Argument>& arguments) {
  double count = bytes_of(arguments);
  const auto tensor = [&](const char* name) {
    for (const Argument& argument : arguments)
      if (argument.name == name) return bytes_of({argument});
    return 0.0;
  };
  // No more of the first is touched than the second has; where the third says so it is read and written.
  struct Part {
    const char *primitive, *touched_in_part, *whole;
    bool is_read_too;
  };
  for (const Part& part : {Part{"read_places", "x", "y", false}, Part{"write_places", "y", "x", false},
                           Part{"add_at_places", "target", "source", true}})
    if (primitive == part.primitive) {
      const double all = tensor(part.touched_in_part), touched = std::min(all, tensor(part.whole));
      count += (part.is_read_too ? 2 : 1) * touched - all;
    }
  // In place.
  if (primitive == "attention_softmax") count += tensor("scores");
  if (primitive == "fused_step")
    for (const Argument& argument : arguments)
      if (argument.name == "parameters")
        for (const Argument& parameter : std::get<std::vector<Argument>>(argument.value))
          for (const Argument& field : std::get<std::vector<Argument>>(parameter.value))
            if (field.name != "gradient") count += bytes_of({field});
  return count;
}

double microseconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-3;
}

double nanoseconds(const Launch& launch) {
  return static_cast<double>(launch.kernel.end - launch.kernel.start);
}

/** The work of some launches, and the time that the device would have taken at its ceilings. */
struct Figures {
  std::size_t calls = 0;
  double total = 0, counted = 0, ideal = 0;  // nanoseconds: of all, of those whose work is known
  Work work;

  void add(const Launch& launch, const Ceilings& ceilings) {
    ++calls;
    total += nanoseconds(launch);
    if (launch.operations == 0 && launch.bytes == 0) return;
    counted += nanoseconds(launch);
    work.operations += launch.operations;
    work.bytes += launch.bytes;
    ideal += 1e9 * std::max(launch.operations / ceilings.operations, launch.bytes / ceilings.bytes);
  }

  // Nothing where it is not known. Operations a nanosecond are GFLOP/s.
  std::optional<double> gflops() const { return ratio(work.operations); }
  std::optional<double> gbytes() const { return ratio(work.bytes); }
  std::optional<double> percent() const { return ratio(100 * ideal); }

 private:
  std::optional<double> ratio(double amount) const {
    return amount > 0 && counted > 0 ? std::optional(amount / counted) : std::nullopt;
  }
};

Figures figures_of(const Launch& launch, const std::map<std::string, Ceilings>& ceilings) {
  Figures figures;
  figures.add(launch, ceilings.at(launch.device));
  return figures;
}

/** With `digits` behind the point, or `none`. */
std::string text_of(const std::optional<double>& figure, int digits, const char* none) {
  if (!figure) return none;
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << *figure;
  return text.str();
}

std::ofstream open(const std::filesystem::path& path) {
  std::ofstream file(path);
  dlprim::require<dlprim::FileError>(file.good(), path.string(), ": cannot be written");
  return file;
}

}  // namespace

/** Numbers the outermost primitives of a thread, as launches are recorded with them, and notes their work. */
class Profile::WorkCounter final : public dlprim::CallListener {
 public:
  void enter(const Call& call) override {
    if (stopped_ || !is_outermost(call)) return;
    static std::atomic<std::uint64_t> last{0};
    if (!call_state.numbered) call_state.numbered = ++last;  // else by another profile of this thread
    works_[call_state.numbered].bytes = traffic_of(call.name, call.arguments());
  }
  void chose(const dlprim::ChosenImplementation& chosen, const std::string&) override {
    if (!stopped_) works_[call_state.numbered].operations += 2 * chosen.multiply_adds;
  }
  void leave(const Call& call) override {
    if (is_outermost(call)) call_state.numbered = 0;
  }

  bool is_of_this_thread() const { return thread_ == std::this_thread::get_id(); }
  /** Called by any thread: counts no more. */
  void stop() { stopped_ = true; }

  /** Gives each launch its part of the work of its call. */
  void share_out(std::vector<Launch>& launches) const {
    std::map<std::uint64_t, double> times;
    for (const Launch& launch : launches)
      if (works_.count(launch.kernel.call)) times[launch.kernel.call] += nanoseconds(launch);
    for (Launch& launch : launches) {
      const auto work = works_.find(launch.kernel.call);
      if (work == works_.end()) continue;
      const double time = times[launch.kernel.call], part = time > 0 ? nanoseconds(launch) / time : 0;
      launch.operations = part * work->second.operations;
      launch.bytes = part * work->second.bytes;
    }
  }

 private:
  static bool is_outermost(const Call& call) {
    return call.kind == Call::Kind::primitive && call_state.primitives == 1;
  }

  std::atomic<bool> stopped_{false};
  std::map<std::uint64_t, Work> works_;
  const std::thread::id thread_ = std::this_thread::get_id();
  const dlprim::Listening listening_{*this};
};

Profile::Profile() {
  counter_ = std::make_unique<WorkCounter>();
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
  std::unique_ptr<WorkCounter> counter = std::move(counter_);
  counter->stop();
  if (!counter->is_of_this_thread())
    counter.release();  // its thread may be counting, and alone can detach it
  for (auto& [device, records] : dlprim::Device::stop_profiling())
    for (dlprim::KernelRecord& record : records) launches_.push_back({device->name(), std::move(record)});
  if (counter) counter->share_out(launches_);
}

const std::vector<Launch>& Profile::launches() {
  stop();
  return launches_;
}

std::map<std::string, Ceilings> Profile::ceilings() {
  std::map<std::string, Ceilings> all;
  for (const Launch& launch : launches())
    if (!all.count(launch.device))
      all.emplace(launch.device, dlprim::ceilings(dlprim::Device::get(launch.device)));
  return all;
}

namespace {

/** The meaning of a table's line: its title, and where a launch has it. */
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
  const std::map<std::string, Ceilings> of_devices = ceilings();
  std::map<std::string, Figures> by_name;
  double all = 0;
  const Grouping group = grouping(by);
  for (const Launch& launch : launches_) {
    const std::string& given = launch.kernel.*group.member;
    by_name[given.empty() ? "(none)" : given].add(launch, of_devices.at(launch.device));
    all += nanoseconds(launch);
  }
  std::vector<std::pair<std::string, Figures>> rows(by_name.begin(), by_name.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  std::size_t width = 8;
  for (const auto& [name, row] : rows) width = std::max(width, name.size());
  const auto name_width = static_cast<int>(width);
  std::ostringstream text;
  text << std::left << std::setw(name_width) << group.title << std::right
       << "   calls   total ms    mean us   share   GFLOP/s      GB/s   ceiling\n"
       << std::fixed;
  for (const auto& [name, row] : rows)
    text << std::left << std::setw(name_width) << name << std::right << std::setw(8) << row.calls
         << std::setw(11) << std::setprecision(3) << row.total * 1e-6 << std::setw(11) << std::setprecision(1)
         << row.total * 1e-3 / static_cast<double>(row.calls) << std::setw(7)
         << (all > 0 ? 100 * row.total / all : 0) << '%' << std::setw(10) << text_of(row.gflops(), 1, "-")
         << std::setw(10) << text_of(row.gbytes(), 1, "-") << std::setw(9) << text_of(row.percent(), 1, "-")
         << (row.percent() ? "%\n" : "\n");
  for (const auto& [device, ceilings] : of_devices)
    text << "ceiling of " << device << ": " << std::setprecision(1) << ceilings.operations * 1e-9
         << " GFLOP/s in float32, " << ceilings.bytes * 1e-9 << " GB/s\n";
  text << "total " << std::setprecision(3) << all * 1e-6 << " ms in " << launches_.size() << " launches\n";
  return text.str();
}

namespace {

std::string in_json(const std::string& text) {
  std::ostringstream quoted;
  quoted << '"' << std::hex << std::setfill('0');
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted << '\\';
    if (static_cast<unsigned char>(c) < ' ')
      quoted << "\\u" << std::setw(4) << static_cast<int>(c);
    else
      quoted << c;
  }
  quoted << '"';
  return quoted.str();
}

std::string in_csv(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

/** The operators that a launch is part of, the outermost first; empty for none. */
using Levels = std::vector<std::string>;

Levels level_of_operator(const Launch& launch) {
  const std::string& operation = launch.kernel.operation;
  return operation.empty() ? Levels() : Levels{operation};
}

/** "layer1", "layer1.0", "layer1.0.conv1 (Conv2d)". */
Levels levels_of_module(const Launch& launch) {
  const std::string& module = launch.kernel.module;
  Levels levels;
  for (std::size_t dot = module.find('.'); dot != std::string::npos; dot = module.find('.', dot + 1))
    levels.push_back(module.substr(0, dot));
  if (!module.empty()) levels.push_back(module);
  return levels;
}

/** The operators that neighbouring launches are part of, on the device's clock. */
struct TraceRange {
  std::string name;
  std::uint64_t start, end;
};

/** Ranges within each other or apart. */
std::vector<TraceRange> ranges_of(const std::vector<Launch>& launches, const std::string& device,
                                  Levels (*levels_of)(const Launch&)) {
  std::vector<TraceRange> ended, open;
  const auto end_beyond = [&](std::size_t kept) {
    for (; open.size() > kept; open.pop_back()) ended.push_back(open.back());
  };
  for (const Launch& launch : launches) {
    if (launch.device != device) continue;
    const Levels levels = levels_of(launch);
    std::size_t shared = 0;
    while (shared < std::min(levels.size(), open.size()) && levels[shared] == open[shared].name) ++shared;
    end_beyond(shared);
    for (TraceRange& range : open) range.end = launch.kernel.end;
    for (std::size_t i = shared; i < levels.size(); ++i)
      open.push_back({levels[i], launch.kernel.start, launch.kernel.end});
  }
  end_beyond(0);
  return ended;
}

/** The events of a trace, one after the other. */
class TraceFile {
 public:
  /** Times are written from `origin` on: some devices count from 1970, of which a double has lost the end. */
  TraceFile(const std::filesystem::path& path, std::uint64_t origin) : file_(open(path)), origin_(origin) {
    file_ << std::fixed << std::setprecision(3) << "{\"traceEvents\": [";
  }
  ~TraceFile() { file_ << "\n]}\n"; }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /** `rest`: more members of the event's object, each behind a comma. */
  void write(const char* category, const std::string& device, const char* track, const TraceRange& range,
             const std::string& rest = "") {
    file_ << separator_ << R"({"ph": "X", "cat": ")" << category << R"(", "pid": )" << in_json(device)
          << R"(, "tid": ")" << track << R"(", "name": )" << in_json(range.name) << R"(, "ts": )"
          << microseconds(range.start - origin_) << R"(, "dur": )" << microseconds(range.end - range.start)
          << rest << '}';
    separator_ = ",\n";
  }

 private:
  std::ofstream file_;
  std::uint64_t origin_;
  const char* separator_ = "\n";
};

std::string details_of(const Launch& launch, const Figures& figures) {
  std::ostringstream text;
  text << R"(, "args": {"operator": )" << in_json(launch.kernel.operation) << R"(, "module": )"
       << in_json(launch.kernel.module) << R"(, "implementation": )" << in_json(launch.kernel.implementation)
       << R"(, "GFLOP/s": )" << text_of(figures.gflops(), 3, "null") << R"(, "GB/s": )"
       << text_of(figures.gbytes(), 3, "null") << R"(, "per cent of ceiling": )"
       << text_of(figures.percent(), 3, "null") << '}';
  return text.str();
}

}  // namespace

void Profile::export_chrome_trace(const std::filesystem::path& path) {
  const std::map<std::string, Ceilings> of_devices = ceilings();
  std::uint64_t origin = launches_.empty() ? 0 : launches_.front().kernel.start;
  for (const Launch& launch : launches_) origin = std::min(origin, launch.kernel.start);
  TraceFile file(path, origin);
  for (const Launch& launch : launches_)
    file.write("kernel", launch.device, "queue", {launch.kernel.name, launch.kernel.start, launch.kernel.end},
               details_of(launch, figures_of(launch, of_devices)));
  for (const auto& [device, ceilings] : of_devices) {
    for (const TraceRange& range : ranges_of(launches_, device, level_of_operator))
      file.write("operator", device, "operators", range);
    for (const TraceRange& range : ranges_of(launches_, device, levels_of_module))
      file.write("module", device, "modules", range);
  }
}

void Profile::export_csv(const std::filesystem::path& path) {
  const std::map<std::string, Ceilings> of_devices = ceilings();
  std::ofstream file = open(path);
  file << "device,kernel,start_ns,duration_ns,operator,module,implementation,gflops,gbytes_per_s,"
          "ceiling_percent\n";
  for (const Launch& launch : launches_) {
    const Figures figures = figures_of(launch, of_devices);
    file << in_csv(launch.device) << ',' << launch.kernel.name << ',' << launch.kernel.start << ','
         << launch.kernel.end - launch.kernel.start << ',' << in_csv(launch.kernel.operation) << ','
         << in_csv(launch.kernel.module) << ',' << in_csv(launch.kernel.implementation) << ','
         << text_of(figures.gflops(), 3, "") << ',' << text_of(figures.gbytes(), 3, "") << ','
         << text_of(figures.percent(), 3, "") << '\n';
  }
}

}  // namespace ocl::profiler
