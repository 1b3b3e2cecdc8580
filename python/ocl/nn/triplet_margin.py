"""The triplet loss with a distance of the caller's."""

from __future__ import annotations

from collections.abc import Callable

from ocl._C import Tensor
from ocl._C._nn import Module, PairwiseDistance
from ocl.nn import functional

__all__ = ["TripletMarginWithDistanceLoss"]


class TripletMarginWithDistanceLoss(Module):
    """Hinge loss of the distances of an anchor from two others. (torch.nn.TripletMarginWithDistanceLoss)"""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap
        self.reduction = reduction

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
