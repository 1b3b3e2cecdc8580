#include "nn/models/ssdlite.h"

#include "autograd/ops/join.h"
#include "nn/init.h"
#include "nn/models/blocks.h"
#include "nn/models/mobilenetv3.h"

namespace ocl::models::ssdlite {
namespace {

const ActivationLayer relu6 = activation<ReLU6>("ReLU6");

std::shared_ptr<Conv2dNormActivation> block(std::int64_t in, std::int64_t out, int kernel_size,
                                            const NormLayer& norm, int stride = 1, std::int64_t groups = 1) {
  return make<Conv2dNormActivation>(Conv2dNormActivationOptions(in, out)
                                        .kernel_size(kernel_size)
                                        .stride(stride)
                                        .groups(groups)
                                        .norm_layer(norm)
                                        .activation_layer(relu6));
}

/** Half as high and wide. */
std::shared_ptr<Sequential> extra_block(std::int64_t in, std::int64_t out, const NormLayer& norm) {
  const std::int64_t inner = out / 2;
  return make<Sequential>(block(in, inner, 1, norm), block(inner, inner, 3, norm, 2, inner),
                          block(inner, out, 1, norm));
}

void init_narrow(const Module& root) {
  init_layers<Conv2d>(root, [](Tensor& weight) { init::normal_(weight, 0, 0.03); });
}

/** The features of mobilenet_v3_large, of which the last `trainable` of six stages learn. */
std::shared_ptr<Sequential> mobile_features(const FeatureExtractorOptions& o, const NormLayer& norm) {
  const StateDict& weights = o.weights_backbone().state;
  const auto net =
      make<MobileNetV3>(MobileNetV3Options("large").norm_layer(norm).reduced_tail(weights.empty()));
  if (weights.empty())
    init_narrow(*net);
  else
    net->load_state_dict(weights);
  const std::shared_ptr<Sequential> features = net->features.get();
  const std::vector<std::int64_t> stages = mobilenetv3::stages_of(*features);
  const auto count = static_cast<std::int64_t>(stages.size()), trainable = o.trainable_layers();
  dlprim::require(trainable >= 0 && trainable <= count,
                  "Trainable backbone layers should be in the range [0,", count, "], got ", trainable);
  const std::int64_t first = trainable == 0 ? static_cast<std::int64_t>(features->size())
                                            : stages[static_cast<std::size_t>(count - trainable)];
  for (std::int64_t i = 0; i < first; ++i) features->at(i)->requires_grad_(false);
  return features;
}

/** The only argument of a head, a list of feature maps. */
TensorList maps_in(const Arguments& arguments, const std::string& head) {
  TensorList maps;
  for (const Value& map : arguments.matched(head, {"x"}).front().sequence())
    maps.push_back(map.tensor("a feature map of " + head));
  return maps;
}

}  // namespace

NormLayer norm_or_default(const NormLayer& given) {
  return or_default(given, batch_norm(0.001, 0.03));
}

SSDLiteFeatureExtractorMobileNet::SSDLiteFeatureExtractorMobileNet(const FeatureExtractorOptions& o)
    : Composed(o) {
  compose([&] {
    const NormLayer norm = norm_or_default(o.norm_layer());
    const std::shared_ptr<Sequential> all = mobile_features(o, norm);
    const std::vector<std::int64_t> stages = mobilenetv3::stages_of(*all);
    const std::int64_t c4 = stages[stages.size() - 2];
    // The block with the last stride is cut behind its expansion, whose output is the first map.
    const std::shared_ptr<Sequential> cut =
        dynamic_cast<const mobilenetv3::InvertedResidual&>(*all->at(c4)).block.get();
    const auto count = static_cast<std::int64_t>(all->size());
    const auto before = make<Sequential>(), after = make<Sequential>();
    for (std::int64_t i = 0; i < c4; ++i) before->append(all->at(i));
    before->append(cut->at(0));
    after->append(cut->slice(1, static_cast<std::int64_t>(cut->size())));
    for (std::int64_t i = c4 + 1; i < count; ++i) after->append(all->at(i));
    add<Sequential>("features", before, after);
    const auto maps = add<ModuleList>("extra");
    std::int64_t in = mobilenetv3::channels_of(*all, count - 1);
    for (const std::int64_t out : {512, 256, 256, 128}) {
      maps->append(extra_block(in, out, norm));
      in = out;
    }
    init_narrow(*maps.get());
  });
  change_options([](FeatureExtractorOptions& own) { own.weights_backbone({}); });
}

NamedTensors SSDLiteFeatureExtractorMobileNet::outputs(const Tensor& input) {
  NamedTensors maps;
  Tensor x = input;
  for (const ModulePointers& layers : {features->entries(), extra->entries()})
    for (const auto& layer : layers) {
      x = (*layer)(x);
      maps.emplace_back(std::to_string(maps.size()), x);
    }
  return maps;
}

Value SSDLiteFeatureExtractorMobileNet::call(const Arguments& arguments) {
  return value_of(outputs(arguments.matched(name(), {"x"}).front().tensor("x of " + name())));
}

std::vector<std::int64_t> SSDLiteFeatureExtractorMobileNet::out_channels() const {
  std::vector<std::int64_t> channels;
  const auto add_last = [&](const Module& layers) {
    const Conv2dNormActivation* last = nullptr;
    for_each<Conv2dNormActivation>(layers, [&](const Conv2dNormActivation& found) { last = &found; });
    channels.push_back(last->options().out_channels());
  };
  for (const auto& layers : features->entries()) add_last(*layers);
  for (const auto& layers : extra->entries()) add_last(*layers);
  return channels;
}

template <class Derived, class Options>
void ScoringHead<Derived, Options>::add_blocks(std::int64_t columns) {
  const Options o = this->options();
  dlprim::require(o.in_channels().size() == o.num_anchors().size(), this->name(), ": in_channels has ",
                  o.in_channels().size(), " numbers, num_anchors ", o.num_anchors().size());
  const NormLayer norm = norm_or_default(o.norm_layer());
  const auto blocks = this->template add<ModuleList>("module_list");
  for (std::size_t i = 0; i < o.in_channels().size(); ++i) {
    const std::int64_t in = o.in_channels()[i];
    blocks->append(
        make<Sequential>(block(in, in, 3, norm, 1, in), make<Conv2d>(in, columns * o.num_anchors()[i], 1)));
  }
  init_narrow(*blocks.get());
}

template <class Derived, class Options>
Tensor ScoringHead<Derived, Options>::scores(const TensorList& maps) {
  const ModulePointers blocks = module_list->entries();
  dlprim::require(maps.size() == blocks.size(), this->name(), ": expected ", blocks.size(),
                  " feature maps, got ", maps.size());
  std::int64_t columns = 4;
  if constexpr (std::is_same_v<Options, ClassificationHeadOptions>) columns = this->options().num_classes();
  TensorList results;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Tensor y = (*blocks[i])(maps[i]);
    const std::int64_t n = y.size(0);
    const Tensor boxes = view(y, {n, -1, columns, y.size(2), y.size(3)});
    results.push_back(reshape(permute(boxes, {0, 3, 4, 1, 2}), {n, -1, columns}));
  }
  return cat(results, 1);
}

template <class Derived, class Options>
Value ScoringHead<Derived, Options>::call(const Arguments& arguments) {
  return scores(maps_in(arguments, this->name()));
}

template class ScoringHead<SSDLiteClassificationHead, ClassificationHeadOptions>;
template class ScoringHead<SSDLiteRegressionHead, RegressionHeadOptions>;

SSDLiteClassificationHead::SSDLiteClassificationHead(const ClassificationHeadOptions& o) : ScoringHead(o) {
  compose([&] { add_blocks(o.num_classes()); });
}

SSDLiteRegressionHead::SSDLiteRegressionHead(const RegressionHeadOptions& o) : ScoringHead(o) {
  compose([&] { add_blocks(4); });
}

SSDLiteHead::SSDLiteHead(const ClassificationHeadOptions& o) : Composed(o) {
  compose([&] {
    add<SSDLiteClassificationHead>("classification_head", o);
    add<SSDLiteRegressionHead>("regression_head", RegressionHeadOptions()
                                                      .in_channels(o.in_channels())
                                                      .num_anchors(o.num_anchors())
                                                      .norm_layer(o.norm_layer()));
  });
}

Value SSDLiteHead::call(const Arguments& arguments) {
  Value::Sequence maps;
  for (const Tensor& map : maps_in(arguments, name())) maps.emplace_back(map);
  const Arguments given{{maps}, {}};
  const auto result = [&](const Child<Module>& head) {
    return head(given).tensor("what " + head.slot()->name() + " of " + name() + " gives");
  };
  return value_of(
      {{"bbox_regression", result(regression_head)}, {"cls_logits", result(classification_head)}});
}

}  // namespace ocl::models::ssdlite
