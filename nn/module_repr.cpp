#include <charconv>
#include <cmath>
#include <typeinfo>

#include "dlprim/core/class_name.h"
#include "nn/module.h"
#include "nn/walk.h"

namespace ocl::nn {
namespace {

using dlprim::concat;

std::string indented(const std::string& text) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

}  // namespace

std::string float_repr(double value) {
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::string digits(text, end);
  return plain && digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

std::string module_repr(const std::string& name, const std::string& extra_repr,
                        const std::vector<std::pair<std::string, std::string>>& children) {
  if (children.empty() && extra_repr.find('\n') == std::string::npos)
    return concat(name, '(', extra_repr, ')');
  std::string body = extra_repr;
  for (const auto& [child_name, text] : children)
    body += concat(body.empty() ? "" : "\n", "(", child_name, "): ", text);
  return concat(name, "(\n  ", indented(body), "\n)");
}

std::string module_list_repr(const std::string& name, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t i = 0, end; i < texts.size(); i = end) {
    for (end = i + 1; end < texts.size() && texts[end] == texts[i];) ++end;
    const std::size_t count = end - i;
    if (count == 1)
      lines.emplace_back(std::to_string(i), texts[i]);
    else
      lines.emplace_back(concat(i, '-', end - 1), concat(count, " x ", texts[i]));
  }
  return module_repr(name, "", lines);
}

std::string Module::name() const {
  return dlprim::class_name(typeid(*this));
}

std::string Module::repr() const {
  const WalkLevel level(*this);
  std::vector<std::pair<std::string, std::string>> children;
  for (const auto& [child_name, child] : own_modules())
    children.emplace_back(child_name, child ? child->repr() : "None");
  return module_repr(name(), extra_repr(), children);
}

}  // namespace ocl::nn
