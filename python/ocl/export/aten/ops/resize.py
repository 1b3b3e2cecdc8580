"""Pictures of other sizes, and samples at given places."""

import ocl
from ocl.export.aten.table import operator

F = ocl.nn.functional
_MODES = ("bilinear", "nearest", "bicubic")
_PADDING_MODES = ("zeros", "border", "reflection")


@operator("aten.upsample_nearest1d.vec aten.upsample_nearest2d.vec aten.upsample_nearest3d.vec")
def nearest(x, size, factors):
    return F.interpolate(x, size, factors)


@operator(
    "aten._upsample_nearest_exact1d.vec aten._upsample_nearest_exact2d.vec aten._upsample_nearest_exact3d.vec"
)
def nearest_exact(x, size, factors):
    return F.interpolate(x, size, factors, "nearest-exact")


def _smooth(mode: str):
    def resize(x, size, align_corners, factors):
        return F.interpolate(x, size, factors, mode, align_corners)

    return resize


operator("aten.upsample_linear1d.vec")(_smooth("linear"))
operator("aten.upsample_bilinear2d.vec")(_smooth("bilinear"))
operator("aten.upsample_trilinear3d.vec")(_smooth("trilinear"))


@operator("aten.grid_sampler_2d.default aten.grid_sampler_3d.default aten.grid_sampler.default")
def grid_sampler(x, grid, mode, padding_mode, align_corners):
    return F.grid_sample(x, grid, _MODES[mode], _PADDING_MODES[padding_mode], align_corners)


@operator("aten.affine_grid_generator.default")
def affine_grid(theta, size, align_corners):
    return F.affine_grid(theta, size, align_corners)
