#include "classifier.h"

#include <nlohmann/json.hpp>

#include "nn/io/state_dict.h"
#include "nn/models/registry.h"

using nlohmann::json;

void save_classifier(const Classifier& classifier, const std::filesystem::path& path) {
  const json about{{"net", classifier.name}, {"classes", classifier.classes}, {"side", classifier.side}};
  ocl::save(classifier.net->state_dict(), path, {{"classifier", about.dump()}});
}

Classifier load_classifier(const std::filesystem::path& path, const ocl::Device& device) {
  const auto metadata = ocl::load_metadata(path);
  const auto about = metadata.find("classifier");
  if (about == metadata.end()) throw ocl::FileError(path.string() + ": not written by examples/train.cpp");
  const json content = json::parse(about->second);
  Classifier classifier{content.at("net"), nullptr, content.at("classes"), content.at("side")};
  classifier.net = ocl::models::create_model(
      classifier.name,
      ocl::models::ModelOptions().num_classes(static_cast<std::int64_t>(classifier.classes.size())));
  classifier.net->to(device);
  classifier.net->load_state_dict(ocl::load(path, device));
  classifier.net->eval();
  return classifier;
}

ocl::TensorList scores_of(ocl::nn::Module& net, const ocl::Tensor& pictures) {
  const ocl::Tensor x =
      pictures.size(1) == 3
          ? pictures
          : ocl::expand(pictures, {pictures.size(0), 3, pictures.size(2), pictures.size(3)});
  ocl::TensorList scores;
  for (const ocl::nn::Value& value : net(ocl::nn::Arguments{{x}, {}}).sequence())
    if (!value.is_none()) scores.push_back(value.tensor("the output of the net"));
  return scores;
}
