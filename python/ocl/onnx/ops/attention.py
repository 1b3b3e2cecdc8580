"""Attention and rotary embeddings."""

import math

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import dtype_of

F = ocl.nn.functional


def _heads(x, count: int | None):
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    if x.ndim == 4:
        return x
    batch, length, hidden = x.shape
    return x.reshape([batch, length, count, hidden // count]).transpose(1, 2)


def _bias(call, query, key, mask, past: int, lengths):
    """The tensor that is added to scores, or None: 0 where a query sees a key, minus infinity elsewhere."""
    rows, columns = query.shape[2], key.shape[2]
    bias = mask
    if mask is not None:
        if mask.dtype == ocl.bool_:
            zero = ocl.zeros(mask.shape, dtype=query.dtype, device=query.device)
            bias = zero.masked_fill(ocl.logical_not(mask), -float("inf"))
        missing = columns - bias.shape[-1]
        if missing > 0:
            bias = F.pad(bias, [0, missing], value=-float("inf"))
    seen = _seen(call, rows, columns, past, lengths)
    if seen is not None:
        hidden = call.tensor(np.where(seen, 0, -np.inf).astype(np.float32)).to(query.dtype)
        bias = hidden if bias is None else bias + hidden
    return bias


def _seen(call, rows: int, columns: int, past: int, lengths):
    """Which keys a query may see by its place: [rows, columns] or [batch, 1, rows, columns]; None if all."""
    left, right = call.get("left_window_size", -1), call.get("right_window_size", -1)
    first = past if lengths is None else (lengths.reshape(-1, 1, 1, 1) - rows)
    ahead = np.arange(columns) - (np.arange(rows).reshape(-1, 1) + first)  # of the key, before the query
    seen = np.ones_like(ahead, bool)
    if call.get("is_causal", 0):
        seen &= ahead <= 0
    if left >= 0:
        seen &= -ahead <= left
    if right >= 0:
        seen &= ahead <= right
    if lengths is not None:
        seen = seen & (np.arange(columns) < lengths.reshape(-1, 1, 1, 1))
    return None if seen.all() else seen


@operator("Attention", until=25, host=(6,))
def attention(call, query, key, value, mask=None, past_key=None, past_value=None, lengths=None):
    flat = query.ndim == 3
    query = _heads(query, call.get("q_num_heads"))
    key, value = _heads(key, call.get("kv_num_heads")), _heads(value, call.get("kv_num_heads"))
    past = 0 if past_key is None else past_key.shape[2]
    if past_key is not None:
        key, value = ocl.cat([past_key, key], 2), ocl.cat([past_value, value], 2)
    present = key, value
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = ocl.repeat_interleave(key, groups, 1), ocl.repeat_interleave(value, groups, 1)
    bias = _bias(call, query, key, mask, past, lengths)
    scale = call.get("scale", 1 / math.sqrt(query.shape[-1]))
    whole = bias is None or mask is None and lengths is None and query.shape[2] <= key.shape[2]
    if whole and not call.wants(3) and not call.get("softcap", 0.0):
        y, scores = F.scaled_dot_product_attention(query, key, value, bias, scale=scale), None
    else:
        y, scores = _by_scores(call, query, key, value, bias, scale)
    if flat:
        y = y.transpose(1, 2).reshape([y.shape[0], y.shape[2], -1])
    return y, *present, scores


def _by_scores(call, query, key, value, bias, scale: float):
    """Attention by its scores, which are a result at the stage that the node names."""
    root = math.sqrt(scale)
    stages = [ocl.matmul(query * root, key.transpose(-1, -2) * root)]
    cap = call.get("softcap", 0.0)
    capped = ocl.tanh(stages[0] / cap) * cap if cap else stages[0]
    masked = capped if bias is None else capped + bias
    computed = call.get("softmax_precision")
    scores = masked if computed is None else masked.to(dtype_of(computed))
    top = ocl.amax(scores, [-1], keepdim=True)
    hidden = top == -float("inf")  # a query that sees nothing gets zeros
    weights = ocl.softmax(scores.masked_fill(hidden, 0.0), -1).masked_fill(hidden, 0.0).to(query.dtype)
    stages += [capped, masked, weights]
    return ocl.matmul(weights, value), stages[call.get("qk_matmul_output_mode", 0)]


@operator("RotaryEmbedding")
def rotary_embedding(call, x, cos, sin, positions=None):
    shape = x.shape
    heads = _heads(x, call.get("num_heads", 0) or None)
    size = call.get("rotary_embedding_dim", 0) or heads.shape[-1]
    turned, kept = heads[..., :size], heads[..., size:]
    if positions is not None:
        cos, sin = F.embedding(positions, cos), F.embedding(positions, sin)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    if call.get("interleaved", 0):
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = ocl.stack([cos * a - sin * b, sin * a + cos * b], -1).reshape(turned.shape)
    else:
        a, b = turned[..., : size // 2], turned[..., size // 2 :]
        turned = ocl.cat([cos * a - sin * b, sin * a + cos * b], -1)
    y = turned if kept.shape[-1] == 0 else ocl.cat([turned, kept], -1)
    return y if x.ndim == 4 else y.transpose(1, 2).reshape(shape)
