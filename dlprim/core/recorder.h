#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dlprim/core/call.h"

namespace dlprim {

/**
 * Keeps the primitives that the calling thread runs, from construction to stop(), with their arguments, so
 * that the same work can be done again on other memory. What it keeps holds the memory it names.
 */
class Recorder final : public CallListener {
 public:
  Recorder();
  ~Recorder() override;

  void stop();
  const std::vector<std::shared_ptr<HeldCall>>& calls() const { return calls_; }
  /** Commands that no primitive told of: what a replay would miss. */
  const std::vector<std::string>& escapes() const { return escapes_; }
  /** Runs all calls again, in order. */
  void replay(Queue& queue, MemoryMap& memory) const;

  void enter(const Call& call) override;
  void escaped(const char* command) override { escapes_.emplace_back(command); }

 private:
  std::vector<std::shared_ptr<HeldCall>> calls_;
  std::vector<std::string> escapes_;
  std::unique_ptr<Listening> listening_;
};

}  // namespace dlprim
