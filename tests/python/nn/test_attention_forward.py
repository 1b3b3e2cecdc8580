"""Attention as a function of its weights, beside PyTorch's, and attention weights under vmap."""

import numpy as np
import pytest
import torch

import ocl

RNG = np.random.default_rng


def drawn(seed, *shape):
    return RNG([seed, *shape]).standard_normal(shape).astype("float32")


FORMS = {
    "plain": {},
    "no weights": {"need_weights": False},
    "each head": {"average_attn_weights": False},
    "padding": {"key_padding_mask": RNG(1).random((3, 5)) < 0.3},
    "mask": {"attn_mask": drawn(5, 4, 5)},
    "mask of heads": {"attn_mask": RNG(2).random((6, 4, 5)) < 0.2},
    "both": {"attn_mask": drawn(5, 4, 5), "key_padding_mask": RNG(3).random((3, 5)) < 0.2},
    "zeros": {"add_zero_attn": True, "attn_mask": drawn(5, 4, 5)},
    "biases": {"bias_k": drawn(6, 1, 1, 8), "bias_v": drawn(7, 1, 1, 8), "add_zero_attn": True},
    "separate": {
        "use_separate_proj_weight": True,
        "q_proj_weight": drawn(8, 8, 8),
        "k_proj_weight": drawn(9, 8, 6),
        "v_proj_weight": drawn(10, 8, 7),
    },
    "static": {"static_k": drawn(11, 6, 3, 4), "static_v": drawn(12, 6, 3, 4)},
    "no in_proj_bias": {"in_proj_bias": None},
}


def attend(lib, form, is_batched=True):
    options = {k: v if not isinstance(v, np.ndarray) else lib.tensor(v) for k, v in FORMS[form].items()}
    is_separate = "q_proj_weight" in options
    sizes = [(4, 3, 8), (5, 3, 6 if is_separate else 8), (5, 3, 7 if is_separate else 8)]
    x = [drawn(20 + i, *size) for i, size in enumerate(sizes)]
    inputs = [lib.tensor(each if is_batched else each[:, 0]).requires_grad_() for each in x]
    weight = lib.tensor(drawn(1, 24, 8) / 3).requires_grad_()
    given = {
        "in_proj_weight": None if is_separate else weight,
        "in_proj_bias": lib.tensor(drawn(2, 24)),
        "bias_k": None,
        "bias_v": None,
        "add_zero_attn": False,
        "dropout_p": 0.0,
        "out_proj_weight": lib.tensor(drawn(3, 8, 8)),
        "out_proj_bias": lib.tensor(drawn(4, 8)),
        **options,
    }
    function = lib.nn.functional.multi_head_attention_forward
    output, weights = function(*inputs, embed_dim_to_check=8, num_heads=2, **given)
    total = (output * output).sum() + (0 if weights is None else (weights * weights).sum())
    leaves = [
        t for t in (*inputs, *([] if is_separate else [weight])) if "static" not in form or t is inputs[0]
    ]
    return [output, weights, *lib.autograd.grad(total, leaves)]


def compare(ours, theirs):
    for mine, its in zip(ours, theirs, strict=True):
        if its is None:
            assert mine is None
            continue
        scale = its.detach().abs().max().item()
        np.testing.assert_allclose(mine.detach().numpy(), its.detach().numpy(), rtol=1e-4, atol=2e-5 * scale)


@pytest.mark.parametrize("form", FORMS)
def test_the_function(form):
    compare(attend(ocl, form), attend(torch, form))


@pytest.mark.parametrize("form", ["plain", "no weights", "each head", "mask", "zeros"])
def test_the_function_without_a_batch(form):
    compare(attend(ocl, form, False), attend(torch, form, False))


@pytest.mark.parametrize(
    "options", [{}, {"batch_first": True}, {"kdim": 6, "vdim": 7}, {"add_bias_kv": True}]
)
@pytest.mark.parametrize("average", [True, False])
def test_weights_under_vmap(options, average):
    """They are those of a loop over the examples, with gradients of the parameters."""
    layer = ocl.nn.MultiheadAttention(8, 2, **options)
    widths = (8, options.get("kdim", 8), options.get("vdim", 8))
    q, k, v = (ocl.tensor(drawn(i, 5, 4, 3, width)) for i, width in enumerate(widths))
    mask = ocl.tensor(drawn(9, 3, 3) if options.get("batch_first") else drawn(9, 4, 4))

    def one(q, k, v):
        return layer(q, k, v, attn_mask=mask, average_attn_weights=average)

    mapped, looped = ocl.vmap(one)(q, k, v), [one(*each) for each in zip(q, k, v, strict=True)]
    for i in (0, 1):
        expected = ocl.stack([each[i] for each in looped])
        np.testing.assert_allclose(
            mapped[i].detach().numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5
        )
    parameters = list(layer.parameters())
    found = ocl.autograd.grad(mapped[0].square().sum() + mapped[1].square().sum(), parameters)
    total = sum(each[0].square().sum() + each[1].square().sum() for each in looped)
    for mine, its in zip(found, ocl.autograd.grad(total, parameters), strict=True):
        np.testing.assert_allclose(mine.numpy(), its.numpy(), rtol=1e-3, atol=1e-4)


def test_weights_under_vmap_are_pytorchs():
    ours = ocl.nn.MultiheadAttention(8, 2)
    theirs = torch.nn.MultiheadAttention(8, 2)
    theirs.load_state_dict({k: torch.from_numpy(p.numpy().copy()) for k, p in ours.state_dict().items()})
    x = drawn(1, 5, 4, 8)
    compare(
        ocl.vmap(lambda t: ours(t, t, t))(ocl.tensor(x)),
        torch.vmap(lambda t: theirs(t, t, t))(torch.from_numpy(x)),
    )


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"attn_mask": np.zeros((4, 4), "float32")}, "shape"),
        ({"attn_mask": np.zeros((4, 5), "int64")}, "dtype|type"),
        ({"is_causal": True}, "is_causal"),
        ({"num_heads": 3}, "divisible"),
        ({"embed_dim_to_check": 9}, "embedding dimension"),
    ],
)
def test_arguments_that_are_refused(changed, match):
    for lib in (ocl, torch):
        given = {"embed_dim_to_check": 8, "num_heads": 2, **changed}
        given = {k: lib.tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
        x, w = lib.ones(4, 3, 8), lib.ones(24, 8)
        y = lib.ones(5, 3, 8)
        with pytest.raises((RuntimeError, AssertionError, TypeError), match=match):
            lib.nn.functional.multi_head_attention_forward(
                x, y, y, in_proj_weight=w, in_proj_bias=None, bias_k=None, bias_v=None, add_zero_attn=False,
                dropout_p=0.0, out_proj_weight=lib.ones(8, 8), out_proj_bias=None, **given,
            )  # fmt: skip


def test_dropout_of_weights():
    x, w = ocl.ones(200, 1, 8), ocl.tensor(drawn(1, 24, 8))
    call = ocl.nn.functional.multi_head_attention_forward
    rest = (None, None, None, False, 0.5, ocl.tensor(drawn(3, 8, 8)), None)
    _, weights = call(x, x, x, 8, 2, w, *rest)
    assert 0.2 < (weights == 0).float().mean().item() < 0.3  # of both heads
    _, weights = call(x, x, x, 8, 2, w, *rest, training=False)
    assert (weights > 0).all()
