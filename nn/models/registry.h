#pragma once

#include <filesystem>

#include "nn/models/composed.h"

namespace ocl::models {

/** The task of a net: torchvision's folders, and continuing a text. */
enum class Task { classification, segmentation, detection, language };

/** Options of every net: `create_model("resnet18", ModelOptions().num_classes(10))`. */
struct ModelOptions {
  /** The net's own where it is none: 1000, 21 of segmentation, 91 of detection. Language models have no
   * classes, and refuse it. */
  OPTION(std::optional<std::int64_t>, num_classes) = std::nullopt;
  /** A safetensors file to load, if any. */
  OPTION(std::filesystem::path, weights);
};

/** The names of all nets for one task, sorted; without one of all that torchvision has, as
 * torchvision.models.list_models(): language models are left out. */
std::vector<std::string> list_models(std::optional<Task> task = std::nullopt);

/** The net of that name, for whatever task, as torchvision.models.get_model. Throws ValueError for a name
 * that is not there, FileError and ValueError for weights that cannot be read or do not fit. */
std::shared_ptr<Module> create_model(const std::string& name, const ModelOptions& options = {});

/** Throws ValueError, which names the nets that are called alike, unless there is a net of that name. */
void require_model(const std::string& name);

/** Changes the options of a net that a file of weights is to be loaded into, where that counts: an overload
 * beside the options says so. */
template <class Options>
void expect_weights(Options&) {}

/** A state dict under the names that nets have now: files of torchvision's DenseNets and vision transformers
 * have older ones. */
StateDict with_current_names(StateDict state);

/** The options of the net of that name, for changes beyond ModelOptions:
 * `make<ResNet>(options_of<ResNet>("resnet18").zero_init_residual(true))`. Throws ValueError if Net has none
 * of that name. */
template <class Net>
typename Net::Options options_of(const std::string& name) {
  for (const auto& [known, options] : Net::variants())
    if (known == name) return options;
  require_model(name);
  throw ValueError(dlprim::concat("the net '", name, "' is of another class"));
}

}  // namespace ocl::models
