#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "dlprim/core/philox_state.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/capture.h"
#include "dlprim/runtime/error_word.h"
#include "dlprim/runtime/opencl.h"
#include "dlprim/runtime/pending.h"
#include "dlprim/runtime/range.h"

namespace dlprim {

class MemoryPool;
struct Kernel;

/**
 * Commands of one device that are enqueued again and again, a training step, say, whose work on the host is
 * done once (what CUDA calls graphs):
 *
 *     CommandGraph graph(device);
 *     {
 *       const CommandGraph::Capture capture(graph);
 *       step();  // kept, not run
 *     }
 *     for (…) {
 *       upload(queue, batch, images);  // into memory that the step reads
 *       graph.replay();
 *     }
 *
 * A replay is the same commands on the same memory. So
 *  - memory that a capture allocates comes from a pool of its own, which is nobody else's while the graph
 *    lives; what was there before is kept;
 *  - tensors that a capture makes have no contents before the first replay;
 *  - numbers are repeated as they were (learning rates, the count of an optimizer's steps on the host), but
 *    for random ones: see draw();
 *  - what waits, and what goes between host and device, throws Error within a capture.
 *
 * A Recorder (core/recorder.h) keeps the calls that such commands come from instead, for other memory.
 *
 * One thread captures at a time into a graph, and those that work for it (capture::of_who_is_served); what
 * other threads enqueue runs as ever. Thread safe otherwise.
 */
class CommandGraph {
 public:
  /** With memory from `pool`, which other graphs may have too if they are not replayed at once and in the
   * order of their captures; or from one of its own. Throws ValueError for a pool of another device. */
  explicit CommandGraph(Device& device, std::shared_ptr<MemoryPool> pool = nullptr);
  CommandGraph(const CommandGraph&) = delete;
  CommandGraph& operator=(const CommandGraph&) = delete;
  ~CommandGraph();

  /** Begins a capture by the calling thread. Throws Error where one is under way, in this thread or for this
   * graph, and for a graph that has been captured. */
  void begin();
  /** Ends it. Throws Error in a thread that does not capture into this graph. */
  void end();
  /** begin() and end() of a block of code. */
  class Capture {
   public:
    explicit Capture(CommandGraph& graph) : graph_(graph) { graph_.begin(); }
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

   private:
    CommandGraph& graph_;
  };
  /** While it lives the calling thread's commands run, and its memory is ordinary: for what is made once and
   * not changed by replays. */
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    bool was_paused_;
  };

  /** Enqueues all commands, as one step of the queue. Does not wait. Throws Error before a capture has ended,
   * and within any. */
  void replay();

  /** Random numbers in a capture: the state to launch with, in whose place a replay has what `next` gives
   * then; `next` is called once in each replay. Another graph that is captured with that state gets what this
   * one's last replay drew. Outside of captures the state is refused. */
  PhiloxState draw(std::function<PhiloxState()> next);
  /** Throws Error for a state that draw() has given: it stands for numbers of replays. */
  static void require_known(PhiloxState state);

  Device& device() const { return device_; }
  /** Whether a capture has begun and not ended; the graph has to live so long. */
  bool is_under_capture() const { return phase_ == Phase::capturing; }
  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  /** The number of commands. */
  std::size_t size() const { return commands_.size(); }
  /** A line for each command, for people. */
  std::string description() const;

 private:
  friend class Queue;  // which adds commands, and runs them, under its lock

  struct Argument {
    enum class Kind { bytes, local_memory, memory, check, random } kind;
    std::size_t size;   // of bytes, and of local memory
    std::size_t place;  // in the vector of its kind
  };
  struct Launch {
    Kernel* kernel;
    Range range;
    std::size_t first, end;  // of arguments_
  };
  struct Copy {
    cl::Buffer source, destination;
    std::size_t source_start, destination_start, bytes;
  };
  struct Zero {
    cl::Buffer buffer;
    std::size_t start, bytes;
  };
  struct Foreign {
    std::string label;
    std::function<void(cl_command_queue, cl_event*)> enqueue;
  };
  struct Command {
    std::variant<Launch, Copy, Zero, Foreign> what;
    std::string operation;  // CallState::operation
  };
  /** The arguments of draw(), and its result at the last replay. */
  struct Draws {
    std::uint64_t number;
    std::vector<std::function<PhiloxState()>> next;
    std::vector<PhiloxState> last;
  };
  struct Random {
    std::shared_ptr<const Draws> draws;
    std::size_t draw;  // of those; none where `draws` is null
    PhiloxState moved_by;

    PhiloxState state() const;
  };
  class AllDraws;

  void keep(Storage& storage, std::shared_ptr<Storage> owner);
  void begin_launch() { first_argument_ = arguments_.size(); }
  void add_bytes(std::size_t size, const void* bytes);
  void add_memory(const Tensor& tensor);
  void add_check(const DeviceCheck& check);
  void add_random(PhiloxState state);
  void add_launch(Kernel& kernel, const Range& range);
  void add(std::variant<Launch, Copy, Zero, Foreign> what);
  /** Those parts of the commands' memory that still exist. */
  std::vector<std::shared_ptr<Storage>> memory_in_use() const;

  Device& device_;
  PendingSlot pending_;
  std::shared_ptr<MemoryPool> pool_;
  std::vector<Command> commands_;
  std::vector<Argument> arguments_;
  std::vector<unsigned char> bytes_;
  std::vector<std::pair<cl::Buffer, cl_ulong>> memory_;
  std::vector<DeviceCheck> checks_;
  std::vector<Random> randoms_;
  std::size_t first_argument_ = 0;
  std::vector<std::shared_ptr<Storage>> kept_;                  // from before the capture
  std::unordered_map<Storage*, std::weak_ptr<Storage>> known_;  // all
  std::mutex drawing_, replaying_;
  std::shared_ptr<Draws> draws_;
  enum class Phase { fresh, capturing, captured, failed };
  std::atomic<Phase> phase_{Phase::fresh};  // other threads ask
};

}  // namespace dlprim
