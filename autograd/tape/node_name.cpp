#include "autograd/tape/node_name.h"

#include <cctype>

#include "autograd/tape/tape.h"

namespace ocl {

std::string shown_name(const Node& node) {
  const std::string& name = node.name();
  if (name.empty() || std::isupper(static_cast<unsigned char>(name.front()))) return name;
  std::string shown;
  bool begins_word = true;
  for (const char letter : name) {
    if (letter == '_') {
      begins_word = true;
      continue;
    }
    shown += begins_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    begins_word = false;
  }
  return shown + "Backward0";
}

}  // namespace ocl
