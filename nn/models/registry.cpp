#include "nn/models/registry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <regex>

#include "nn/io/state_dict.h"
#include "nn/models/models.h"

namespace ocl::models {
namespace {

using Constructor = std::function<std::shared_ptr<Module>(const ModelOptions&)>;

struct Entry {
  Task task;
  Constructor make;
};
using Registry = std::map<std::string, Entry>;

template <class Options, class = void>
struct HasClasses : std::false_type {};
template <class Options>
struct HasClasses<Options, std::void_t<decltype(std::declval<Options&>().num_classes(0))>> : std::true_type {
};

template <class Net>
void add_variants(Registry& registry, Task task) {
  for (const auto& variant : Net::variants()) {
    const auto make = [name = variant.first, options = variant.second](const ModelOptions& wishes) {
      typename Net::Options own = options;
      if (wishes.num_classes()) {
        if constexpr (HasClasses<typename Net::Options>::value)
          own.num_classes(*wishes.num_classes());
        else
          throw ValueError(dlprim::concat("the net '", name, "' has no num_classes"));
      }
      if (!wishes.weights().empty()) expect_weights(own);
      return std::make_shared<Net>(own);
    };
    registry.emplace(variant.first, Entry{task, make});
  }
}

template <class... Nets>
void add_nets(Registry& registry, Task task) {
  (add_variants<Nets>(registry, task), ...);
}

const Registry& registry() {
  static const auto& all = *[] {
    auto* nets = new Registry;
    add_nets<AlexNet, ConvNeXt, DenseNet, EfficientNet, GoogLeNet, Inception3, MaxVit, MNASNet, MobileNetV2,
             MobileNetV3, RegNet, ResNet, ShuffleNetV2, SqueezeNet, SwinTransformer, VGG, VisionTransformer>(
        *nets, Task::classification);
    add_nets<DeepLabV3>(*nets, Task::segmentation);
    add_nets<SSD>(*nets, Task::detection);
    add_nets<GPT2LMHeadModel>(*nets, Task::language);
    return nets;
  }();
  return all;
}

/** How many letters must be changed, added or taken away to make one of the other. */
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/** The names that are a few letters away, the nearest first. */
std::string alike(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& [known, entry] : registry())
    if (const std::size_t distance = edit_distance(name, known); 3 * distance <= known.size())
      near.emplace_back(distance, known);
  std::sort(near.begin(), near.end());
  if (near.size() > 3) near.resize(3);
  std::string text;
  for (const auto& [distance, known] : near) text += (text.empty() ? "" : ", ") + known;
  return text;
}

}  // namespace

void require_model(const std::string& name) {
  if (registry().count(name)) return;
  const std::string near = alike(name);
  throw ValueError(
      dlprim::concat("Unknown model ", name, near.empty() ? "" : ", did you mean ", near,
                     near.empty() ? ": list_models() and list_language_models() have the names" : "?"));
}

std::vector<std::string> list_models(std::optional<Task> task) {
  std::vector<std::string> names;
  for (const auto& [name, net] : registry())
    if (task ? net.task == *task : net.task != Task::language) names.push_back(name);
  return names;
}

StateDict with_current_names(StateDict state) {
  static const auto& dense = *new std::regex(R"((.*denselayer\d+\.(?:norm|conv))\.([12]\.\w+))");
  static const auto& mlp = *new std::regex(R"((.*\.mlp)\.linear_([12])\.(weight|bias))");
  for (auto& [name, tensor] : state) {
    std::smatch found;
    if (std::regex_match(name, found, dense))
      name = found.str(1) + found.str(2);
    else if (std::regex_match(name, found, mlp))
      name = found.str(1) + (found.str(2) == "1" ? ".0." : ".3.") + found.str(3);
  }
  return state;
}

std::shared_ptr<Module> create_model(const std::string& name, const ModelOptions& options) {
  require_model(name);
  const std::shared_ptr<Module> net = registry().at(name).make(options);
  if (!options.weights().empty()) net->load_state_dict(with_current_names(load(options.weights())));
  return net;
}

}  // namespace ocl::models
