#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dlprim/core/call.h"
#include "dlprim/export/exported_program.h"
#include "dlprim/export/memory_plan.h"
#include "dlprim/runtime/command_graph.h"

namespace dlprim {

/**
 * Runs an exported program on a device:
 *
 *     ProgramRunner runner(load_program("net.ocl", device), device);
 *     copy(device.queue(), x, runner.input("x"));
 *     runner.run();
 *     device.queue().read(runner.output("output"), result, bytes);  // waits
 *
 * Temporaries, inputs and results share one arena, whose plan is made once. The first run builds what kernels
 * lack and chooses implementations. From the second on, commands are enqueued as they were kept
 * (CommandGraph), with no further decision and no memory from the device. Not thread safe, but for runners of
 * their own.
 */
class ProgramRunner {
 public:
  /** Throws OutOfMemoryError, and ValueError for a program that is not sound (check_program). */
  ProgramRunner(ExportedProgram program, Device& device);
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  const ExportedProgram& program() const { return program_; }
  Device& device() const { return device_; }

  /** The memory of an input, to be written before each run (a run may use it for something else); of a
   * result, which stands until the next run; of a state or a constant. Throw ValueError for a name that is
   * not there. */
  Tensor input(const std::string& name) const;
  Tensor output(const std::string& name) const;
  Tensor state(const std::string& name) const;
  /** The i-th, in the program's order. */
  Tensor input(std::size_t i) const { return here(program_.inputs.at(i).tensor); }
  Tensor output(std::size_t i) const { return here(program_.outputs.at(i).tensor); }

  /** Enqueues the work. Does not wait. */
  void run();

  /** The program with the states as they are now. Waits. */
  ExportedProgram current_program() const;

  const MemoryPlan& plan() const { return plan_; }
  /** Whether runs replay kept commands. */
  bool replays() const { return graph_ != nullptr; }

 private:
  Tensor here(const Tensor& tensor) const;
  Tensor named(const std::vector<ProgramTensor>& tensors, const std::string& name, const char* what) const;
  void plan_arena();
  void make_calls();
  /** Makes the calls anew that take random numbers, with `random` in the place of what the program says. */
  void draw(const std::function<PhiloxState(PhiloxState)>& random);
  std::shared_ptr<HeldCall> make_call(const ProgramCall& call,
                                      const std::function<PhiloxState(PhiloxState)>& random);
  /** The state that a run begins with whose first run began with `first`. */
  PhiloxState of_this_run(PhiloxState first) const;
  void run_calls();
  void keep_commands();

  ExportedProgram program_;
  Device& device_;
  MemoryPlan plan_;
  std::shared_ptr<Storage> arena_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>>
      memory_;  // by what stands for it in the program
  std::vector<std::shared_ptr<HeldCall>> calls_;
  std::vector<std::size_t> random_calls_;
  std::unique_ptr<CommandGraph> graph_;
  bool may_keep_ = true;
  std::uint64_t runs_ = 0;
};

}  // namespace dlprim
