"""
Nets of object detection, as torchvision.models.detection.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import ocl._C._nn
import os
import typing
__all__: list[str] = ['DefaultBoxGenerator', 'GeneralizedRCNNTransform', 'SSD', 'SSDLiteClassificationHead', 'SSDLiteFeatureExtractorMobileNet', 'SSDLiteHead', 'SSDLiteRegressionHead', 'ssdlite320_mobilenet_v3_large']
class DefaultBoxGenerator(ocl._C._nn.Module):
    """
    The boxes that SSD starts from.
    """
    aspect_ratios: typing.Any
    clip: typing.Any
    max_ratio: typing.Any
    min_ratio: typing.Any
    scales: typing.Any
    steps: typing.Any
    def __init__(self, aspect_ratios: int | tuple[int, ...] | tuple[int | tuple[int, ...], ...], min_ratio: float = 0.15, max_ratio: float = 0.9, scales: float | tuple[float, ...] | None = None, steps: int | tuple[int, ...] | None = None, clip: bool = True) -> None:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def boxes(self, maps: collections.abc.Sequence[typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"]], picture: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], dtype: ocl._C.dtype = ..., device: ocl._C.device | str | int | None = None) -> ocl._C.Tensor:
        """
        The boxes [boxes, 4] (x1, y1, x2, y2) of all places of feature maps of those sizes.
        """
    def num_anchors_per_location(self) -> list[int]:
        """
        How many boxes stand at a place of each feature map.
        """
class GeneralizedRCNNTransform(ocl._C._nn.Module):
    """
    Makes a batch of pictures: less the mean, over the deviation, of fixed_size (width, height).
    """
    fixed_size: typing.Any
    image_mean: typing.Any
    image_std: typing.Any
    def __init__(self, fixed_size: int | tuple[int, ...] = (320, 320), image_mean: float | tuple[float, ...] = [0.5, 0.5, 0.5], image_std: float | tuple[float, ...] = [0.5, 0.5, 0.5]) -> None:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SSDLiteFeatureExtractorMobileNet(ocl._C._nn.Module):
    """
    [N, 3, H, W] -> feature maps by number, each half the size.
    """
    def __init__(self, norm_layer: str | collections.abc.Callable | None = None, weights_backbone: str | os.PathLike | None = None, trainable_layers: int = 6) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor) -> dict[str, ocl._C.Tensor]:
        ...
    @property
    def out_channels(self) -> list[int]:
        ...
class SSDLiteClassificationHead(ocl._C._nn.Module):
    """
    Feature maps -> [N, boxes, num_classes].
    """
    num_classes: typing.Any
    def __init__(self, in_channels: int | tuple[int, ...], num_anchors: int | tuple[int, ...], num_classes: int, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: list[ocl._C.Tensor]) -> ocl._C.Tensor:
        ...
class SSDLiteRegressionHead(ocl._C._nn.Module):
    """
    Feature maps -> [N, boxes, 4].
    """
    def __init__(self, in_channels: int | tuple[int, ...], num_anchors: int | tuple[int, ...], norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: list[ocl._C.Tensor]) -> ocl._C.Tensor:
        ...
class SSDLiteHead(ocl._C._nn.Module):
    """
    Feature maps -> {"bbox_regression": [N, boxes, 4], "cls_logits": [N, boxes, C]}.
    """
    def __init__(self, in_channels: int | tuple[int, ...], num_anchors: int | tuple[int, ...], num_classes: int, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: list[ocl._C.Tensor]) -> dict[str, ocl._C.Tensor]:
        ...
class SSD(ocl._C._nn.Module):
    """
    SSD: Single Shot MultiBox Detector (Liu et al. 2016), of SSDlite's parts. Takes a list of pictures [3, H, W] in [0, 1] of any sizes. While training it also takes a list of targets, dicts of boxes [M, 4] (x1, y1, x2, y2) and labels (int64 [M], 0 is no object), and gives the losses bbox_regression and classification; else for each picture a dict of boxes [K, 4], labels and scores [K], the most likely first.
    """
    detections_per_img: typing.Any
    iou_thresh: typing.Any
    nms_thresh: typing.Any
    positive_fraction: typing.Any
    score_thresh: typing.Any
    topk_candidates: typing.Any
    def __init__(self, num_classes: int = 91, weights_backbone: str | os.PathLike | None = None, trainable_backbone_layers: int | None = None, norm_layer: str | collections.abc.Callable | None = None, image_mean: float | tuple[float, ...] = [0.5, 0.5, 0.5], image_std: float | tuple[float, ...] = [0.5, 0.5, 0.5], score_thresh: float = 0.001, nms_thresh: float = 0.55, detections_per_img: int = 300, iou_thresh: float = 0.5, topk_candidates: int = 300, positive_fraction: float = 0.25) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, images: list[ocl._C.Tensor], targets: list[dict[str, ocl._C.Tensor]] | None = None) -> dict[str, ocl._C.Tensor] | list[dict[str, ocl._C.Tensor]]:
        ...
def ssdlite320_mobilenet_v3_large(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 91, weights_backbone: str | os.PathLike | None = None, trainable_backbone_layers: int | None = None, norm_layer: str | collections.abc.Callable | None = None, image_mean: float | tuple[float, ...] = [0.5, 0.5, 0.5], image_std: float | tuple[float, ...] = [0.5, 0.5, 0.5], score_thresh: float = 0.001, nms_thresh: float = 0.55, detections_per_img: int = 300, iou_thresh: float = 0.5, topk_candidates: int = 300, positive_fraction: float = 0.25) -> SSD:
    """
    SSDlite (Sandler et al. 2018; Howard et al. 2019) over a MobileNetV3, as torchvision's. weights_backbone: the path of a file of mobilenet_v3_large; trainable_backbone_layers counts with weights alone.
    
    The arguments are SSD's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
