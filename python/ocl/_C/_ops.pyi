"""
Operators on boxes, as torchvision.ops.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import typing
__all__: list[str] = ['batched_nms', 'box_area', 'box_convert', 'box_iou', 'clip_boxes_to_image', 'nms', 'remove_small_boxes', 'roi_align']
def batched_nms(boxes: ocl._C.Tensor, scores: ocl._C.Tensor, idxs: ocl._C.Tensor, iou_threshold: typing.SupportsFloat | typing.SupportsIndex) -> ocl._C.Tensor:
    """
    nms within each category: only boxes of one number in idxs [N] (int64 or int32) suppress each other. Waits for their number.
    """
def box_area(boxes: ocl._C.Tensor, fmt: str = 'xyxy') -> ocl._C.Tensor:
    """
    The areas of boxes [..., 4] in the format xyxy, xywh or cxcywh; ocl.ops.box_area, as all of this family.
    """
def box_convert(boxes: ocl._C.Tensor, in_fmt: str, out_fmt: str) -> ocl._C.Tensor:
    """
    Boxes [..., 4] in another of the formats xyxy, xywh and cxcywh.
    """
def box_iou(boxes1: ocl._C.Tensor, boxes2: ocl._C.Tensor, fmt: str = 'xyxy') -> ocl._C.Tensor:
    """
    Intersection over union of every pair of boxes [..., N, 4] and [..., M, 4] -> [..., N, M].
    """
def clip_boxes_to_image(boxes: ocl._C.Tensor, size: int | tuple[int, int]) -> ocl._C.Tensor:
    """
    Boxes [..., 4] held within a picture of size (height, width).
    """
def nms(boxes: ocl._C.Tensor, scores: ocl._C.Tensor, iou_threshold: typing.SupportsFloat | typing.SupportsIndex) -> ocl._C.Tensor:
    """
    Where the boxes [N, 4] stand, highest of scores [N] first, that overlap with none kept before by more than iou_threshold: int64 [K]; of equal scores the first counts as the higher, NaN as the highest. Waits for their number.
    """
def remove_small_boxes(boxes: ocl._C.Tensor, min_size: typing.SupportsFloat | typing.SupportsIndex) -> ocl._C.Tensor:
    """
    Where the boxes [N, 4] stand both of whose sides are min_size and more: int64 [K]. Waits for their number.
    """
@typing.overload
def roi_align(input: ocl._C.Tensor, boxes: ocl._C.Tensor, output_size: int | tuple[int, int], spatial_scale: typing.SupportsFloat | typing.SupportsIndex = 1.0, sampling_ratio: typing.SupportsIndex = -1, aligned: bool = False) -> ocl._C.Tensor:
    """
    Means over the output_size bins of boxes on input [N, C, H, W], of bilinear samples -> [K, C, PH, PW]; boxes: [K, 5] (image, x1, y1, x2, y2), or a list with the boxes [L, 4] of each image.
    """
@typing.overload
def roi_align(input: ocl._C.Tensor, boxes: collections.abc.Sequence[ocl._C.Tensor], output_size: int | tuple[int, int], spatial_scale: typing.SupportsFloat | typing.SupportsIndex = 1.0, sampling_ratio: typing.SupportsIndex = -1, aligned: bool = False) -> ocl._C.Tensor:
    """
    Means over the output_size bins of boxes on input [N, C, H, W], of bilinear samples -> [K, C, PH, PW]; boxes: [K, 5] (image, x1, y1, x2, y2), or a list with the boxes [L, 4] of each image.
    """
