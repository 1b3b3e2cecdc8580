#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dlprim/core/call.h"
#include "dlprim/export/argument_reader.h"

namespace dlprim {

/** A primitive as a value: what its call does with its tensors, and how a call is made of values. */
struct Primitive {
  const char* name;
  std::vector<std::string> parameters;

  /** The tensors among the arguments of a call, by what it does with them. */
  struct Tensors {
    std::vector<Tensor> read, written, updated;
  };
  /** Undefined tensors are left out. `arguments`: as Call::arguments gives them. */
  Tensors tensors(const std::vector<Argument>& arguments) const;

  /** The call of these arguments. Throws TypeError or ValueError, which name the primitive and the argument,
   * for values that are none of the parameter's type. */
  std::shared_ptr<HeldCall> call(const std::vector<Argument>& arguments, ArgumentContext& context) const;

  const char *writes, *updates;  // primitives.def
  /** Null where the build leaves the primitive out (cmake -DTAPECL_OPERATORS); check_program refuses it. */
  std::shared_ptr<HeldCall> (*make)(const char* name, const std::vector<Argument>& arguments,
                                    ArgumentContext& context);
};

/** Every primitive that an exported program may call, by name, also those that the build leaves out. */
const std::vector<Primitive>& primitive_table();
/** The primitive of that name, or null. */
const Primitive* find_primitive(std::string_view name);

}  // namespace dlprim
