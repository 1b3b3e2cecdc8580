"""The functions of torch.nn.functional, by their names: every operator of the library."""

import warnings
from collections.abc import Callable

from ocl import _C
from ocl._C import *  # noqa: F403
from ocl._C import Tensor
from ocl._C._nn._functional import *  # noqa: F403  (those that take inplace)
from ocl.nn import complex_layers
from ocl.nn.attention_forward import multi_head_attention_forward  # noqa: F401
from ocl.nn.dropouts import alpha_dropout, dropout1d, dropout3d, feature_alpha_dropout  # noqa: F401
from ocl.nn.embedding import embedding, embedding_bag  # noqa: F401
from ocl.nn.fractional_max_pool import (  # noqa: F401
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
)
from ocl.nn.max_unpool import max_unpool1d, max_unpool2d, max_unpool3d  # noqa: F401
from ocl.nn.old_reductions import functions_taking_both
from ocl.nn.sequence_losses import ctc_loss  # noqa: F401
from ocl.sparse.asking import with_sparse_meaning

globals().update(complex_layers.FUNCTIONS)
globals().update(functions_taking_both(globals()))
globals().update(
    with_sparse_meaning("ocl.nn.functional", {"linear": _C.linear, "relu": relu})  # noqa: F405
)


def _implicit_dim(name: str, ndim: int) -> int:
    """The dimension that PyTorch takes where none is given, with its warning."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        UserWarning,
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None
) -> Tensor:
    """Exponentials along ``dim``, which add up to 1; without ``dim`` as PyTorch chooses, with a warning.

    Matches torch.nn.functional.softmax.
    """
    dim = _implicit_dim("softmax", input.ndim) if dim is None else dim
    return _C.softmax(input if dtype is None else input.to(dtype), dim)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None
) -> Tensor:
    """The logarithm of softmax. Matches torch.nn.functional.log_softmax."""
    dim = _implicit_dim("log_softmax", input.ndim) if dim is None else dim
    return _C.log_softmax(input if dtype is None else input.to(dtype), dim)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None
) -> Tensor:
    """softmax of ``-input``. Matches torch.nn.functional.softmin."""
    dim = _implicit_dim("softmin", input.ndim) if dim is None else dim
    return _C.softmin(input if dtype is None else input.to(dtype), dim)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with any distance, by default pairwise_distance.

    Matches torch.nn.functional.triplet_margin_with_distance_loss.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise _C.ArgumentValueError(
            "triplet_margin_with_distance_loss: expected tensors of the same number of dimensions, got "
            f"shapes {tuple(anchor.shape)}, {tuple(positive.shape)} and {tuple(negative.shape)}"
        )
    distance = distance_function or _C.pairwise_distance
    far = distance(anchor, negative)
    if swap:
        far = _C.minimum(far, distance(positive, negative))
    losses = _C.clamp_min(margin + distance(anchor, positive) - far, 0)
    return losses if reduction == "none" else getattr(losses, reduction)()


celu_, elu_, hardtanh_, leaky_relu_, relu_, selu_, threshold_ = (
    getattr(Tensor, f"{_name}_")
    for _name in ("celu", "elu", "hardtanh", "leaky_relu", "relu", "selu", "threshold")
)


def rrelu_(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Tensor:
    """rrelu over its input. Matches torch.nn.functional.rrelu_."""
    return rrelu(input, lower, upper, training, True)  # noqa: F405


def _max_pool_with_indices(axes: int) -> Callable:
    pool = getattr(_C, f"max_pool{axes}d")

    def pool_with_indices(
        input: Tensor,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] | None = None,
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    name = f"max_pool{axes}d_with_indices"
    pool_with_indices.__name__ = pool_with_indices.__qualname__ = name
    pool_with_indices.__doc__ = f"The maxima of windows and their places. Matches torch.nn.functional.{name}."
    return pool_with_indices


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _max_pool_with_indices, (1, 2, 3)
)


def _adaptive_max_pool_with_indices(axes: int) -> Callable:
    pool = getattr(_C, f"adaptive_max_pool{axes}d")

    def pool_with_indices(
        input: Tensor, output_size: int | tuple[int | None, ...], return_indices: bool = False
    ) -> tuple[Tensor, Tensor]:
        return pool(input, output_size, True)

    name = f"adaptive_max_pool{axes}d_with_indices"
    pool_with_indices.__name__ = pool_with_indices.__qualname__ = name
    pool_with_indices.__doc__ = f"The maxima of parts and their places. Matches torch.nn.functional.{name}."
    return pool_with_indices


adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    _adaptive_max_pool_with_indices, (1, 2, 3)
)


def upsample(
    input: Tensor,
    size: int | tuple[int, ...] | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """interpolate by its old name, with PyTorch's warning. Matches torch.nn.functional.upsample."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return _C.interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | tuple[int, ...] | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
) -> Tensor:
    """upsample by the nearest neighbours. Matches torch.nn.functional.upsample_nearest."""
    return upsample(input, size, scale_factor)


def upsample_bilinear(
    input: Tensor,
    size: int | tuple[int, ...] | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
) -> Tensor:
    """upsample by lines between the centres of corners. Matches torch.nn.functional.upsample_bilinear."""
    return upsample(input, size, scale_factor, "bilinear", True)
