#include "nets.h"

#include <algorithm>

#include "nn/models/models.h"

namespace {

namespace models = ocl::models;
using namespace ocl::nn;
using dlprim::concat;
using ocl::Tensor;
using ocl::ValueError;

constexpr const char* small_name = "small";

bool begins(const std::string& name, const std::string& start) {
  return name.compare(0, start.size(), start) == 0;
}

std::shared_ptr<Conv2d> conv(std::int64_t inputs, std::int64_t outputs, int kernel, int stride, int padding) {
  return make<Conv2d>(
      Conv2dOptions(inputs, outputs, kernel).stride(stride).padding(Extents<2>(padding)).bias(false));
}

/** Two convolutions beside a shortcut (He et al. 2016). */
class Block : public Module {
 public:
  Block(std::int64_t inputs, std::int64_t outputs, int stride)
      : inputs_(inputs), outputs_(outputs), stride_(stride) {
    register_module("conv1", conv(inputs, outputs, 3, stride, 1));
    register_module("norm1", make<BatchNorm2d>(outputs));
    register_module("conv2", conv(outputs, outputs, 3, 1, 1));
    register_module("norm2", make<BatchNorm2d>(outputs));
    if (stride == 1 && inputs == outputs)
      register_module("shortcut", make<Identity>());
    else
      register_module("shortcut",
                      make<Sequential>(conv(inputs, outputs, 1, stride, 0), make<BatchNorm2d>(outputs)));
  }
  std::shared_ptr<Module> alike() const override { return make<Block>(inputs_, outputs_, stride_); }
  Tensor forward(const Tensor& x) override {
    const Tensor y = ocl::relu(norm1_(conv1_(x)));
    return ocl::relu(norm2_(conv2_(y)) + shortcut_(x));
  }

 private:
  std::int64_t inputs_, outputs_;
  int stride_;
  Child<Module> conv1_ = child<Module>("conv1"), norm1_ = child<Module>("norm1"),
                conv2_ = child<Module>("conv2"), norm2_ = child<Module>("norm2"),
                shortcut_ = child<Module>("shortcut");
};

/** A ResNet of three blocks for small pictures, 76 thousand parameters. */
std::shared_ptr<Module> small(const NetOptions& options) {
  return make<Sequential>(conv(options.channels, 16, 3, 1, 1), make<BatchNorm2d>(16), make<ReLU>(),
                          make<Block>(16, 16, 2), make<Block>(16, 32, 2), make<Block>(32, 64, 2),
                          make<AdaptiveAvgPool2d>(1), make<Flatten>(), make<Linear>(64, options.classes));
}

constexpr int maxvit_stride = 32;

template <class Net, class Change>
std::shared_ptr<Module> changed(const std::string& name, const NetOptions& wishes, const Change& change) {
  auto options = models::options_of<Net>(name);
  options.num_classes(wishes.classes);
  change(options);
  return make<Net>(options);
}

/** With the arguments that depend on the size of the pictures, or that published weights need. */
std::shared_ptr<Module> library_net(const std::string& name, const NetOptions& wishes) {
  const auto transforming = [](auto& options) { options.transform_input(true); };
  if (begins(name, "vit_"))
    return changed<models::VisionTransformer>(name, wishes,
                                              [&](auto& options) { options.image_size(wishes.side); });
  if (begins(name, "maxvit"))  // its last stage is one window, as of torchvision's 224 by windows of 7
    return changed<models::MaxVit>(name, wishes, [&](auto& options) {
      options.input_size({wishes.side, wishes.side}).partition_size(wishes.side / maxvit_stride);
    });
  if (wishes.is_published && name == "googlenet")
    return changed<models::GoogLeNet>(name, wishes, transforming);
  if (wishes.is_published && name == "inception_v3")
    return changed<models::Inception3>(name, wishes, transforming);
  return models::create_model(name, models::ModelOptions().num_classes(wishes.classes));
}

/** Puts one that takes so many channels in the place of the net's first convolution. */
void change_channels(Module& net, int channels) {
  for (const auto& [path, parent] : net.named_modules())
    for (const auto& [name, child] : parent->named_children())
      if (const auto first = std::dynamic_pointer_cast<Conv2d>(child)) {
        auto options = first->options();
        if (options.in_channels() != channels)
          parent->register_module(name, make<Conv2d>(options.in_channels(channels)));
        return;
      }
}

int step_of_sides(const std::string& name) {
  if (begins(name, "vit_")) return std::stoi(name.substr(name.rfind('_') + 1));  // the side of its patches
  return begins(name, "maxvit") ? maxvit_stride : 1;
}

/** The smallest pictures that a training takes, by how the names of nets begin; any where none is told. */
constexpr std::pair<const char*, int> least_sides[] = {
    {"alexnet", 63},   {"convnext", 32},      {"densenet", 29},
    {"googlenet", 15}, {"inception", 299},  // for its auxiliary head
    {"maxvit", 64},    {"squeezenet1_0", 21}, {"squeezenet1_1", 17},
    {"swin", 4},       {"vgg", 32},
};

void require_net(const std::string& name) {
  const auto names = net_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  models::require_model(name);
  throw ValueError(
      concat("the net ", name, " does not tell classes of pictures; --list-nets shows those that do"));
}

}  // namespace

std::vector<std::string> net_names() {
  auto names = models::list_models(models::Task::classification);
  names.insert(std::lower_bound(names.begin(), names.end(), small_name), small_name);
  return names;
}

std::shared_ptr<Module> make_net(const std::string& name, const NetOptions& options) {
  require_net(name);
  if (name == small_name) return small(options);
  const auto net = library_net(name, options);
  change_channels(*net, options.channels);
  return net;
}

int suitable_side(const std::string& name, int side) {
  require_net(name);
  int least = side;
  for (const auto& [start, needed] : least_sides)
    if (begins(name, start)) least = std::max(least, needed);
  const int step = step_of_sides(name);
  return (least + step - 1) / step * step;
}

void require_side(const std::string& name, int side) {
  const int suitable = suitable_side(name, side), step = step_of_sides(name);
  if (suitable == side) return;
  const std::string multiples = step > 1 ? concat(", in multiples of ", step) : "";
  throw ValueError(concat(name, " needs --side ", suitable, " or more", multiples, ", and not ", side));
}
