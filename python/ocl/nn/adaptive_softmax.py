"""The softmax of many classes, whose rare ones stand in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Linear, Module, ModuleList, Sequential

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log probabilities of the targets, and their negative mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of classes. Those below cutoffs[0] are computed always, and the others by clusters
    where a target is among them. (torch.nn.AdaptiveLogSoftmaxWithLoss)

    A cluster's projection has in_features / div_value ** (its place + 1) columns. ValueError for cutoffs that
    do not rise between 1 and n_classes - 1.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                f"where each value is between 1 and n_classes-1, got {cutoffs} for {n_classes} classes"
            )
        if any(int(c) != c for c in cutoffs):
            raise ValueError(f"cutoffs should be whole numbers, got {cutoffs}")
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        made = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **made), Linear(hidden, size, bias=False, **made)
                )
            )

    def reset_parameters(self) -> None:
        """Draws all parameters anew."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster:
                layer.reset_parameters()

    def _check(self, input: Tensor, target: Tensor) -> None:
        if tuple(target.shape) != tuple(input.shape[:-1]) or target.ndim > 1:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension, and 1 or 2 and 0 or 1 "
                f"dimensions, got {tuple(input.shape)} and {tuple(target.shape)}"
            )
        if target.numel() and ((target < 0) | (target >= self.n_classes)).any().item():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found."
            )

    def forward(self, input: Tensor, target: Tensor) -> _ASMoutput:
        """The log probability of each target [N] for input [N, in_features], and the loss. Waits."""
        self._check(input, target)
        if target.ndim == 0:
            output, loss = self.forward(input.unsqueeze(0), target.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        in_head = target.clamp(max=self.shortlist_size)
        clusters = _C.zeros_like(target)
        for i in range(1, self.n_clusters):
            clusters = clusters + (target >= self.cutoffs[i]).to(target.dtype)
        in_head = _C.where(target < self.shortlist_size, in_head, self.shortlist_size + clusters)
        output = _C.log_softmax(self.head(input), 1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero()[:, 0]
            if rows.numel():
                within = (target[rows] - low).unsqueeze(1)
                added = _C.log_softmax(cluster(input[rows]), 1).gather(1, within).squeeze(1)
                output = _C.index_add(output, 0, rows, added.to(output.dtype))
        return _ASMoutput(output, -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities [N, n_classes] of all classes."""
        head = _C.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(_C.log_softmax(cluster(input), 1) + of_cluster)
        return _C.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The class of the highest probability for each row."""
        return self.log_prob(input).argmax(1)
