"""Batch norms that are folded into the layers before them: torch.nn.utils.fusion."""

from __future__ import annotations

import copy

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Module:
    """A convolution that gives what ``bn(conv(x))`` gives in evaluation; both stay as they are.

    ``transpose`` says that it is a transposed convolution. AssertionError where one of them is in training.
    (torch.nn.utils.fuse_conv_bn_eval)
    """
    assert not (conv.training or bn.training), "Fusion only for eval!"
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of the convolution that does both."""
    return _folded(conv_w, conv_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 1 if transpose else 0)


def fuse_linear_bn_eval(linear: Module, bn: Module) -> Module:
    """A linear layer that gives what ``bn(linear(x))`` gives in evaluation.

    Matches torch.nn.utils.fuse_linear_bn_eval.

    AssertionError where one of them is in training, or where their sizes differ and the norm has more than
    one feature.
    """
    assert not (linear.training or bn.training), "Fusion only for eval!"
    assert linear.out_features == bn.num_features or bn.num_features == 1, (
        "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
    )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of the linear layer that does both."""
    return _folded(linear_w, linear_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 0)


def _folded(weight: Tensor, bias: Tensor | None, norm: tuple, dim: int) -> tuple[Parameter, Parameter]:
    mean, variance, eps, scale, shift = norm
    factor = _C.rsqrt(variance + eps)
    if scale is not None:
        factor = factor * scale
    shape = [1] * weight.ndim
    shape[dim] = -1
    folded = (weight * factor.reshape(shape)).to(weight.dtype)
    rest = ((0 if bias is None else bias) - mean) * factor
    if shift is not None:
        rest = rest + shift
    has_grad = weight.requires_grad, bias.requires_grad if bias is not None else weight.requires_grad
    return Parameter(folded.detach(), has_grad[0]), Parameter(rest.detach(), has_grad[1])
