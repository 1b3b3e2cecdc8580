"""Cases of attention."""

import numpy as np

from cases.harness import Case, Input, cases, errors


def mask_shape(draw, heads, queries, keys):
    """A shape that broadcasts to the scores; PyTorch's kernels want at least two dimensions."""
    rows = tuple(1 if draw.chance(0.3) else size for size in (queries, keys))
    return (*draw.broadcastable(heads), *rows)


@cases("scaled_dot_product_attention")
def scaled_dot_product_attention(draw):
    batch = (*(draw.size(3) for _ in range(draw.integer(0, 3))),)
    queries, keys, width, values = draw.size(7), draw.size(7), draw.size(9), draw.size(9)
    if draw.chance(0.2):
        queries, keys = draw.choice([(3, 300), (40, 70)])
    options = {"scale": draw.choice([0.1, 1.0])} if draw.chance(0.4) else {}
    heads = batch
    if draw.chance(0.2) and batch:
        options["enable_gqa"] = True
        heads = (*batch[:-1], batch[-1] * draw.integer(1, 3))
    query = draw.floats((*heads, queries, width))
    key, value = draw.floats((*batch, keys, width)), draw.floats((*batch, keys, values))
    inputs = [query, key, value]
    kind = draw.choice(["none", "bool", "float", "causal"])
    if kind == "causal":
        options["is_causal"] = True
    if kind == "bool":
        mask = draw.booleans(mask_shape(draw, heads, queries, keys))
        inputs.append(mask)
    if kind == "float":
        mask = draw.floats(mask_shape(draw, heads, queries, keys))
        if draw.chance(0.5):
            array = np.where(draw.rng.random(mask.shape) < 0.3, -np.inf, mask.array).astype(np.float32)
            mask = Input(array)
        inputs.append(mask)
    return Case(
        lambda lib, *tensors: lib.nn.functional.scaled_dot_product_attention(*tensors, **options),
        *inputs,
        unit="largest",
        gradcheck=kind != "float" or bool(np.isfinite(inputs[-1].array).all()),
    )


@errors("scaled_dot_product_attention")
def attention_errors():
    def call(query, key, value, **options):
        return lambda lib: lib.nn.functional.scaled_dot_product_attention(
            lib.zeros(*query), lib.zeros(*key), lib.zeros(*value), **options
        )

    return [
        call((2, 3), (4, 5), (4, 5)),
        call((2, 3), (4, 3), (5, 3)),
        call((2,), (4, 3), (5, 3)),
        call((2, 2, 3), (3, 4, 3), (3, 4, 3)),
        call((3, 2, 3), (2, 4, 3), (2, 4, 3), enable_gqa=True),
        lambda lib: lib.nn.functional.scaled_dot_product_attention(
            *[lib.zeros(2, 3)] * 3, attn_mask=lib.zeros(2, 2), is_causal=True
        ),
        lambda lib: lib.nn.functional.scaled_dot_product_attention(
            lib.zeros(2, 3), lib.zeros(2, 3), lib.zeros(2, 3, dtype=lib.int64)
        ),
    ]
