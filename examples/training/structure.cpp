#include "structure.h"

#include <stdexcept>

using nlohmann::json;

StructureSteps& StructureSteps::add(const char* kind, const json& content) {
  steps_.push_back(json::array({kind, content}));
  return *this;
}

json rebuilt_structure(const std::string& steps) {
  std::vector<json> stack;
  const auto take = [&](std::size_t count) {
    if (count > stack.size()) throw std::out_of_range("a container of more items than there are");
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<json> items(first, stack.end());
    stack.erase(first, stack.end());
    return items;
  };
  for (const json& step : json::parse(steps)) {
    const auto kind = step.at(0).get<std::string>();
    const json& content = step.at(1);
    if (kind == "value" || kind == "tensor") {
      stack.push_back(content);
    } else if (kind == "list" || kind == "tuple") {
      stack.emplace_back(take(content.get<std::size_t>()));
    } else {
      const auto keys = content.get<std::vector<std::string>>();
      const std::vector<json> items = take(keys.size());
      json dict = json::object();
      for (std::size_t i = 0; i < keys.size(); ++i) dict[keys[i]] = items[i];
      stack.push_back(std::move(dict));
    }
  }
  return take(1).front();
}
