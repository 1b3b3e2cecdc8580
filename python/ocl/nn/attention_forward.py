"""Attention with several heads as a function of its weights, composed of operators."""

from __future__ import annotations

import functools
import math
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl._C._nn import MultiheadAttention
from ocl.batching.example import current

__all__ = ["multi_head_attention_forward"]

_NAME = "multi_head_attention_forward"


def _addend(what: str, mask: Tensor, dtype: Any) -> Tensor:
    """The addend that a mask makes of the scores: minus infinity where a mask of truths is True."""
    if mask.dtype == _C.bool_:
        return _C.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)
    if not mask.is_floating_point():
        raise ArgumentTypeError(f"{_NAME}: expected {what} of dtype bool or floating, got {mask.dtype}")
    return mask.to(dtype)


def _joined_masks(
    attn_mask: Tensor | None, padding: Tensor | None, sizes: tuple[int, int, int, int], dtype: Any
) -> Tensor | None:
    """The addend of scores of ``sizes`` (items, heads, queries, keys), or None."""
    items, heads, queries, keys = sizes
    result = None
    if attn_mask is not None:
        if tuple(attn_mask.shape) not in ((queries, keys), (items * heads, queries, keys)):
            raise ArgumentValueError(
                f"{_NAME}: The shape of the attn_mask is {tuple(attn_mask.shape)}, but should be "
                f"{(queries, keys)} or {(items * heads, queries, keys)}"
            )
        result = _addend("attn_mask", attn_mask, dtype)
        if attn_mask.ndim == 3:
            result = result.reshape(items, heads, queries, keys)
    if padding is not None:
        if tuple(padding.shape) != (items, keys) and not (items == 1 and tuple(padding.shape) == (keys,)):
            raise ArgumentValueError(
                f"{_NAME}: expected key_padding_mask of shape {(items, keys)}, got {tuple(padding.shape)}"
            )
        own = _addend("key_padding_mask", padding, dtype).reshape(items, 1, 1, keys)
        result = own if result is None else result + own
    return result


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The attention of ``MultiheadAttention`` with the weights given, of query [queries, N, E], key and value
    [keys, N, width], or of tensors without N.

    Gives the output and, with ``need_weights``, the weights [N, queries, keys], of each head with
    ``average_attn_weights=False``. ``static_k`` and ``static_v`` [N * heads, keys, E / heads] take the
    place of projected keys and values. ValueError for shapes that do not fit. Matches
    torch.nn.functional.multi_head_attention_forward.
    """
    is_batched = query.ndim == 3
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise ArgumentValueError(
            f"{_NAME}: expected query, key and value of 3 dimensions, or 2 without a batch, got "
            f"{query.ndim}, {key.ndim} and {value.ndim}"
        )
    if is_causal and attn_mask is None:
        raise ArgumentValueError(f"{_NAME}: Need attn_mask if specifying the is_causal hint.")
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
    queries, items, width = query.shape
    if width != embed_dim_to_check or width % num_heads:
        raise ArgumentValueError(
            f"{_NAME}: was expecting embedding dimension of {embed_dim_to_check}, divisible by num_heads "
            f"{num_heads}, but got {width}"
        )
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = separate if use_separate_proj_weight else in_proj_weight.chunk(3)
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = (_C.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    if bias_k is not None and bias_v is not None:
        k, v = (_C.cat([x, b.expand(1, items, width)]) for x, b in ((k, bias_k), (v, bias_v)))

    def by_heads(x: Tensor, static: Tensor | None = None) -> Tensor:
        if static is not None:
            return static.reshape(items, num_heads, -1, width // num_heads)
        return x.reshape(x.shape[0], items, num_heads, width // num_heads).permute(1, 2, 0, 3)

    q, k, v = by_heads(q), by_heads(k, static_k), by_heads(v, static_v)
    masked = key.shape[0] if static_k is None else static_k.shape[1]
    if add_zero_attn:
        row = (items, num_heads, 1, width // num_heads)
        k, v = (_C.cat([x, _C.zeros(row, dtype=x.dtype, device=x.device)], 2) for x in (k, v))
    mask = _joined_masks(attn_mask, key_padding_mask, (items, num_heads, queries, masked), q.dtype)
    if mask is not None and k.shape[2] > masked:
        mask = _C.pad(mask, (0, k.shape[2] - masked))
    dropout_p = dropout_p if training else 0.0
    if not need_weights:
        attended = _C.scaled_dot_product_attention(q, k, v, mask, dropout_p)
        probabilities = None
    else:
        scores = (q / math.sqrt(width // num_heads)) @ k.mT
        probabilities = _C.softmax(scores if mask is None else scores + mask, -1)
        if dropout_p > 0:
            probabilities = _C.dropout(probabilities, dropout_p)
        attended = probabilities @ v
        if average_attn_weights:
            probabilities = probabilities.mean(1)
    rows = attended.permute(2, 0, 1, 3).reshape(queries, items, width)
    output = _C.linear(rows, out_proj_weight, out_proj_bias)
    if is_batched:
        return output, probabilities
    return output.squeeze(1), None if probabilities is None else probabilities.squeeze(0)


_plain_forward = MultiheadAttention.forward


@functools.wraps(_plain_forward)
def _forward(
    self: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    if not need_weights or current() is None:
        return _plain_forward(
            self,
            query,
            key,
            value,
            key_padding_mask,
            need_weights,
            attn_mask,
            average_attn_weights,
            is_causal,
        )
    # vmap does not hear of the kernels that give weights.
    swapped = self.batch_first and query.ndim == 3
    if swapped:
        query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
    output, weights = multi_head_attention_forward(
        query,
        key,
        value,
        self.embed_dim,
        self.num_heads,
        self.in_proj_weight,
        self.in_proj_bias,
        self.bias_k,
        self.bias_v,
        self.add_zero_attn,
        self.dropout,
        self.out_proj.weight,
        self.out_proj.bias,
        self.training,
        key_padding_mask,
        True,
        attn_mask,
        self.in_proj_weight is None,
        self.q_proj_weight,
        self.k_proj_weight,
        self.v_proj_weight,
        average_attn_weights=average_attn_weights,
        is_causal=is_causal,
    )
    return output.transpose(0, 1) if swapped else output, weights


MultiheadAttention.forward = _forward
