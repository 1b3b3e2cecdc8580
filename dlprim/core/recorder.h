#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dlprim/core/call.h"

namespace dlprim {

/**
 * Keeps the primitives that the calling thread runs, from construction to stop(), with their arguments, so
 * that the same work can be done again on other memory. The calls that it keeps hold the memory they name.
 *
 *     Recorder recorder;
 *     ...                               // a training step, say; it runs as ever
 *     recorder.stop();
 *     MemoryMap memory(make);           // `make` copies what the step reads, and allocates the rest
 *     recorder.replay(queue, memory);   // memory.of(t): what the replay wrote where the step wrote t
 *
 * A CommandGraph (runtime/command_graph.h) does the same one level below: it keeps commands, on the memory
 * they had, and replays them without the host's work. A recording keeps calls with their arguments, which can
 * be read, carried to other memory and other devices, and choose their implementations anew.
 *
 * Numbers are repeated as they were: the state of random numbers, the count of an optimizer's steps. So is
 * what the host decided between calls.
 */
class Recorder final : public CallListener {
 public:
  Recorder();
  ~Recorder() override;

  /** Keeps no more; what is kept stays. */
  void stop();
  const std::vector<std::shared_ptr<HeldCall>>& calls() const { return calls_; }
  /** Commands outside of any primitive: a replay would miss them. */
  const std::vector<std::string>& escapes() const { return escapes_; }
  /** Runs all calls again, in order, with `memory.of` every tensor; MemoryMap{} means the same memory. */
  void replay(Queue& queue, MemoryMap& memory) const;

  void enter(const Call& call) override;
  void escaped(const char* command) override { escapes_.emplace_back(command); }

 private:
  std::vector<std::shared_ptr<HeldCall>> calls_;
  std::vector<std::string> escapes_;
  std::unique_ptr<Listening> listening_;
};

}  // namespace dlprim
