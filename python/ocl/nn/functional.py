"""The functions of torch.nn.functional, by their names: every operator of the library."""

from collections.abc import Callable

from ocl import _C
from ocl._C import *  # noqa: F403
from ocl._C import Tensor
from ocl._C._nn._functional import *  # noqa: F403  (those that take inplace)


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
