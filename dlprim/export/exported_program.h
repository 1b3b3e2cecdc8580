#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dlprim/core/arguments.h"
#include "dlprim/core/error.h"
#include "dlprim/core/tensor.h"
#include "dlprim/export/size_formula.h"

namespace dlprim {

/** A number that follows from the program's symbols; `place` counts the numbers of its tensor or call
 * (program_sizes.h). */
struct VaryingNumber {
  std::size_t place;
  NumberFormula formula;
};

/** A tensor of a program, on one of its buffers. */
struct ProgramTensor {
  std::string name;
  Tensor tensor;
  std::vector<VaryingNumber> varying{};  // by place
};

/** A piece of memory that a program uses. */
struct ProgramBuffer {
  enum class Kind {
    temporary,  // written before it is read, in each run; results are temporaries too
    input,      // the caller writes it before a run
    constant,   // has the same contents in each run
    state       // what a run leaves there the next one finds
  };
  Kind kind = Kind::temporary;
  std::string name;                  // of constants and states: unique in the program
  std::size_t bytes = 0;             // as far as calls reach
  std::shared_ptr<Storage> storage;  // stands for it in tensors, and has no memory
  /** `bytes` of them, for constants, and states before the first run. Copies of the program share it. */
  std::shared_ptr<const std::vector<char>> contents{};
  DType dtype = DType::uint8;  // how constants and states are shown and stored:
  Dims shape{};                // contiguous, from the first byte on
};

/** One call of a primitive (primitive_table.h). */
struct ProgramCall {
  std::string primitive;
  std::vector<Argument> arguments;       // tensors on the program's buffers
  std::string operation, module;         // whose work it is, for people; may be empty
  std::vector<VaryingNumber> varying{};  // by place
};

/** A kernel program as a driver built it, under its key in the kernel cache (KernelCache). */
struct ProgramBinary {
  std::string key, label;      // label: for people
  std::string device, driver;  // whose it is
  std::string variants;        // CachedBinary
  std::shared_ptr<const std::vector<unsigned char>> bytes;
};

/**
 * Work on a device as a list of calls of primitives over buffers: a net's forward pass, or a training step.
 * ProgramCapture makes it, ProgramFile stores it, ProgramRunner runs it. A value.
 *
 * Its shapes are given, or dynamic: they follow from symbols, sizes of the inputs that may differ from run to
 * run. Numbers that do have a formula beside their value at the greatest sizes, and buffers hold what these
 * need.
 */
struct ExportedProgram {
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramCall> calls;
  std::vector<ProgramTensor> inputs, outputs;
  /** How far each run moves the offsets of random numbers (PhiloxState), and that as a formula. */
  std::uint64_t random_advance = 0;
  SizeFormula random_formula{};
  std::vector<ProgramSymbol> symbols{};
  std::vector<ProgramBinary> binaries{};  // unused unless trust_binaries (program_binaries.h) is called

  bool is_dynamic() const { return !symbols.empty(); }

  /** The index of the buffer that the tensor lies on. Throws ValueError for another tensor. */
  std::size_t buffer_of(const Tensor& tensor) const;
  /** "call 3, gemm", as errors say it. */
  std::string place_of_call(std::size_t i) const;

  /** A line for each input, call and output. */
  std::string text() const;
};

/** A program calls a primitive that the build at hand leaves out (cmake -DTAPECL_OPERATORS). */
class MissingPrimitiveError : public Error {
  using Error::Error;
};

/** Throws MissingPrimitiveError where the build lacks a primitive that is called. Throws ValueError unless
 * the program is sound: every call has a primitive that is known and its parameters, and every tensor lies
 * within its buffer, which is written before it is read. A dynamic program has to be sound at its least and
 * at its greatest sizes. */
void check_program(const ExportedProgram& program);

}  // namespace dlprim
