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


def run(lib, dtype, layer, arrays, masks, used=("output", "weights"), **options):
    """Output, weights, gradients of inputs and parameters. Arrays that are one are one tensor. The loss is
    made of what is `used`."""

    def own(array):
        tensor = torch.from_numpy(array) if lib is torch else ocl.tensor(array)
        return tensor.to(dtype) if array.dtype.kind == "f" else tensor

    inputs = {id(a): own(a).requires_grad_() for a in arrays}
    output, weights = layer(
        *(inputs[id(a)] for a in arrays), **{k: own(m) for k, m in masks.items()}, **options
    )
    results = {"output": output, "weights": weights}
    sum((t * t).sum() for name, t in results.items() if name in used and t is not None).backward()
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
    assert [t is None for t in actual] == [t is None for t in truth]
    for i, values in enumerate(zip(actual, truth, reference, strict=True)):
        if values[0] is not None:
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


@pytest.mark.parametrize("used", ["output", "weights"])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("batch", [(ITEMS,), ()], ids=["batch", "no batch"])
def test_one_of_both_results_is_used(batch, average, used, rng):
    check(three(rng, *batch), used=(used,), average_attn_weights=average)


ADDED = [
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True, "bias": False},
    {"add_bias_kv": True, "kdim": 6, "vdim": 9},
    {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True},
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [None, "bool", "per head", "padding", "both"])
@pytest.mark.parametrize("construct", ADDED, ids=str)
def test_keys_that_are_added(construct, kind, rng):
    widths = {name: construct[name] for name in ("kdim", "vdim") if name in construct}
    arrays = three(rng, ITEMS, first=construct.get("batch_first", False), **widths)
    masks = MASKS[kind](rng) if kind else {}
    for options in ({}, {"need_weights": False}, {"used": ("weights",), "average_attn_weights": False}):
        check(arrays, masks, construct, **options)


def test_a_learned_key_begins_as_in_pytorch():
    layer = ocl.nn.MultiheadAttention(64, 2, add_bias_kv=True)
    names = [name for name, _ in layer.named_parameters()]
    assert names == [n for n, _ in torch.nn.MultiheadAttention(64, 2, add_bias_kv=True).named_parameters()]
    assert layer.bias_k.requires_grad and 0.01 < layer.bias_k.std().item() < 0.5
    without = ocl.nn.MultiheadAttention(8, 2)
    assert without.bias_k is None and without.bias_v is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("used", [("output",), ("weights",), ("output", "weights")], ids=str)
def test_half_precision_trains(dtype, used, rng):
    """Gradients near those of float32 from the same numbers."""
    arrays = three(rng, ITEMS)
    _, single, ours = layers()
    kind = getattr(torch, dtype)
    single.load_state_dict({n: v.to(kind).float() for n, v in single.state_dict().items()})
    arrays = [torch.from_numpy(a).to(kind).float().numpy() for a in arrays]
    expected = run(torch, torch.float32, single, arrays, {}, used=used)
    actual = run(ocl, getattr(ocl, dtype), ours.to(getattr(ocl, dtype)), arrays, {}, used=used)
    for a, e in zip(actual, expected, strict=True):
        assert (a is None) == (e is None)
        if a is not None:
            largest = e.abs().max().item()
            np.testing.assert_allclose(
                a.detach().float().numpy(), e.detach().numpy(), atol=0.05 * largest + 1e-6
            )


def test_one_result_with_dropout_is_that_of_both():
    """The gradient of a sum is the sum of gradients, with the same elements dropped."""
    layer = ocl.nn.MultiheadAttention(WIDTH, HEADS, dropout=0.3)
    x = ocl.randn(QUERIES, ITEMS, WIDTH)

    def gradient(of_output, of_weights):
        ocl.manual_seed(3)
        given = x.clone().requires_grad_()
        output, weights = layer(given, given, given)
        terms = [(output * output).sum()] * of_output + [(weights * weights).sum()] * of_weights
        sum(terms).backward()
        return given.grad.numpy()

    both, one, other = gradient(1, 1), gradient(1, 0), gradient(0, 1)
    np.testing.assert_allclose(one + other, both, atol=1e-4)


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
    weights = layer(x, x, x, average_attn_weights=False)[1].detach().numpy()
    assert set(np.unique(weights)) == {0, 0.5}
    layer.eval()
    np.testing.assert_array_equal(layer(x, x, x)[1].detach().numpy(), 0.25)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ocl.nn.MultiheadAttention(6, 4),
        lambda: ocl.nn.MultiheadAttention(8, 2)(ocl.ones(8), ocl.ones(8), ocl.ones(8)),
        lambda: ocl.nn.MultiheadAttention(8, 2)(*[ocl.ones(4, 3, 8)] * 3, attn_mask=ocl.ones(4, 3)),
        lambda: ocl.nn.MultiheadAttention(8, 2)(*[ocl.ones(4, 3, 8)] * 3, key_padding_mask=ocl.ones(4, 3)),
        lambda: ocl.nn.MultiheadAttention(8, 2)(*[ocl.ones(4, 3, 8)] * 3, is_causal=True),
    ],
)
def test_errors(call):
    with pytest.raises(ValueError, match="MultiheadAttention"):
        call()
