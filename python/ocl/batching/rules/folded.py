"""Operators on pictures [N, C, ...]: examples are more pictures, and with weights of their own groups of
channels."""

from __future__ import annotations

from typing import Any

from ocl._C import Tensor
from ocl.batching.rules import Batched, Call, rule
from ocl.batching.rules.losses import joined
from ocl.batching.rules.pointwise import lifted
from ocl.nn import functional


def _folded(rank: int, *tensors: str) -> Any:
    """A rule that makes [B, N, ...] one batch [B * N, ...], of operators whose tensors with a batch have that
    rank, and others one dimension less."""

    def call_rule(call: Call) -> Any:
        named = tensors or ("input",)
        if not call.only(*named):
            return NotImplemented
        batches = {name: call.batch(name) for name in named}
        first = batches[named[0]]
        if first.dim() - 1 == rank - 1:
            made = call.again(**batches)
        else:
            made = call.again(**{name: joined(batch) for name, batch in batches.items()})
        made = made if isinstance(made, (tuple, list)) else [made]
        return [each.reshape(call.size, *shape) for each, (shape, _) in zip(made, call.expected, strict=True)]

    return call_rule


for _dims in (1, 2, 3):
    rule(
        *(
            f"{name}{_dims}d"
            for name in ("max_pool", "avg_pool", "lp_pool", "adaptive_avg_pool", "adaptive_max_pool")
        )
    )(_folded(_dims + 2))
rule("unfold", "fold")(lambda call: _folded(4 if call.name == "unfold" else 3)(call))


@rule("interpolate", "local_response_norm", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
def whole_batch(call: Call) -> Any:
    return _folded(0)(call) if call.batch("input").dim() > 3 else NotImplemented


@rule("grid_sample")
def grid_sample(call: Call) -> Any:
    return _folded(0, "input", "grid")(call)


@rule("affine_grid")
def affine_grid(call: Call) -> Any:
    theta = call.batch("theta")
    size = [call.size * call["size"][0], *call["size"][1:]]
    return call.again(theta=joined(theta), size=size).reshape(call.size, *call.expected[0][0])


@rule("pad")
def pad(call: Call) -> Any:
    batch, count = call.batch("input"), len(call["pad"]) // 2
    rank = batch.dim() - 1
    if call["mode"] == "constant":
        return call.again()
    if rank == count + 1:
        return call.again()  # the example has no batch, which is one
    return call.again(input=joined(batch)).reshape(call.size, *call.expected[0][0])


def _convolution(dims: int, transposed: bool) -> Any:
    def call_rule(call: Call) -> Any:
        weight, bias = call["weight"], call["bias"]
        batch = call["input"]
        example_rank = (batch.tensor.dim() - 1) if isinstance(batch, Batched) else batch.dim()
        single = example_rank == dims + 1
        if not isinstance(weight, Batched):
            x = call.batch("input")
            x = x if single else joined(x)
            late = isinstance(bias, Batched)
            made = call.again(input=x, **({"bias": None} if late else {}))
            made = made.reshape(call.size, *call.expected[0][0])
            if late:
                channels = bias.tensor.reshape(call.size, *([] if single else [1]), -1, *[1] * dims)
                made = made + channels
            return made
        return _by_groups(call, weight.tensor, bias, single, dims)

    return call_rule


def _by_groups(call: Call, weight: Tensor, bias: Any, single: bool, dims: int) -> Tensor:
    """Each example's weights as groups of their own: [N, B * C, ...] with B * groups groups."""
    x = call.batch("input")
    if single:
        x = x.unsqueeze(1)
    size, count, channels = x.shape[:3]
    x = x.transpose(0, 1).reshape(count, size * channels, *x.shape[3:])
    if bias is not None:
        bias = call.batch("bias").reshape(-1)
    made = call.again(input=x, weight=joined(weight), bias=bias, groups=call["groups"] * size)
    made = made.reshape(count, size, made.shape[1] // size, *made.shape[2:]).transpose(0, 1)
    return made.squeeze(1) if single else made


for _dims in (1, 2, 3):
    rule(f"conv{_dims}d")(_convolution(_dims, False))
    rule(f"conv_transpose{_dims}d")(_convolution(_dims, True))


@rule("convolution")
def convolution(call: Call) -> Any:
    return _convolution(len(call["stride"]), call["transposed"])(call)


@rule("batch_norm", "batch_norm_activation")
def batch_norm(call: Call) -> Any:
    """[N, B * C, ...]: the channels of each example are channels of their own."""
    mean, variance = call["running_mean"], call["running_var"]
    if (
        call["training"]
        and mean is not None
        and not (isinstance(mean, Batched) and isinstance(variance, Batched))
    ):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
            "updated in place, were not batched. Please replace all BatchNorm modules, or construct them "
            "with track_running_stats=False, or call eval()"
        )
    x = call.batch("input")
    addend = None if call.get("addend") is None else lifted(call, "input", "addend")["addend"].expand(x.shape)
    size, count = x.shape[:2]
    rest = x.shape[2:] if x.dim() > 2 else (1,)
    x = x.transpose(0, 1).reshape(count, size * rest[0], *rest[1:])
    given = {
        name: None if call[name] is None else call.batch(name).reshape(-1)
        for name in ("running_mean", "running_var", "weight", "bias")
    }
    if addend is not None:
        given["addend"] = addend.transpose(0, 1).reshape(x.shape)
    made = call.again(input=x, **given)
    if call["training"] and mean is not None:
        for name in ("running_mean", "running_var"):
            call[name].tensor.copy_(given[name].reshape(call[name].tensor.shape))
    return made.reshape(count, size, *rest).transpose(0, 1).reshape(call.size, *call.expected[0][0])


@rule("instance_norm")
def instance_norm(call: Call) -> Any:
    if (
        call["running_mean"] is not None
        or isinstance(call["weight"], Batched)
        or isinstance(call["bias"], Batched)
    ):
        return NotImplemented
    return _folded(0)(call) if call.batch("input").dim() > 3 else NotImplemented


def _scaled(call: Call, made: Tensor, channels_at: int | None) -> Tensor:
    """A norm's result times its weight plus its bias, of which some are batches."""
    for name in ("weight", "bias"):
        value = call.get(name)
        if value is None:
            continue
        if channels_at is not None:
            after = made.dim() - channels_at - 1
            shape = ([call.size, *[1] * (channels_at - 1)] if isinstance(value, Batched) else [*[1] * 0]) + [
                -1
            ]
            tensor = (value.tensor if isinstance(value, Batched) else value).reshape(*shape, *[1] * after)
        else:
            tensor = value
            if isinstance(value, Batched):
                shape = value.tensor.shape
                tensor = value.tensor.reshape(call.size, *[1] * (made.dim() - len(shape)), *shape[1:])
        made = made * tensor if name == "weight" else made + tensor
    return made


@rule("layer_norm", "rms_norm")
def layer_norm(call: Call) -> Any:
    if call.only("input"):
        return call.again()
    plain = {"input": call.batch("input"), "weight": None}
    if call.name == "layer_norm":
        plain["bias"] = None
    return _scaled(call, call.again(**plain), None)


@rule("group_norm")
def group_norm(call: Call) -> Any:
    if call.only("input"):
        return _folded(0)(call)
    x = call.batch("input")
    made = functional.group_norm(joined(x), call["num_groups"], eps=call["eps"]).reshape(x.shape)
    return _scaled(call, made, 2)
