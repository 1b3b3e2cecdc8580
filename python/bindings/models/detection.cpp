#include "model_class.h"
#include "nn/models/ssd.h"
#include "nn/models/ssdlite.h"

namespace {

void bind_parts(py::module_& m) {
  using namespace ocl::models::ssdlite;
  LayerClass<DefaultBoxGenerator>(m, "DefaultBoxGenerator", "The boxes that SSD starts from.")
      .def("num_anchors_per_location", &DefaultBoxGenerator::num_anchors_per_location,
           "How many boxes stand at a place of each feature map.")
      .def("__repr__", [](const DefaultBoxGenerator& self) { return self.DefaultBoxGenerator::repr(); })
      .def(
          "boxes",
          [](const DefaultBoxGenerator& self, const std::vector<PictureSize>& maps,
             const PictureSize& picture, ocl::DType dtype, const std::optional<ocl::Device>& device) {
            return self.boxes(maps, picture, dtype, device.value_or(ocl::Device()));
          },
          py::arg("maps"), py::arg("picture"), py::arg("dtype") = ocl::DType::float32,
          py::arg("device") = py::none(), WithoutLock(),
          "The boxes [boxes, 4] (x1, y1, x2, y2) of all places of feature maps of those sizes.");
  LayerClass<GeneralizedRCNNTransform>(
      m, "GeneralizedRCNNTransform",
      "Makes a batch of pictures: less the mean, over the deviation, of fixed_size (width, height).")
      .def("__repr__",
           [](const GeneralizedRCNNTransform& self) { return self.GeneralizedRCNNTransform::repr(); });
  auto extractor = bind_composed<SSDLiteFeatureExtractorMobileNet>(
      m, "SSDLiteFeatureExtractorMobileNet", "[N, 3, H, W] -> feature maps by number, each half the size.");
  extractor.def_property_readonly("out_channels", &SSDLiteFeatureExtractorMobileNet::out_channels);
  def_call<SSDLiteFeatureExtractorMobileNet>(extractor, {{"x", "ocl._C.Tensor"}}, "dict[str, ocl._C.Tensor]");
  const std::vector<CallArgument> maps{{"x", "list[ocl._C.Tensor]"}};
  auto classes = bind_composed<SSDLiteClassificationHead>(
      m, "SSDLiteClassificationHead", "Feature maps -> [N, boxes, num_classes].", {"num_classes"});
  def_call<SSDLiteClassificationHead>(classes, maps);
  auto regression =
      bind_composed<SSDLiteRegressionHead>(m, "SSDLiteRegressionHead", "Feature maps -> [N, boxes, 4].");
  def_call<SSDLiteRegressionHead>(regression, maps);
  auto head = bind_composed<SSDLiteHead>(
      m, "SSDLiteHead",
      "Feature maps -> {\"bbox_regression\": [N, boxes, 4], \"cls_logits\": [N, boxes, C]}.");
  def_call<SSDLiteHead>(head, maps, "dict[str, ocl._C.Tensor]");
}

/** Losses as a dict, detections as a list of them. */
py::object given_by(SSD& net, const py::args& positional, const py::kwargs& named) {
  const Arguments given = arguments_of(positional, named);
  Value value;
  {
    const PythonUnlocked unlocked;
    value = net.SSD::call(given);
  }
  const py::object result = python_of(value);
  return value.own_sequence() ? py::object(py::list(result)) : result;
}

}  // namespace

void bind_detection(py::module_& models) {
  py::module_ m =
      models.def_submodule("detection", "Nets of object detection, as torchvision.models.detection.");
  bind_parts(m);
  auto net = bind_composed<SSD>(
      m, "SSD",
      "SSD: Single Shot MultiBox Detector (Liu et al. 2016), of SSDlite's parts. Takes a list of pictures "
      "[3, "
      "H, W] in [0, 1] of any sizes. While training it also takes a list of targets, dicts of boxes [M, 4] "
      "(x1, y1, x2, y2) and labels (int64 [M], 0 is no object), and gives the losses bbox_regression and "
      "classification; else for each picture a dict of boxes [K, 4], labels and scores [K], the most likely "
      "first.",
      {"score_thresh", "nms_thresh", "detections_per_img", "iou_thresh", "topk_candidates",
       "positive_fraction"});
  net.def("forward", &given_by,
          call_documentation({{"images", "list[ocl._C.Tensor]"},
                              {"targets", "list[dict[str, ocl._C.Tensor]] | None", "None"}},
                             "dict[str, ocl._C.Tensor] | list[dict[str, ocl._C.Tensor]]")
              .c_str());
  def_nets<SSD>(
      m,
      "SSDlite (Sandler et al. 2018; Howard et al. 2019) over a MobileNetV3, as torchvision's. "
      "weights_backbone: the path of a file of mobilenet_v3_large; trainable_backbone_layers counts "
      "with weights alone.");
}
