"""Interpolation and sampling."""

from __future__ import annotations

import ocl
from ocl.capture import Node
from ocl.onnx.writing import NotWritable, Writer, writes

_MODES = {
    "nearest": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
}


@writes("interpolate")
def interpolate(w: Writer, node: Node) -> str:
    a, x, made = node.arguments, node.arguments["input"], node.results[0]
    mode, n = a["mode"], x.ndim - 2
    if a["antialias"] and w.opset < 18:
        raise NotWritable("with antialias it needs opset 18")
    if mode not in (*_MODES, "nearest-exact"):
        raise NotWritable(f"in mode {mode}")
    if mode == "bicubic" and n != 2:
        raise NotWritable("in mode bicubic of another rank than 4")
    options = {"mode": _MODES.get(mode, "nearest")}
    if mode == "nearest":
        options |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    elif mode == "nearest-exact":
        options |= {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}
    else:
        kind = "align_corners" if a["align_corners"] else "half_pixel"
        options |= {"coordinate_transformation_mode": kind}
    if mode == "bicubic":
        options["cubic_coeff_a"] = -0.75
    if a["antialias"]:
        options["antialias"] = 1
    scales = a["scale_factor"]
    if scales and not a["recompute_scale_factor"]:
        scales = list(scales) * n if len(scales) == 1 else list(scales)

        return w.op("Resize", x, None, w.constant([1, 1, *scales], ocl.float32), **options)
    return w.op("Resize", x, None, None, w.sizes(made.shape), **options)


@writes("grid_sample")
def grid_sample(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    if x.ndim != 4 and w.opset < 20:
        raise NotWritable("of volumes it needs opset 20")
    mode = a["mode"]
    if w.opset >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return w.op("GridSample", x, a["grid"], mode=mode, padding_mode=a["padding_mode"],
                align_corners=int(bool(a["align_corners"])))  # fmt: skip
