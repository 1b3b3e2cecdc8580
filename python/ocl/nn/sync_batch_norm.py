"""Batch norm over the batches of all processes of a group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ocl
from ocl._C import ArgumentValueError, Tensor
from ocl._C._distributed import ReduceOp
from ocl._C._nn import BatchNorm2d, Module
from ocl.autograd.function import Function, FunctionCtx

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm2d):
    """Batch norm of ``[N, C, ...]``, of any rank from 2, over all processes. (torch.nn.SyncBatchNorm)

    In training the statistics are those of the batches of all processes together, which may have different
    lengths, none as well. All processes call forward, and run backward where one does. Outside of a group,
    in a group of one process and in evaluation it is batch norm of this process.

    Args:
        num_features: C.
        eps, momentum, affine, track_running_stats, device, dtype, bias: as those of BatchNorm2d.
        process_group: all processes where None.

    Raises:
        ValueError: the input has fewer than 2 dimensions, no channels, or others than ``num_features``.
        DistBackendError: a rank has ended, hangs, or calls something else.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias
        )
        self.process_group = process_group

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (PyTorch's name)
        self._check(input)
        if self.training and _spans_processes(self.process_group):
            return self._of_all_processes(input)
        planes = input if input.dim() == 4 else input.reshape(*input.shape[:2], math.prod(input.shape[2:]), 1)
        return super().forward(planes).reshape(input.shape)

    def _check(self, input: Tensor) -> None:  # noqa: A002
        if input.dim() < 2:
            raise ArgumentValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.shape[1] == 0:
            raise ArgumentValueError("SyncBatchNorm number of input channels should be non-zero")
        if input.shape[1] != self.num_features:
            raise ArgumentValueError(
                f"SyncBatchNorm: expected {self.num_features} channels, got shape {tuple(input.shape)}"
            )

    def _of_all_processes(self, input: Tensor) -> Tensor:  # noqa: A002
        running, momentum = (), self.momentum
        if self.track_running_stats:
            running = (self.running_mean, self.running_var)
            self.num_batches_tracked.add_(1)
            if momentum is None:
                momentum = 1 / self.num_batches_tracked.item()
        return _NormalizedByAll.apply(
            input, self.weight, self.bias, self.eps, self.process_group, running, momentum
        )

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with a SyncBatchNorm for each batch norm in it, which has the same parameters and
        buffers. A module that is a batch norm itself gives a new module."""
        return _converted(module, process_group, {})


def _spans_processes(process_group: Any) -> bool:
    from ocl import distributed

    return distributed.is_initialized() and distributed.get_world_size(process_group) > 1


def _converted(module: Module, process_group: Any, done: dict[int, Module]) -> Module:
    from ocl.nn.modules.kinds import _BatchNorm

    if id(module) in done:
        return done[id(module)]
    result = module
    if isinstance(module, _BatchNorm):
        result = SyncBatchNorm(
            module.num_features,
            module.eps,
            module.momentum,
            module.affine,
            module.track_running_stats,
            process_group,
            bias=module.bias is not None,
        )
        result.weight, result.bias = module.weight, module.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            setattr(result, name, getattr(module, name))
        result.train(module.training)
        if hasattr(module, "qconfig"):
            result.qconfig = module.qconfig
    done[id(module)] = result
    for name, child in list(module._modules.items()):
        if child is not None:
            result.add_module(name, _converted(child, process_group, done))
    return result


class _SumOfAll(Function):
    """The sum of the processes' tensors, which all of them get."""

    @staticmethod
    def forward(ctx: FunctionCtx, own: Tensor, process_group: Any) -> Tensor:
        from ocl import distributed

        ctx.process_group = process_group
        result = own.clone()
        distributed.all_reduce(result, ReduceOp.SUM, process_group)
        return result

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
        return _SumOfAll.apply(gradient, ctx.process_group), None


class _NormalizedByAll(Function):
    """Batch norm by the statistics of all processes. Moves the running statistics, where there are any."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        eps: float,
        process_group: Any,
        running: Sequence[Tensor],
        momentum: float,
    ) -> Tensor:
        mean, variance, count = _statistics_of_all(x, process_group)
        if running:
            unbiased = variance * (count / (count - 1).clamp(min=1))
            for statistic, value in zip(running, (mean, unbiased), strict=True):
                moved = _wide(statistic).lerp(_wide(value), momentum * (count > 0).to(value.dtype))
                statistic.copy_(moved)
        ctx.save_for_backward(x, weight, bias)
        ctx.eps, ctx.process_group = eps, process_group
        ctx.mean, ctx.variance, ctx.count = mean, variance, count.clamp(min=1)
        with ocl.enable_grad():
            scale = ocl.ones_like(mean) if weight is None else _like_statistics(weight, x).detach()
            shift = ocl.zeros_like(mean) if bias is None else _like_statistics(bias, x).detach()
            ctx.affine = scale.requires_grad_(), shift.requires_grad_()
            # The operator for given statistics; its kernels make the sums that backward exchanges.
            ctx.normalized = ocl.batch_norm(x.detach(), mean, variance, *ctx.affine, False, 0.0, eps)
        return ctx.normalized.detach()

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if ocl.is_grad_enabled():
            return _gradients_on_the_tape(ctx, gradient)
        x, weight, bias = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad[:3]
        times_normalized, plain = ocl.autograd.grad(
            ctx.normalized, ctx.affine, gradient.to(x.dtype), retain_graph=True
        )
        of_x = None
        if wants_x:
            sums = _SumOfAll.apply(ocl.cat([plain, times_normalized]), ctx.process_group) / ctx.count
            of_x = _gradient_of_input(ctx, _wide(x), _wide(gradient), *sums.chunk(2)).to(x.dtype)
        return (
            of_x,
            times_normalized.to(weight.dtype) if wants_weight else None,
            plain.to(bias.dtype) if wants_bias else None,
            *[None] * 4,
        )


def _gradient_of_input(
    ctx: FunctionCtx, x: Tensor, gradient: Tensor, from_mean: Tensor, from_variance: Tensor
) -> Tensor:
    """scale / √(variance + eps) * (gradient - from_mean - normalized x * from_variance), in the two calls of
    batch norm's own kernels that know channels."""
    scale = ctx.affine[0].detach() * (ctx.variance + ctx.eps).rsqrt()
    zeros, ones = ocl.zeros_like(scale), ocl.ones_like(scale)
    centred = ocl.batch_norm(gradient, zeros, ones, scale, -scale * from_mean, False, 0.0, 0.0)
    return ocl.batch_norm_activation(
        x, ctx.mean, ctx.variance, -scale * from_variance, None, False, 0.0, ctx.eps, "", centred
    )


def _gradients_on_the_tape(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients as functions of the inputs, for gradients of gradients."""
    x, weight, bias = ctx.saved_tensors

    def mean_over_all(terms: Tensor) -> Tensor:
        return _beside(_SumOfAll.apply(terms.sum(_but_channels(x)), ctx.process_group) / ctx.count, x)

    centred = _wide(x) - mean_over_all(_wide(x))
    result = centred * (mean_over_all(centred.square()) + ctx.eps).rsqrt()
    if weight is not None:
        result = result * _beside(_like_statistics(weight, x), x)
    if bias is not None:
        result = result + _beside(_like_statistics(bias, x), x)
    wanted = [i for i in range(3) if ctx.needs_input_grad[i]]
    found = ocl.autograd.grad(
        result.to(x.dtype), [(x, weight, bias)[i] for i in wanted], gradient, create_graph=True
    )
    gradients: list[Tensor | None] = [None] * 7
    for i, each in zip(wanted, found, strict=True):
        gradients[i] = each
    return tuple(gradients)


def _statistics_of_all(x: Tensor, process_group: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and biased variance of each channel over the elements of all processes, and their number a
    channel; 0 where there are none."""
    from ocl import distributed

    channels = x.shape[1]
    own_count = x.numel() // channels
    mean = _wide(x).sum(_but_channels(x)) if own_count < 2 else _wide(x.new_zeros(channels))
    variance = ocl.zeros_like(mean)
    if own_count > 1:  # with momentum 1 the batch's statistics take the running ones' places
        ocl.batch_norm(x, mean, variance, training=True, momentum=1.0)
        variance *= (own_count - 1) / own_count
    count = ocl.full((1,), own_count, dtype=mean.dtype, device=x.device)
    own = ocl.cat([mean, variance, count])
    size = distributed.get_world_size(process_group)
    every = ocl.empty(size, own.numel(), dtype=own.dtype, device=x.device)
    distributed.all_gather_into_tensor(every, own, process_group)
    means, variances, counts = every.split([channels, channels, 1], 1)
    total = counts.sum()
    shares = counts / total.clamp(min=1)
    mean = (means * shares).sum(0)
    variance = ((variances + (means - mean).square()) * shares).sum(0)
    return mean, variance, total


def _but_channels(x: Tensor) -> list[int]:
    return [dim for dim in range(x.dim()) if dim != 1]


def _beside(channels: Tensor, x: Tensor) -> Tensor:
    """[C] as [1, C, 1, ...]."""
    return channels.view(1, -1, *[1] * (x.dim() - 2))


def _wide(tensor: Tensor) -> Tensor:
    """In the dtype that norms compute in."""
    return tensor.float() if tensor.dtype in (ocl.float16, ocl.bfloat16) else tensor


def _like_statistics(parameter: Tensor, x: Tensor) -> Tensor:
    """Parameters of a net that is 16 bits wide throughout are computed with in float32; others stay, and the
    operator refuses those of a wrong dtype."""
    return _wide(parameter) if parameter.dtype == x.dtype else parameter
