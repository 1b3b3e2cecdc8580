"""MultiheadAttention against PyTorch's with the same weights."""

import numpy as np
import pytest
import torch
from support import expect_near

import ocl

QUERIES, KEYS, ITEMS, WIDTH, HEADS = 5, 7, 3, 12, 4


def layers(**options):
    """PyTorch's in float64 and float32, and ours."""
    torch.manual_seed(0)
    single = torch.nn.MultiheadAttention(WIDTH, HEADS, **options)
    with torch.no_grad():
        for parameter in single.parameters():
            parameter.uniform_(-0.5, 0.5)
    double = torch.nn.MultiheadAttention(WIDTH, HEADS, **options).double()
    double.load_state_dict(single.state_dict())
    ours = ocl.nn.MultiheadAttention(WIDTH, HEADS, **options)
    ours.load_state_dict(single.state_dict())
    return double, single, ours


def run(lib, dtype, layer, arrays, masks, **options):
    """Output, weights, gradients of inputs and parameters. Arrays that are one are one tensor."""

    def own(array):
        tensor = torch.from_numpy(array) if lib is torch else ocl.tensor(array)
        return tensor.to(dtype) if array.dtype.kind == "f" else tensor

    inputs = {id(a): own(a).requires_grad_() for a in arrays}
    output, weights = layer(
        *(inputs[id(a)] for a in arrays), **{k: own(m) for k, m in masks.items()}, **options
    )
    loss = (output * output).sum()
    if weights is not None:
        loss = loss + (weights * weights).sum()
    loss.backward()
    return (
        [output]
        + ([] if weights is None else [weights])
        + [t.grad for t in [*inputs.values(), *layer.parameters()]]
    )


def check(arrays, masks=None, construct=None, **options):
    masks = masks or {}
    double, single, ours = layers(**(construct or {}))
    actual = run(ocl, ocl.float32, ours, arrays, masks, **options)
    truth = run(torch, torch.float64, double, arrays, masks, **options)
    reference = run(torch, torch.float32, single, arrays, masks, **options)
    assert len(actual) == len(truth)
    for i, values in enumerate(zip(actual, truth, reference, strict=True)):
        expect_near(*values, f"result {i}", units=4)


def three(rng, *batch, first=False, kdim=WIDTH, vdim=WIDTH):
    def one(rows, width):
        shape = (*batch, rows, width) if first else (rows, *batch, width)
        return rng.uniform(-1, 1, shape).astype(np.float32)

    return [one(QUERIES, WIDTH), one(KEYS, kdim), one(KEYS, vdim)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": False}], ids=str)
@pytest.mark.parametrize("batch_first", [False, True])
def test_batches(batch_first, options, rng):
    check(three(rng, ITEMS, first=batch_first), construct={"batch_first": batch_first}, **options)


@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": False}], ids=str)
def test_without_a_batch(options, rng):
    check(three(rng), **options)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch", [(ITEMS,), ()], ids=["batch", "no batch"])
@pytest.mark.parametrize("which", [(0, 0, 0), (0, 1, 1), (0, 0, 1), (0, 1, 0), (0, 1, 2)], ids=str)
def test_inputs_that_are_one_tensor(which, batch, bias, rng):
    arrays = [rng.uniform(-1, 1, (QUERIES, *batch, WIDTH)).astype(np.float32) for _ in range(3)]
    check([arrays[i] for i in which], construct={"bias": bias})


@pytest.mark.parametrize(
    ("which", "products"), [((0, 0, 0), 1), ((0, 1, 1), 2), ((0, 0, 1), 2), ((0, 1, 0), 3)]
)
def test_neighbours_that_are_one_tensor_are_projected_at_once(which, products):
    inputs = [ocl.randn(QUERIES, ITEMS, WIDTH) for _ in range(2)]
    layer = ocl.nn.MultiheadAttention(WIDTH, HEADS)
    with ocl.profiler.record_calls() as recorded:
        layer(*(inputs[i] for i in which), need_weights=False)
    names = [call.name for call in recorded.calls]
    assert names.count("linear_forward") == products + 1  # and out_proj's


def test_no_bias(rng):
    check(three(rng, ITEMS), construct={"bias": False})


@pytest.mark.parametrize("bias", [True, False])
def test_widths_of_keys_and_values(bias, rng):
    check(three(rng, ITEMS, kdim=6, vdim=9), construct={"kdim": 6, "vdim": 9, "bias": bias})


MASKS = {
    "bool": lambda rng: {"attn_mask": np.triu(np.ones((QUERIES, KEYS), bool), 1)},
    "float": lambda rng: {"attn_mask": rng.uniform(-2, 2, (QUERIES, KEYS)).astype(np.float32)},
    "per head": lambda rng: {
        "attn_mask": rng.uniform(-2, 2, (ITEMS * HEADS, QUERIES, KEYS)).astype(np.float32)
    },
    "padding": lambda rng: {"key_padding_mask": np.arange(KEYS) > np.array([[2], [6], [4]])},
    "both": lambda rng: (
        MASKS["padding"](rng) | {"attn_mask": rng.random((QUERIES, KEYS)) < [0] + [0.5] * (KEYS - 1)}
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", MASKS)
def test_masks(kind, need_weights, rng):
    check(three(rng, ITEMS), MASKS[kind](rng), need_weights=need_weights)


@pytest.mark.parametrize("options", [{}, {"kdim": 6}, {"bias": False}], ids=str)
def test_state_dict_and_repr(options):
    expected = torch.nn.MultiheadAttention(WIDTH, HEADS, **options)
    ours = ocl.nn.MultiheadAttention(WIDTH, HEADS, **options)
    assert repr(ours) == repr(expected)
    assert [(k, tuple(v.shape)) for k, v in ours.state_dict().items()] == [
        (k, tuple(v.shape)) for k, v in expected.state_dict().items()
    ]


def test_dropout_only_while_training():
    layer = ocl.nn.MultiheadAttention(8, 2, dropout=0.5)
    x = ocl.ones(4, 3, 8)
    weights = layer(x, x, x, average_attn_weights=False)[1].numpy()
    assert set(np.unique(weights)) == {0, 0.5}
    layer.eval()
    np.testing.assert_array_equal(layer(x, x, x)[1].numpy(), 0.25)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ocl.nn.MultiheadAttention(6, 4),
        lambda: ocl.nn.MultiheadAttention(8, 2, add_bias_kv=True),
        lambda: ocl.nn.MultiheadAttention(8, 2)(ocl.ones(8), ocl.ones(8), ocl.ones(8)),
        lambda: ocl.nn.MultiheadAttention(8, 2)(*[ocl.ones(4, 3, 8)] * 3, attn_mask=ocl.ones(4, 3)),
        lambda: ocl.nn.MultiheadAttention(8, 2)(*[ocl.ones(4, 3, 8)] * 3, key_padding_mask=ocl.ones(4, 3)),
        lambda: ocl.nn.MultiheadAttention(8, 2)(*[ocl.ones(4, 3, 8)] * 3, is_causal=True),
    ],
)
def test_errors(call):
    with pytest.raises(ValueError, match="MultiheadAttention"):
        call()
