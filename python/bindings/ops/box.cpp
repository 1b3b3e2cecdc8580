#include "autograd/ops/box.h"

#include "operator_binder.h"

using ocl::Tensor;

void bind_box(const OperatorBinder& bind) {
  bind.free("box_area", &ocl::box_area, py::arg("boxes"), py::arg("fmt") = "xyxy");
  bind.free("box_convert", &ocl::box_convert, py::arg("boxes"), py::arg("in_fmt"), py::arg("out_fmt"));
  bind.free("box_iou", &ocl::box_iou, py::arg("boxes1"), py::arg("boxes2"), py::arg("fmt") = "xyxy");
  bind.free("clip_boxes_to_image", &ocl::clip_boxes_to_image, py::arg("boxes"), py::arg("size"));
  bind.free("remove_small_boxes", &ocl::remove_small_boxes, py::arg("boxes"), py::arg("min_size"));
  bind.free("nms", &ocl::nms, py::arg("boxes"), py::arg("scores"), py::arg("iou_threshold"));
  bind.free("batched_nms", &ocl::batched_nms, py::arg("boxes"), py::arg("scores"), py::arg("idxs"),
            py::arg("iou_threshold"));
  bind.function(
      "roi_align",
      [](const Tensor& input, const std::variant<Tensor, ocl::TensorList>& boxes, ocl::Pair output_size,
         double spatial_scale, int sampling_ratio, bool aligned) {
        return std::visit(
            [&](const auto& given) {
              return ocl::roi_align(input, given, output_size, spatial_scale, sampling_ratio, aligned);
            },
            boxes);
      },
      py::arg("boxes"), py::arg("output_size"), py::arg("spatial_scale") = 1.0,
      py::arg("sampling_ratio") = -1, py::arg("aligned") = false);
}
