"""The functions of torch.nn.functional, by their names: every operator of the library."""

import warnings
from collections.abc import Callable

from ocl import _C
from ocl._C import *  # noqa: F403
from ocl._C import Tensor
from ocl._C._nn._functional import *  # noqa: F403  (those that take inplace)
from ocl.nn.max_unpool import max_unpool1d, max_unpool2d, max_unpool3d  # noqa: F401
from ocl.nn.sequence_losses import ctc_loss  # noqa: F401


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
