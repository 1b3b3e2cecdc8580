#include "nn/io/archive.h"

namespace ocl::serialize {

using dlprim::require;

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool) {
  require(tensor.defined(), "archive: the tensor \"", key, "\" is undefined");
  require(!state_.contains(key), "archive: \"", key, "\" is written already");
  state_.emplace_back(key, tensor);
}

void OutputArchive::write(const std::string& key, const OutputArchive& archive) {
  for (const auto& [name, tensor] : archive.state_) write(key + "." + name, tensor);
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool) const {
  require(try_read(key, tensor), "archive: there is no tensor \"", key, "\"");
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) const {
  if (!state_.contains(key)) return false;
  const Tensor& value = state_[key];
  if (!tensor.defined()) {
    tensor = value;
    return true;
  }
  require(tensor.shape() == value.shape(), "archive: \"", key, "\" has shape ", value.shape(),
          ", and the tensor that it is read into ", tensor.shape());
  const NoGradGuard without_tape;
  tensor.copy_(value);
  return true;
}

void InputArchive::read(const std::string& key, InputArchive& archive) const {
  StateDict found;
  const std::string beginning = key + ".";
  for (const auto& [name, tensor] : state_)
    if (name.compare(0, beginning.size(), beginning) == 0)
      found.emplace_back(name.substr(beginning.size()), tensor);
  require(!found.empty(), "archive: there is no \"", key, "\"");
  archive.state_ = std::move(found);
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> keys;
  for (const auto& [name, tensor] : state_) keys.push_back(name);
  return keys;
}

}  // namespace ocl::serialize

namespace ocl::nn {

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, tensor] : state_dict()) archive.write(name, tensor);
}

void Module::load(const serialize::InputArchive& archive) {
  load_state_dict(archive.state());
}

}  // namespace ocl::nn
