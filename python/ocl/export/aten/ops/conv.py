"""Convolutions."""

import ocl
from ocl.export.aten.table import operators

F = ocl.nn.functional

operators(
    "conv",
    {
        "aten.convolution.default": ocl.convolution,
        "aten.conv1d.default": F.conv1d,
        "aten.conv1d.padding": F.conv1d,
        "aten.conv2d.default": F.conv2d,
        "aten.conv2d.padding": F.conv2d,
        "aten.conv3d.default": F.conv3d,
        "aten.conv3d.padding": F.conv3d,
        "aten.conv_transpose1d.default": F.conv_transpose1d,
        "aten.conv_transpose2d.input": F.conv_transpose2d,
        "aten.conv_transpose3d.input": F.conv_transpose3d,
    },
)
