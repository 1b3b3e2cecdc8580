"""The operators that ``torch.nn.SyncBatchNorm`` calls, which PyTorch has for CUDA alone.

They are composed of operators of ocl. Channels are dimension 1. Statistics of 16-bit inputs are float32, as
CUDA's (``aten/src/ATen/native/cuda/Normalization.cu``); the layout of the input stays.
"""

from __future__ import annotations

import torch
from torch import Tensor

_operators = torch.library.Library("aten", "IMPL")  # registered as long as it lives


def _accumulated(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _over_channels(tensor: Tensor) -> list[int]:
    return [dim for dim in range(tensor.dim()) if dim != 1]


def _beside(channels: Tensor, tensor: Tensor) -> Tensor:
    """(C,) as (1, C, 1, …), in the dtype of what is accumulated for ``tensor``."""
    return _accumulated(channels).view(1, -1, *[1] * (tensor.dim() - 2))


def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and 1/√(variance + eps) of each channel; the variance is the biased one."""
    variance, mean = torch.var_mean(_accumulated(input), _over_channels(input), correction=0)
    return mean, (variance + eps).rsqrt()


def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """The statistics of all processes from those of each: ``mean`` and ``invstd`` (processes, C), ``counts``
    (processes,) elements a channel. Updates the running ones, whose variance is the unbiased one."""
    weights = (counts.to(mean.dtype) / counts.sum()).unsqueeze(1)
    whole = (mean * weights).sum(0)
    variance = ((invstd.pow(-2) - eps + (mean - whole).square()) * weights).sum(0)
    if running_mean is not None:
        running_mean.lerp_(whole.to(running_mean.dtype), momentum)
    if running_var is not None:
        count = counts.sum().to(variance.dtype)
        running_var.lerp_((variance * (count / (count - 1))).to(running_var.dtype), momentum)
    return whole, (variance + eps).rsqrt()


def batch_norm_elemt(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float
) -> Tensor:
    """The normalized input, in its dtype."""
    scale = invstd if weight is None else invstd * _accumulated(weight)
    result = (_accumulated(input) - _beside(mean, input)) * _beside(scale, input)
    return (result if bias is None else result + _beside(bias, input)).to(input.dtype)


def batch_norm_backward_reduce(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    """A process's sums of the gradient and of the gradient times (input - mean), and the gradients of weight
    and bias. None stands for what is not asked for."""
    gradient = _accumulated(grad_out)
    sum_dy = gradient.sum(_over_channels(input))
    sum_dy_xmu = (gradient * (_accumulated(input) - _beside(mean, input))).sum(_over_channels(input))
    dtype = sum_dy.dtype if weight is None else weight.dtype
    return (
        sum_dy if input_g else None,
        sum_dy_xmu if input_g else None,
        (sum_dy_xmu * invstd).to(dtype) if weight_g else None,
        sum_dy.to(dtype) if bias_g else None,
    )


def batch_norm_backward_elemt(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
) -> Tensor:
    """The input's gradient, from the sums of all processes and their counts."""
    elements = count.sum().to(sum_dy.dtype)
    scale = invstd if weight is None else invstd * _accumulated(weight)
    from_variance = sum_dy_xmu / elements * invstd.square()
    centred = _accumulated(input) - _beside(mean, input)
    gradient = (
        _accumulated(grad_out) - _beside(sum_dy / elements, input) - centred * _beside(from_variance, input)
    )
    return (gradient * _beside(scale, input)).to(input.dtype)


def install() -> None:
    """Registers them for ocl."""
    for operator in (
        batch_norm_stats,
        batch_norm_gather_stats_with_counts,
        batch_norm_elemt,
        batch_norm_backward_reduce,
        batch_norm_backward_elemt,
    ):
        _operators.impl(operator.__name__, operator, "PrivateUse1")
