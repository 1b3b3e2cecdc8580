#include "dlprim/runtime/program_patch.h"

#include <cstring>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

constexpr std::size_t none = std::string::npos;

[[noreturn]] void refuse() {
  throw RefusedKernelError("the driver's program binary is no PTX for sm_90");
}

/** Moves the directive at `mark` before the body that it stands in. */
void move_directive(std::string& text, std::size_t mark) {
  const std::size_t begin = mark + std::strlen(entry_mark), end = text.find('\n', mark);
  const std::size_t entry = text.rfind(".entry", mark);
  const std::size_t body = entry == none ? none : text.find("\n{", entry);
  if (end == none || body == none || body > mark) refuse();
  const std::string directive = "\n" + text.substr(begin, end - begin);
  text.erase(mark, end - mark);
  text.insert(body, directive);
}

}  // namespace

bool wants_patch(const std::string& source) {
  return source.find(patch_mark) != none;
}

std::vector<unsigned char> patched(const std::vector<unsigned char>& binary) {
  static constexpr const char* target = ".target sm_90";
  std::string text(binary.begin(), binary.end());
  const std::size_t at = text.find(target);
  if (at == none) refuse();
  text.insert(at + std::strlen(target), "a");
  for (std::size_t mark = 0; (mark = text.find(patch_mark, mark)) != none;)
    text.erase(mark, std::strlen(patch_mark));
  for (std::size_t mark = 0; (mark = text.find(entry_mark)) != none;) move_directive(text, mark);
  return {text.begin(), text.end()};
}

}  // namespace dlprim
