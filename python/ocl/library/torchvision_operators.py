"""torchvision's compiled operators, under their names: those that ocl has compute, others refuse the call."""

from __future__ import annotations

from typing import NoReturn

from ocl import _C
from ocl._C import Tensor
from ocl.library.operators import defined
from ocl.library.schemas import parsed

__all__ = ["define_all"]


def _roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    return _C._ops.roi_align(
        input, rois, (pooled_height, pooled_width), spatial_scale, sampling_ratio, aligned
    )


# Operators of ocl's, which have gradients of their own.
_COMPUTED = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": _C._ops.nms,
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor": _roi_align,
    "_cuda_version() -> int": lambda: -1,
}
_POOL = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_PICTURES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_DEFORM = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
    "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, "
    "bool use_mask"
)
_REFUSED = (
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
    f"roi_pool(Tensor input, Tensor rois, {_POOL}) -> (Tensor, Tensor)",
    f"ps_roi_align(Tensor input, Tensor rois, {_POOL}, int sampling_ratio) -> (Tensor, Tensor)",
    f"ps_roi_pool(Tensor input, Tensor rois, {_POOL}) -> (Tensor, Tensor)",
    f"deform_conv2d({_DEFORM}) -> Tensor",
    f"_roi_align_backward(Tensor grad, Tensor rois, {_POOL}, {_PICTURES}, int sampling_ratio, bool aligned) "
    "-> Tensor",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_POOL}, {_PICTURES}) -> Tensor",
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOL}, int sampling_ratio, "
    f"{_PICTURES}) -> Tensor",
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOL}, {_PICTURES}) "
    "-> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_DEFORM}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def _refusing(name: str):
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(
            f"torchvision::{name} is compiled for PyTorch, and ocl, which stands for it here, has no such "
            "operator: of torchvision's it has nms and roi_align"
        )

    return refuse


_are_defined = False


def define_all() -> None:
    """Defines them, once."""
    global _are_defined
    if _are_defined:
        return
    _are_defined = True
    for declared in (*_COMPUTED, *_REFUSED):
        name, bracket, rest = declared.partition("(")
        operator = defined(f"torchvision::{name}", parsed(bracket + rest))
        operator.kernels["CompositeImplicitAutograd"] = _COMPUTED.get(declared) or _refusing(name)
