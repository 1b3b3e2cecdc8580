#include "classifier.h"

#include <fstream>
#include <map>

#include "nets.h"
#include "nn/io/state_dict.h"
#include "nn/models/registry.h"
#include "structure.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ocl::FileError;
using ocl::StateDict;
using ocl::ValueError;

constexpr const char* weights_prefix = "weights/";

const std::vector<std::string>& preparation_keys() {
  static const auto& keys = *new std::vector<std::string>{"side", "channels", "is_gray", "mean", "std"};
  return keys;
}

std::string structure_of(const Classifier& classifier, const StateDict& weights) {
  StructureSteps steps;
  steps.value(classifier.name);
  for (const std::string& name : classifier.classes) steps.value(name);
  steps.list(classifier.classes.size());
  const Preparation& preparation = classifier.preparation;
  steps.value(preparation.side).value(preparation.channels).value(preparation.is_gray);
  for (const auto* numbers : {&preparation.mean, &preparation.std}) {
    for (const float number : *numbers) steps.value(number);
    steps.tuple(numbers->size());
  }
  steps.dict(preparation_keys());
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : weights) {
    steps.tensor(weights_prefix + key);
    keys.push_back(key);
  }
  return steps.dict(keys).dict({"name", "classes", "preparation", "weights"}).dump();
}

Preparation preparation_of(const json& content) {
  return {content.at("side"), content.at("channels"), content.at("is_gray"), content.at("mean"),
          content.at("std")};
}

StateDict weights_of(const json& names, const StateDict& tensors) {
  const std::map<std::string, ocl::Tensor> by_name(tensors.begin(), tensors.end());
  StateDict weights;
  for (const auto& [key, name] : names.items()) weights.emplace_back(key, by_name.at(name));
  return weights;
}

std::shared_ptr<ocl::nn::Module> with_weights(std::shared_ptr<ocl::nn::Module> net, const StateDict& weights,
                                              const ocl::Device& device) {
  net->to(device);
  net->load_state_dict(weights);
  net->eval();
  return net;
}

/** The outputs of a net's last layer: of `weights`, which may come in any order, where they have it. */
std::int64_t class_count(const ocl::nn::Module& net, const StateDict& weights) {
  const auto& [last, own] = net.state_dict().back();
  for (const auto& [key, tensor] : weights)
    if (key == last && tensor.dim() > 0) return tensor.size(0);
  return own.size(0);
}

std::vector<std::string> class_names(const fs::path& path, std::size_t count) {
  std::vector<std::string> names;
  if (path.empty()) {
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
    return names;
  }
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) names.push_back(line);
  if (!file.eof()) throw FileError(path.string() + ": cannot be read");
  if (names.size() != count)
    throw ValueError(dlprim::concat(path.string(), ": ", names.size(), " names for ", count, " classes"));
  return names;
}

}  // namespace

void save_classifier(const Classifier& classifier, const fs::path& path) {
  const StateDict weights = classifier.net->state_dict();
  StateDict tensors;
  for (const auto& [key, tensor] : weights) tensors.emplace_back(weights_prefix + key, tensor);
  ocl::save(tensors, path, {{structure_key, structure_of(classifier, weights)}});
}

Classifier load_classifier(const fs::path& path, const ocl::Device& device) {
  ocl::Metadata metadata;
  const StateDict tensors = ocl::load(path, device, &metadata);
  const std::string not_ours = path.string() + ": not written by examples/train.cpp or train.py";
  Classifier classifier;
  StateDict weights;
  try {
    const json content = rebuilt_structure(metadata[structure_key]);
    classifier = {content.at("name"), nullptr, content.at("classes"),
                  preparation_of(content.at("preparation"))};
    weights = weights_of(content.at("weights"), tensors);
  } catch (const json::exception&) {
    throw FileError(not_ours);
  } catch (const std::out_of_range&) {
    throw FileError(not_ours);
  }
  const NetOptions options{static_cast<std::int64_t>(classifier.classes.size()),
                           classifier.preparation.channels, classifier.preparation.side};
  classifier.net = with_weights(make_net(classifier.name, options), weights, device);
  return classifier;
}

Classifier published_classifier(const std::string& name, const fs::path& path, const fs::path& names,
                                int side, const ocl::Device& device) {
  NetOptions options;
  options.is_published = true;
  options.side = side > 0 ? side : suitable_side(name, options.side);
  const StateDict weights = ocl::models::with_current_names(ocl::load(path, device));
  auto net = make_net(name, options);
  if (const std::int64_t count = class_count(*net, weights); count != options.classes) {
    options.classes = count;
    net = make_net(name, options);
  }
  try {
    net = with_weights(net, weights, device);
  } catch (const ocl::Error& error) {
    throw ValueError(path.string() + ": no weights of " + name + ": " + error.what());
  }
  return {name, net, class_names(names, static_cast<std::size_t>(options.classes)),
          Preparation::of(options.side, options.channels, false)};
}

ocl::TensorList scores_of(ocl::nn::Module& net, const ocl::Tensor& pictures) {
  ocl::TensorList scores;
  for (const ocl::nn::Value& value : net(ocl::nn::Arguments{{pictures}, {}}).sequence())
    if (!value.is_none()) scores.push_back(value.tensor("the output of the net"));
  return scores;
}
