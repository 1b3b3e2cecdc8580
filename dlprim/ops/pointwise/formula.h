#pragma once

#include <string>
#include <vector>

namespace dlprim {

/**
 * An expression of a table (OpenCL C over the variables of a row) as a tree. Its derivatives follow from its
 * parts, which compiling it does not give.
 */
struct Formula {
  enum class Kind {
    number,    // value
    variable,  // name: an input, a parameter or a constant
    call,      // name of a function over `parts`; "+", "<", "&&", "?:" and the like are functions too
  };

  Kind kind;
  double value = 0;
  bool is_float = false;  // of a number: written as 1.0f, so that quotients of such are rounded to float32
  std::string name;
  std::vector<Formula> parts;
};

/**
 * The tree of `expression`: numbers, names, calls, casts (which are left out), and the operators `?: || && ==
 * != < <= > >= + - * / !`. Throws ValueError for anything else.
 */
Formula parse_formula(const std::string& expression);

}  // namespace dlprim
