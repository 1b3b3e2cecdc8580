"""Products of matrices and vectors: batches of them are products of batches."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.rules import Batched, Call, rule
from ocl.batching.rules.pointwise import aligned, lifted, logical_rank
from ocl.nn import functional

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def matmul(left: Any, right: Any, size: int) -> Tensor:
    """The products [B, ...] of what one example's matmul takes, of which either may be a batch."""
    left_rank, right_rank = logical_rank(left), logical_rank(right)
    if not isinstance(left, Batched) and not isinstance(right, Batched):
        made = _C.matmul(left, right)
        return made.expand(size, *made.shape)
    if not isinstance(right, Batched) and right_rank <= 2 and left_rank > 1:
        return _C.matmul(left.tensor, right)  # the batch is one of rows
    if not isinstance(right, Batched) and right_rank == 2:
        return _C.matmul(left.tensor, right)  # [B, K] x [K, N]
    if left_rank == 1:
        left = _changed(left, lambda t: t.unsqueeze(-2))
    if right_rank == 1:
        right = _changed(right, lambda t: t.unsqueeze(-1))
    first, second = aligned([left, right])
    made = _C.matmul(first, second)
    if made.shape[0] != size:
        made = made.expand(size, *made.shape[1:])
    if right_rank == 1:
        made = made.squeeze(-1)
    return made.squeeze(-2 if right_rank > 1 else -1) if left_rank == 1 else made


def _changed(value: Any, function: Any) -> Any:
    return Batched(function(value.tensor)) if isinstance(value, Batched) else function(value)


@rule("matmul")
def matmul_of_two(call: Call) -> Any:
    return matmul(call["input"], call["other"], call.size)


@rule("mm", "bmm")
def mm(call: Call) -> Any:
    return matmul(call["input"], call["mat2"], call.size)


@rule("mv")
def mv(call: Call) -> Any:
    return matmul(call["input"], call["vec"], call.size)


@rule("dot")
def dot(call: Call) -> Any:
    return matmul(call["input"], call["tensor"], call.size)


@rule("linear")
def linear(call: Call) -> Any:
    x, weight, bias = call["input"], call["weight"], call["bias"]
    if isinstance(x, Batched) and not isinstance(weight, Batched) and weight.dim() == 2:
        if not isinstance(bias, Batched):
            return functional.linear(x.tensor, weight, bias)
        made = functional.linear(x.tensor, weight)
    else:
        made = matmul(
            x, _changed(weight, lambda t: t.transpose(-1, -2) if logical_rank(weight) == 2 else t), call.size
        )
    if bias is None:
        return made
    added = aligned([Batched(made), bias])
    return added[0] + added[1]


@rule("quantized_linear")
def quantized_linear(call: Call) -> Any:
    x, bias = call["input"], call["bias"]
    if not isinstance(x, Batched) or not call.only("input", "bias"):
        return NotImplemented
    if not isinstance(bias, Batched):
        return call.again()
    made, added = aligned([Batched(call.again(bias=None)), bias])
    return made + added


def _joined(call: Call, product: Tensor) -> Tensor:
    """beta * input + alpha * product."""
    beta, alpha, dtype = call["beta"], call["alpha"], call.expected[0][1]
    product = (product if alpha == 1 else product * alpha).to(dtype)
    if beta == 0:
        return product
    made, added = aligned([Batched(product), call["input"]])
    return (made + (added if beta == 1 else added * beta)).to(dtype)


@rule("addmm")
def addmm(call: Call) -> Any:
    return _joined(call, matmul(call["mat1"], call["mat2"], call.size))


@rule("baddbmm")
def baddbmm(call: Call) -> Any:
    return _joined(call, _product(call, "batch1", "batch2"))


@rule("addbmm")
def addbmm(call: Call) -> Any:
    return _joined(call, _product(call, "batch1", "batch2").sum(1))


@rule("addmv")
def addmv(call: Call) -> Any:
    return _joined(call, _product(call, "mat", "vec"))


@rule("addr")
def addr(call: Call) -> Any:
    return _joined(call, call.batch("vec1").unsqueeze(2) * call.batch("vec2").unsqueeze(1))


def _product(call: Call, left: str, right: str) -> Tensor:
    return matmul(call[left], call[right], call.size)


@rule("outer")
def outer(call: Call) -> Any:
    return call.batch("input").unsqueeze(2) * call.batch("vec2").unsqueeze(1)


@rule("inner")
def inner(call: Call) -> Any:
    first, second = call["input"], call["other"]
    ranks = logical_rank(first), logical_rank(second)
    if 0 in ranks:
        first, second = aligned([first, second])
        return first * second
    letters = _LETTERS[1 : ranks[0]], _LETTERS[ranks[0] : ranks[0] + ranks[1] - 1]
    return _einsum([letters[0] + "Z", letters[1] + "Z"], "".join(letters), [first, second])


@rule("tensordot")
def tensordot(call: Call) -> Any:
    first, second = call["a"], call["b"]
    ranks = logical_rank(first), logical_rank(second)
    left = list(_LETTERS[1 : ranks[0] + 1])
    right = list(_LETTERS[ranks[0] + 1 : sum(ranks) + 1])
    for i, j in zip(call["dims_self"], call["dims_other"], strict=True):
        right[j] = left[i]
    rest = [c for c in left if c not in right] + [c for c in right if c not in left]
    return _einsum(["".join(left), "".join(right)], "".join(rest), [first, second])


@rule("einsum")
def einsum(call: Call) -> Any:
    equation = call["equation"].replace(" ", "")
    terms, _, result = equation.partition("->")
    terms = terms.split(",")
    if "->" not in equation:
        used = "".join(terms).replace("...", "")
        result = ("..." if "..." in equation else "") + "".join(
            sorted(c for c in set(used) if used.count(c) == 1)
        )
    return _einsum(terms, result, call["operands"])


def _einsum(terms: list[str], result: str, operands: list) -> Tensor:
    """Products by letters, with one more for the batch."""
    free = next(c for c in _LETTERS if c not in "".join(terms))
    terms = [free + t if isinstance(o, Batched) else t for t, o in zip(terms, operands, strict=True)]
    tensors = [o.tensor if isinstance(o, Batched) else o for o in operands]
    return _C.einsum(f"{','.join(terms)}->{free}{result}", *tensors)


@rule("kron")
def kron(call: Call) -> Any:
    first, second = call["input"], call["other"]
    rank = max(logical_rank(first), logical_rank(second))
    ones = [1] * rank

    def spread(value: Any, is_first: bool) -> Tensor:
        batch = value.tensor if isinstance(value, Batched) else value.unsqueeze(0)
        sizes = [*ones[: rank - (batch.dim() - 1)], *batch.shape[1:]]
        pairs = [each for size in sizes for each in ((size, 1) if is_first else (1, size))]
        return batch.reshape(batch.shape[0], *pairs)

    return (spread(first, True) * spread(second, False)).reshape(call.size, *call.expected[0][0])


@rule("cross")
def cross(call: Call) -> Any:
    first, second = lifted(call, "input", "other").values()
    rank = len(call.expected[0][0])
    dim = call["dim"]
    if dim is None:
        dim = call.expected[0][0].index(3)
    return call.again(input=first, other=second, dim=dim % rank - rank)


@rule("scaled_dot_product_attention")
def attention(call: Call) -> Any:
    options = dict(call["options"])
    if options["dropout_p"] > 0:
        return NotImplemented
    mask = options["attn_mask"]
    values = [call["query"], call["key"], call["value"]]
    rank = max(map(logical_rank, values))
    tensors = [call.batch_of(Batched(_lifted(v, rank)) if isinstance(v, Batched) else v) for v in values]
    if isinstance(mask, Batched):
        mask = _lifted(mask, rank)
    options["attn_mask"] = mask
    return functional.scaled_dot_product_attention(*tensors, **options)


def _lifted(value: Batched, rank: int) -> Tensor:
    return aligned([value], rank)[0]
