"""Boxes."""

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import scalar


def _max(attributes, version: int) -> str:
    return "" if attributes.get("mode", "avg") == "avg" else "mode 'avg' expected, got 'max'"


@operator("RoiAlign", refuses=_max)
def roi_align(call, x, boxes, images):
    default = "half_pixel" if call.version >= 16 else "output_half_pixel"
    aligned = call.get("coordinate_transformation_mode", default) == "half_pixel"
    boxes = ocl.cat([images.to(boxes.dtype).unsqueeze(1), boxes], 1)
    size = call.get("output_height", 1), call.get("output_width", 1)
    ratio = call.get("sampling_ratio", 0)
    return ocl.ops.roi_align(x, boxes, size, call.get("spatial_scale", 1.0), ratio or -1, aligned)


@operator("NonMaxSuppression", host=(2, 3, 4))
def non_max_suppression(call, boxes, scores, most=None, overlap=None, least=None):
    most, overlap = int(scalar(most, 0)), float(scalar(overlap, 0.0))
    kept = []
    for image in range(scores.shape[0]):
        corners = _corners(boxes[image], call.get("center_point_box", 0))
        for category in range(scores.shape[1]):
            row = scores[image, category]
            places = ocl.ops.nms(corners, row, overlap)
            if least is not None:
                places = ocl.masked_select(places, ocl.index_select(row, 0, places) > float(scalar(least)))
            places = places[:most]
            front = np.tile(np.array([image, category], np.int64), (places.shape[0], 1))
            kept.append(ocl.cat([call.tensor(front), places.unsqueeze(1)], 1))
    return ocl.cat(kept, 0)


def _corners(boxes, centred: int):
    if centred:
        return ocl.ops.box_convert(boxes, "cxcywh", "xyxy")
    a, b = boxes[:, :2], boxes[:, 2:]  # y and x of any two opposite corners
    return ocl.cat([ocl.minimum(a, b), ocl.maximum(a, b)], 1)
