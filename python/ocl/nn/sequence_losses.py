"""Connectionist temporal classification, made of operators over the time steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module

__all__ = ["CTCLoss", "ctc_loss"]

# Stands for the logarithm of 0: differences of infinities would make gradients NaN.
_LOG_ZERO = -1e30

Lengths = Tensor | Sequence[int]


def _numbers(which: str, lengths: Lengths, batch: int, largest: int) -> list[int]:
    """The lengths as numbers, checked."""
    if isinstance(lengths, Tensor):
        numbers = lengths.reshape(-1).tolist()
    else:
        numbers = [lengths] if isinstance(lengths, int) else [int(n) for n in lengths]
    if len(numbers) != batch:
        raise _C.ArgumentValueError(f"ctc_loss: {which} must be of size {batch}, got {len(numbers)}")
    for number in numbers:
        if not 0 <= number <= largest:
            raise _C.ArgumentValueError(f"ctc_loss: expected {which} between 0 and {largest}, got {number}")
    return numbers


def _padded_targets(targets: Tensor, lengths: list[int], counts: Tensor, blank: int) -> Tensor:
    """The targets as [N, S], with `blank` after the end of each."""
    batch, longest = len(lengths), max(lengths)
    given = targets.detach().to(_C.int64)
    if longest == 0:
        return _C.zeros((batch, 0), dtype=_C.int64, device=targets.device)
    place = _C.arange(longest, device=targets.device)
    is_label = place.unsqueeze(0) < counts.unsqueeze(1)
    if given.ndim == 2:
        return _C.where(is_label, given.narrow(1, 0, longest), blank)
    starts = _C.tensor([0, *accumulate(lengths[:-1])], device=targets.device)
    places = _C.where(is_label, starts.unsqueeze(1) + place, 0)
    taken = _C.index_select(given, 0, places.reshape(-1)).reshape(batch, longest)
    return _C.where(is_label, taken, blank)


def _moved_right(alpha: Tensor, count: int) -> Tensor:
    """The columns moved right by `count`, with the logarithm of 0 before them."""
    batch, states = alpha.shape
    filled = min(count, states)
    before = _C.full((batch, filled), _LOG_ZERO, dtype=alpha.dtype, device=alpha.device)
    return _C.cat([before, alpha.narrow(1, 0, states - filled)], 1) if filled < states else before


def _losses(log_probs: Tensor, labels: Tensor, inputs: Tensor, counts: Tensor, blank: int) -> Tensor:
    """The loss of each sequence, infinite where no alignment exists.

    The recursion is over alpha, the logarithms of the probabilities of prefixes. (Graves et al. 2006)
    """
    steps, batch, _ = log_probs.shape
    length = labels.shape[1]
    states, like = 2 * length + 1, {"dtype": log_probs.dtype, "device": log_probs.device}
    extended = _C.full((batch, 1), blank, dtype=_C.int64, device=labels.device)
    if length:
        pairs = _C.stack([_C.full_like(labels, blank), labels], 2).reshape(batch, 2 * length)
        extended = _C.cat([pairs, extended], 1)
    state = _C.arange(states, device=log_probs.device)
    # A blank between two different labels may be left out.
    can_skip = _C.zeros((batch, min(2, states)), dtype=_C.bool_, device=labels.device)
    if states > 2:
        differs = _C.ne(extended.narrow(1, 2, states - 2), extended.narrow(1, 0, states - 2))
        can_skip = _C.logical_and(_C.cat([can_skip, differs], 1), _C.eq(_C.remainder(state, 2), 1))
    wanted = extended.unsqueeze(0).expand(steps, batch, states)
    emitted = _C.clamp_min(_C.gather(log_probs, 2, wanted), _LOG_ZERO)
    alpha = _C.full((batch, states), _LOG_ZERO, **like)
    if steps:
        alpha = _C.where(state < 2, emitted[0], alpha)
    ends = inputs.unsqueeze(1)
    for t in range(1, steps):
        skipped = _C.where(can_skip, _moved_right(alpha, 2), _LOG_ZERO)
        reached = _C.logaddexp(_C.logaddexp(alpha, _moved_right(alpha, 1)), skipped)
        alpha = _C.where(ends > t, reached + emitted[t], alpha)
    last = counts.unsqueeze(1) * 2
    at_label = _C.where(last > 0, _C.gather(alpha, 1, _C.clamp_min(last - 1, 0)), _LOG_ZERO)
    losses = -_C.logaddexp(_C.gather(alpha, 1, last), at_label).squeeze(1)
    of_nothing = _C.where(_C.eq(counts, 0), 0.0, _C.full((batch,), -_LOG_ZERO, **like))
    losses = _C.where(_C.eq(inputs, 0), of_nothing, losses)
    return _C.where(losses >= -_LOG_ZERO / 2, float("inf"), losses)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences under all their alignments.

    log_probs: [T, N, C] or [T, C], which log_softmax gives; targets (int64 or int32): [N, S], or all labels
    of the batch one after another. Lengths that are tensors make it wait. The mean is that of the losses over
    their target lengths. The gradient is that of the formula. Through log_softmax it equals PyTorch's, which
    adds the probabilities before. Raises ValueError for shapes, lengths and a blank that do not fit,
    TypeError for dtypes. (torch.nn.functional.ctc_loss)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if log_probs.ndim not in (2, 3):
        raise _C.ArgumentValueError(
            f"ctc_loss: expected log_probs [T, N, C] or [T, C], got shape {tuple(log_probs.shape)}"
        )
    if not log_probs.is_floating_point():
        raise _C.ArgumentTypeError(f"ctc_loss: expected log_probs of a floating dtype, got {log_probs.dtype}")
    if targets.dtype not in (_C.int64, _C.int32):
        raise _C.ArgumentTypeError(f"ctc_loss: expected targets of int64 or int32, got {targets.dtype}")
    is_batch = log_probs.ndim == 3
    x = log_probs if is_batch else log_probs.unsqueeze(1)
    x = x if x.dtype == _C.float64 else x.to(_C.float32)
    steps, batch, classes = x.shape
    if not 0 <= blank < classes:
        raise _C.ArgumentValueError(
            f"ctc_loss: blank must be in label range, got {blank} of {classes} classes"
        )
    if batch == 0:
        raise _C.ArgumentValueError("ctc_loss: expected a batch that is not empty")
    if targets.ndim != 1 and (targets.ndim != 2 or targets.shape[0] != batch):
        raise _C.ArgumentValueError(
            f"ctc_loss: expected targets [N, S] or [sum of target_lengths], got shape {tuple(targets.shape)}"
        )
    inputs = _numbers("input_lengths", input_lengths, batch, steps)
    lengths = _numbers("target_lengths", target_lengths, batch, targets.shape[-1])
    if targets.ndim == 1 and sum(lengths) != targets.shape[0]:
        raise _C.ArgumentValueError(
            f"ctc_loss: target_lengths sum to {sum(lengths)}, but there are {targets.shape[0]} targets"
        )
    counts = _C.tensor(lengths, device=x.device)
    labels = _padded_targets(targets, lengths, counts, blank)
    losses = _losses(x, labels, _C.tensor(inputs, device=x.device), counts, blank)
    if zero_infinity:
        losses = _C.where(_C.isinf(losses), 0.0, losses)
    if reduction == "mean":
        losses = (losses / _C.clamp_min(counts, 1).to(losses.dtype)).mean()
    elif reduction == "sum":
        losses = losses.sum()
    elif not is_batch:
        losses = losses.squeeze(0)
    return losses.to(log_probs.dtype)


class CTCLoss(Module):
    """Connectionist temporal classification of log_probs [T, N, C]. (torch.nn.CTCLoss)"""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank = blank
        self.reduction = reduction
        self.zero_infinity = zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths
    ) -> Tensor:
        lengths = input_lengths, target_lengths
        return ctc_loss(log_probs, targets, *lengths, self.blank, self.reduction, self.zero_infinity)
