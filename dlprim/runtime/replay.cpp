#include <utility>

#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/queue.h"

// How a queue does again what a CommandGraph has kept.

namespace dlprim {
namespace {

/** The operator that a kept command is of, for whoever profiles. */
class Repeating {
 public:
  explicit Repeating(const std::string& operation)
      : outer_(std::exchange(call_state.operation, operation.empty() ? nullptr : operation.c_str())) {}
  ~Repeating() { call_state.operation = outer_; }
  Repeating(const Repeating&) = delete;
  Repeating& operator=(const Repeating&) = delete;

 private:
  const char* outer_;
};

}  // namespace

void Queue::replay(const CommandGraph& graph) {
  enqueue_pending();
  const std::vector<std::shared_ptr<Storage>> memory = graph.memory_in_use();
  DeviceLock lock(mutex_);
  graph_ = nullptr;
  for (const auto& storage : memory) {
    if (const Suspicion whom = storage->suspect()) error_words_.follow(whom);
    come_after_upload(*storage);
  }
  for (std::size_t i = 0; i < graph.commands_.size(); ++i) {
    const CommandGraph::Command& command = graph.commands_[i];
    const Repeating repeating(command.operation);
    if (std::holds_alternative<CommandGraph::Launch>(command.what)) {
      repeat_launch(graph, i);
    } else if (const auto* copy = std::get_if<CommandGraph::Copy>(&command.what)) {
      enqueue_copy(copy->source, copy->destination, copy->source_start, copy->destination_start, copy->bytes);
    } else if (const auto* zero = std::get_if<CommandGraph::Zero>(&command.what)) {
      enqueue_zero(zero->buffer, zero->start, zero->bytes);
    } else {
      const auto& foreign = std::get<CommandGraph::Foreign>(command.what);
      run_foreign(foreign.label.c_str(), foreign.enqueue);
    }
  }
  if (graph.checks_.empty()) return;
  for (const auto& storage : memory) storage->set_suspect(suspicion_of_this_thread(device_.index()));
}

void Queue::repeat_launch(const CommandGraph& graph, std::size_t command) {
  const auto& launch = std::get<CommandGraph::Launch>(graph.commands_[command].what);
  Kernel& kernel = *launch.kernel;
  cl_uint index = 0;
  for (std::size_t i = launch.first; i < launch.end; ++i) {
    const CommandGraph::Argument& argument = graph.arguments_[i];
    switch (argument.kind) {
      case CommandGraph::Argument::Kind::bytes: {
        const void* const bytes = graph.bytes_.data() + argument.place;
        if (kernel.values.differs(index, argument.size, bytes))
          set_raw(kernel, index, argument.size, bytes);
        else
          ++index;
        break;
      }
      case CommandGraph::Argument::Kind::local_memory:
        set_raw(kernel, index, argument.size, nullptr);
        break;
      case CommandGraph::Argument::Kind::memory: {
        const auto& [buffer, start] = graph.memory_[argument.place];
        const cl_mem memory = buffer();
        set_raw(kernel, index, sizeof memory, memory ? &memory : nullptr);
        set_value(kernel, index, start);
        break;
      }
      case CommandGraph::Argument::Kind::check:
        set_check(kernel, index, graph.checks_[argument.place]);
        break;
      case CommandGraph::Argument::Kind::random:
        set_random(kernel, index, graph.randoms_[argument.place].state());
        break;
    }
  }
  enqueue(kernel, launch.range);
}

}  // namespace dlprim
