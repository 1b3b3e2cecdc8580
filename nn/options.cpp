#include "nn/options.h"

#include <sstream>

#include "nn/module.h"

namespace ocl::nn {

OptionNames::OptionNames(std::size_t required_count, std::size_t keyword_count, const std::string& members)
    : required(required_count), keywords(keyword_count) {
  std::istringstream all(members);
  for (std::string member; std::getline(all, member, ',');) {
    const std::size_t begin = member.find_first_not_of(' ');
    names.push_back(member.substr(begin, member.rfind('_') - begin));
  }
}

const OptionNames& NoOptions::names() {
  static const auto& none = *new OptionNames(0, 0, "");
  return none;
}

std::string repr_of(bool value) {
  return value ? "True" : "False";
}
std::string repr_of(int value) {
  return std::to_string(value);
}
std::string repr_of(std::int64_t value) {
  return std::to_string(value);
}
std::string repr_of(double value) {
  return float_repr(value);
}
std::string repr_of(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::boolean:
      return repr_of(value.real() != 0);
    case Scalar::Kind::integer:
      return repr_of(value.integer());
    default:
      return repr_of(value.real());
  }
}
std::string repr_of(const std::string& value) {
  return "'" + value + "'";
}
std::string repr_of(Single size) {
  return size.is_one_number ? repr_of(size.value) : tuple_repr({repr_of(size.value)});
}
std::string repr_of(const Tensor& tensor) {
  return tensor.defined() ? dlprim::concat("Tensor of shape ", tensor.shape()) : "None";
}

std::string tuple_repr(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += (text.empty() ? "" : ", ") + entry;
  return "(" + text + (entries.size() == 1 ? ",)" : ")");
}

std::string options_text(const OptionNames& names, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (text.empty() ? "" : ", ") + names.names[i] + "=" + values[i];
  return text;
}

}  // namespace ocl::nn
