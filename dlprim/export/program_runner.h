#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dlprim/core/call.h"
#include "dlprim/export/exported_program.h"
#include "dlprim/export/memory_plan.h"
#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/constant_forms.h"

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
 *
 * A dynamic program's arena is planned for its greatest sizes, which runs have until set_input_shape says
 * otherwise. Calls and commands are kept for the most_kept shapes that ran last; a shape that comes again
 * after that is made anew, of kernels that are there already.
 */
class ProgramRunner {
 public:
  /** How many shapes have their calls and commands kept. */
  static constexpr std::size_t most_kept = 16;

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
  Tensor input(std::size_t i) const { return here(at_sizes(program_.inputs.at(i))); }
  Tensor output(std::size_t i) const { return here(at_sizes(program_.outputs.at(i))); }

  /** The shape that the i-th input has from now on; input(i) and output() follow. To be set before the input
   * is written. Throws ValueError, which names the input, the dimension, its size and the bounds, for a shape
   * that the program does not take. */
  void set_input_shape(std::size_t i, const Dims& shape);

  /** Enqueues the work. Does not wait. Throws ValueError where inputs' shapes give one symbol two sizes. */
  void run();

  /** The program with the states as they are now. Waits. */
  ExportedProgram current_program() const;

  const MemoryPlan& plan() const { return plan_; }
  /** Whether the next run replays kept commands. */
  bool replays() const {
    const Prepared* prepared = find_prepared();
    return prepared && prepared->graph != nullptr;
  }

 private:
  /** The calls for given sizes. */
  struct Prepared {
    std::vector<std::int64_t> sizes;
    std::vector<ProgramCall> program_calls;  // those that draw random numbers
    std::vector<std::shared_ptr<HeldCall>> calls;
    std::uint64_t random_advance = 0;
    std::unique_ptr<CommandGraph> graph{};
    bool may_keep = true;
    std::uint64_t runs = 0;
  };

  Tensor here(const Tensor& tensor) const;
  Tensor at_sizes(const ProgramTensor& each) const;
  Tensor named(const std::vector<ProgramTensor>& tensors, const std::string& name, const char* what) const;
  void plan_arena();
  const Prepared* find_prepared() const;
  /** The calls for the sizes at hand, made if they are not kept. */
  Prepared& prepare();
  /** Makes the calls anew that take random numbers, with `random` in the place of what the program says. */
  void draw(Prepared& prepared, const std::function<PhiloxState(PhiloxState)>& random);
  std::shared_ptr<HeldCall> make_call(const ProgramCall& call,
                                      const std::function<PhiloxState(PhiloxState)>& random);
  /** The state that a run begins with whose first run began with `first`. */
  PhiloxState of_this_run(PhiloxState first) const;
  void run_calls(const Prepared& prepared);
  void keep_commands(Prepared& prepared);

  ExportedProgram program_;
  Device& device_;
  MemoryPlan plan_;
  std::shared_ptr<Storage> arena_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>>
      memory_;  // by what stands for it in the program
  ConstantForms constants_;
  std::vector<Dims> shapes_;          // of the inputs
  std::vector<std::int64_t> sizes_;   // of the symbols, by the shapes that came last
  std::list<Prepared> prepared_;      // the one that ran last first
  std::shared_ptr<MemoryPool> pool_;  // of the graphs
  std::vector<std::size_t> random_calls_;
  std::uint64_t random_moved_ = 0;  // by the runs so far
};

}  // namespace dlprim
