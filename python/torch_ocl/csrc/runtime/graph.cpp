#include "runtime/graph.h"

#include <ATen/ThreadLocalPythonObjects.h>
#include <ATen/record_function.h>
#include <c10/core/SafePyObject.h>
#include <torch/csrc/PyInterpreter.h>
#include <torch/csrc/python_headers.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "deferred.h"
#include "dlprim/runtime/allocator.h"
#include "runtime/devices.h"
#include "tensors.h"

#if __has_include(<ATen/core/GraphImplInterface.h>)  // torch.accelerator.Graph, of PyTorch 2.12 and later
#include <ATen/core/GraphImplInterface.h>

#include <fstream>
#define HAS_GRAPHS_OF_ACCELERATORS
#endif

namespace torch_ocl {
namespace {

using Token = std::shared_ptr<c10::SafePyObject>;

/** Captures under way. A backward pass runs in a thread of PyTorch's engine, which works with the
 * thread-local objects of who called it: an object put there tells whose graph its commands are of. */
class Captures {
 public:
  void add(dlprim::CommandGraph& graph) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    Py_INCREF(Py_None);
    Token token = std::make_shared<c10::SafePyObject>(Py_None, getPyInterpreter());
    PyGILState_Release(gil);
    {
      const std::lock_guard lock(mutex_);
      all_.emplace_back(token, &graph);
    }
    at::impl::ThreadLocalPythonObjects::set(key, std::move(token));
  }
  void remove(const dlprim::CommandGraph& graph) {
    at::impl::ThreadLocalPythonObjects::set(key, nullptr);
    const std::lock_guard lock(mutex_);
    for (auto one = all_.begin(); one != all_.end(); ++one)
      if (one->second == &graph) {
        all_.erase(one);
        return;
      }
  }
  /** That of whoever the calling thread works for; null for none. */
  dlprim::CommandGraph* find() const {
    if (!at::impl::ThreadLocalPythonObjects::contains(key)) return nullptr;
    const Token& token = at::impl::ThreadLocalPythonObjects::get(key);
    if (!token) return nullptr;
    const std::lock_guard lock(mutex_);
    for (const auto& [known, graph] : all_)
      if (known == token) return graph;
    return nullptr;
  }

 private:
  static constexpr const char* key = "torch_ocl.capture";

  mutable std::mutex mutex_;
  std::vector<std::pair<Token, dlprim::CommandGraph*>> all_;
};

Captures& captures() {
  static auto& captures = *[] {
    auto* made = new Captures;  // never destroyed: threads may outlive statics
    dlprim::capture::of_who_is_served = [] { return torch_ocl::captures().find(); };
    return made;
  }();
  return captures;
}

/** The pools that ids stand for, of each device, as long as graphs have them. */
class GraphPools {
 public:
  c10::MempoolId_t new_id() { return {0, ++last_}; }

  std::shared_ptr<dlprim::MemoryPool> of(c10::MempoolId_t id, dlprim::Device& device) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pools_, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<dlprim::MemoryPool>& known = pools_[{id, device.index()}];
    std::shared_ptr<dlprim::MemoryPool> pool = known.lock();
    if (!pool) known = pool = device.allocator().make_pool();
    return pool;
  }

 private:
  std::atomic<c10::CaptureId_t> last_{0};
  std::mutex mutex_;
  std::map<std::pair<c10::MempoolId_t, int>, std::weak_ptr<dlprim::MemoryPool>> pools_;
};

GraphPools& pools() {
  static auto& pools = *new GraphPools;
  return pools;
}

}  // namespace

void Graph::capture_begin(c10::MempoolId_t pool) {
  TORCH_CHECK(!graph_, "this graph has been captured: reset() it first");
  dlprim::Device& device = device_of(current_device());
  const c10::MempoolId_t id = pool == c10::MempoolId_t{0, 0} ? pools().new_id() : pool;
  run_deferred(nullptr);  // what was put off before is none of the graph's work
  auto graph = std::make_unique<dlprim::CommandGraph>(device, pools().of(id, device));
  graph->begin();
  captures().add(*graph);
  graph_ = std::move(graph);
  pool_ = id;
}

void Graph::capture_end() {
  TORCH_CHECK(graph_, "capture_end: no capture has begun");
  TORCH_CHECK(dlprim::capturing(graph_->device()) == graph_.get(),
              "capture_end: this thread does not capture into this graph");
  run_deferred(graph_.get());
  captures().remove(*graph_);
  graph_->end();
}

dlprim::CommandGraph& Graph::captured() const {
  TORCH_CHECK(graph_, "nothing has been captured in this graph");
  return *graph_;
}

void Graph::replay() {
  RECORD_FUNCTION("OCLGraph.replay", std::vector<c10::IValue>());  // that profiles show its kernels under
  run_deferred(nullptr);  // what was put off may read what the graph overwrites
  captured().replay();
}

void Graph::reset() {
  if (!graph_) return;
  if (graph_->is_under_capture()) capture_end();
  graph_.reset();
}

// A capture that goes on in another thread needs its graph.
Graph::~Graph() {
  if (graph_ && graph_->is_under_capture() && dlprim::capturing(graph_->device()) != graph_.get())
    (void)graph_.release();
  else
    reset();
}

c10::MempoolId_t Graph::pool() const {
  TORCH_CHECK(graph_, "a graph has a pool once it is captured");
  return pool_;
}

std::string Graph::description() const {
  return captured().description();
}

c10::MempoolId_t new_graph_pool() {
  return pools().new_id();
}

dlprim::CommandGraph* capturing(c10::DeviceIndex device) {
  return dlprim::capture::under_way == 0 ? nullptr : dlprim::capturing(device_of(device));
}

#ifdef HAS_GRAPHS_OF_ACCELERATORS
namespace {

/** torch.accelerator.Graph of ocl devices. A graph is ready to run as soon as it is captured, and every mode
 * of capture is that of one thread. */
class GraphOfAccelerator final : public at::GraphImplInterface {
 public:
  explicit GraphOfAccelerator(const at::GraphImplArgs&) {}

  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode) override { graph_.capture_begin(pool); }
  void capture_end() override { graph_.capture_end(); }
  void instantiate() override {}
  void replay() override { graph_.replay(); }
  void reset() override { graph_.reset(); }
  c10::MempoolId_t pool() const override { return graph_.pool(); }
  void enable_debug_mode() override {}
  void debug_dump(const std::string& path) override {
    std::ofstream file(path);
    file << graph_.description();
    TORCH_CHECK(file.flush(), "cannot write ", path);
  }

 private:
  Graph graph_;
};

using at::GraphImplRegistry;
using at::RegistererGraphImplRegistry;
// PyTorch asks by the device's name in capitals.
C10_REGISTER_CLASS(GraphImplRegistry, OCL, GraphOfAccelerator)

}  // namespace
#endif

}  // namespace torch_ocl
