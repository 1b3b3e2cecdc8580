#include "module_class.h"

std::string call_documentation(const std::vector<CallArgument>& arguments, const char* result) {
  std::string plain, typed;
  for (const CallArgument& argument : arguments) {
    const std::string standard = argument.standard ? argument.standard : "";
    plain += dlprim::concat(", ", argument.name, standard.empty() ? "" : "=", standard);
    typed +=
        dlprim::concat(", ", argument.name, ": ", argument.type, standard.empty() ? "" : " = ", standard);
  }
  return dlprim::concat("forward(self", plain, ")\n--\n\nforward(self", typed, ") -> ", result);
}
