#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dlprim/core/call.h"
#include "dlprim/export/exported_program.h"

namespace dlprim {

/**
 * Makes a program of the primitives that the calling thread runs, from construction to finish():
 *
 *     ProgramCapture capture({{"x", x}});
 *     const Tensor y = net(x);                                  // runs as ever
 *     ExportedProgram program = capture.finish({{"y", y}}, parameters);
 *
 * Memory that is read before the work has written it is a constant, or a state if the work writes it later;
 * its contents are kept as they were at first. All memory that the work uses lives until the capture is gone.
 * The host must not read elements meanwhile, since what it decides by them is no part of the program: Error.
 * Numbers are repeated as they were; see changed_numbers.
 */
class ProgramCapture final : public CallListener {
 public:
  /** The contents that constants and states have in the program. They are the part that calls reach, or all
   * of their memory, which is the same for other sizes of the inputs. */
  enum class Contents { reached, whole };

  /** Throws ValueError for two inputs that share memory. Under ShapesOnly nothing has contents. */
  explicit ProgramCapture(const std::vector<ProgramTensor>& inputs, Contents contents = Contents::reached);
  ~ProgramCapture() override;

  /** Stops, and gives the program. `named`: names for the memory of constants and states. Throws Error where
   * the work has commands that are no calls of primitives. */
  ExportedProgram finish(const std::vector<ProgramTensor>& outputs, const std::vector<ProgramTensor>& named);
  /** Stops, and puts the states' memory back to what it held before. */
  void restore_states();

  void enter(const Call& call) override;
  void leave(const Call& call) override;
  void escaped(const char* command) override;
  void reads() override;

 private:
  struct Memory {
    ProgramBuffer::Kind kind;
    Tensor bytes;                  // all of it
    std::vector<char> contents{};  // of constants and states
    std::size_t reach = 0;         // bytes that calls use
    std::size_t order = 0;
  };

  void stop();
  void note(const Tensor& tensor, bool reads, bool writes);
  std::vector<char> download(const Tensor& bytes);

  std::unique_ptr<Listening> listening_;
  std::unordered_map<const Storage*, Memory> memory_;
  std::vector<ProgramCall> calls_;
  std::vector<std::pair<std::size_t, Tensor>> uploads_;  // the place among calls_, and the destination
  std::vector<ProgramTensor> inputs_;
  Contents contents_;
  std::vector<std::string> escapes_;
  bool downloads_ = false;
};

/**
 * The differences between two captures of the same work beside random numbers: it would be repeated as it was
 * in the first. Empty, or a text for people. `advance`: how far random numbers have moved on, by 0 where
 * there are none.
 */
std::string changed_numbers(const ExportedProgram& first, const ExportedProgram& second,
                            std::uint64_t& advance);

}  // namespace dlprim
