"""Parts of nets and operators on boxes, as torchvision.ops."""

from ocl._C._models import MLP, Conv2dNormActivation, Permute, SqueezeExcitation
from ocl._C._ops import (
    batched_nms,
    box_area,
    box_convert,
    box_iou,
    clip_boxes_to_image,
    nms,
    remove_small_boxes,
    roi_align,
)
from ocl.nn import StochasticDepth

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "Permute",
    "SqueezeExcitation",
    "StochasticDepth",
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "nms",
    "remove_small_boxes",
    "roi_align",
]
