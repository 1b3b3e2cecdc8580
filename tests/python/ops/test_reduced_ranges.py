"""Every operator in float16 and bfloat16 where squares, sums and products of its numbers are larger or
smaller than those dtypes hold: PyTorch's float32 result, rounded once, forward and backward."""

import cases
import numpy as np
import pytest
import torch
from comparison import WIDE_ALONE, Run, array_of, drawn, skip_where_torch_fails

import ocl

SEEDS = range(2)
SCALES = {"float16": (200.0, 6000.0, 3e-6), "bfloat16": (1e15, 3e-16)}

# Values in between have the dtype in these, as in PyTorch: gates of recurrent layers, and gradients of
# products before they are summed over a broadcast batch. topk and mode have other winners where rounding
# makes ties.
# sinc of large numbers, which are whole, is 0; PyTorch's float64 rounds their product with pi.
# The gradient of tanhshrink, the square of tanh, is lost in PyTorch's float64 too below a unit of 1.
# The exponential in PyTorch's soft_margin_loss overflows, in float64 too; its gradient then is NaN.
# The scales of quantize_int8 are rounded to the weight's dtype and not below its eps, as torchao's are.
ROUNDED_BETWEEN = {
    *(f"{kind}{suffix}" for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu") for suffix in ("", "_cell")),
    "matmul",
    "topk",
    "mode",
    "sinc",
    "tanhshrink",
    "soft_margin_loss",
    "quantize_int8",
}


def scaled(case, factor):
    """The case with its floating inputs times `factor`; broadcast memory stays so."""
    inputs = []
    for i in case.inputs:
        if i.is_floating:
            kept = tuple(slice(0, 1) if s == 0 else slice(None) for s in i.array.strides)
            few = i.array[kept if i.layout == "expanded" else ()] * np.float32(factor)
            whole = np.broadcast_to(few, i.shape) if i.layout == "expanded" else few
            i = cases.Input(whole, i.layout, i.seed)
        inputs.append(i)
    return cases.Case(case.function, *inputs, unit=case.unit, backward=case.backward)


def differences(name, seed, dtype, factor):
    """Elements that are neither PyTorch's float32 result, rounded, nor as near to the truth."""
    case = drawn(name, seed)
    if not any(i.is_floating for i in case.inputs):
        return
    case = scaled(case, factor)

    def run(lib, computed_in):
        return Run(lib, case, computed_in, backward=case.backward, rounded_to=dtype)

    try:
        truth, single = run(torch, "float64"), run(torch, "float32")
    except RuntimeError:
        return  # out of the operator's domain, as a probability of 200
    ours = run(ocl, dtype)
    floats = [i for i in case.inputs if i.is_floating]
    largest = max((r.numel() for r in truth.results), default=0)
    for what in ("results", "gradients"):
        for k, (a, t, s) in enumerate(zip(*(getattr(r, what) for r in (ours, truth, single)), strict=True)):
            if a is None or not t.is_floating_point() or t.numel() == 0:
                continue
            if what == "gradients" and floats[k].stored_elements() < largest:
                continue  # a sum over broadcast dimensions, of terms that are rounded as in PyTorch
            its_dtype = getattr(torch, str(a.dtype).split(".")[1])  # float32 of box_area
            kind, expected = torch.finfo(its_dtype), array_of(s.to(its_dtype)).astype(np.float64)
            actual, exact = array_of(a).astype(np.float64), array_of(t)
            with np.errstate(all="ignore"):
                size = np.abs(exact)
                if case.unit != "element" or what == "gradients":
                    size = np.maximum(size, np.nanmax(np.where(np.isfinite(exact), size, 0)))
                allowed = 4 * np.abs(expected - exact) + 2 * kind.eps * np.maximum(size, kind.tiny)
                wrong = np.isfinite(actual) != np.isfinite(expected)
                wrong |= np.isfinite(actual) & np.isfinite(expected) & (np.abs(actual - exact) > allowed)
                wrong &= ~(np.abs(np.abs(exact) / kind.max - 1) < 0.05)  # rounded up to infinity, or not
            for at in map(tuple, np.argwhere(wrong)[:1]):
                yield f"{what[:-1]} {k} of seed {seed} times {factor:g}: {actual[at]}, expected {exact[at]}"


@pytest.mark.reduced_precision
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("name", sorted(set(cases.CASES) - ROUNDED_BETWEEN - WIDE_ALONE))
def test_like_float32_rounded(name, dtype):
    skip_where_torch_fails(name)
    wrong = [w for factor in SCALES[dtype] for seed in SEEDS for w in differences(name, seed, dtype, factor)]
    assert not wrong, "\n".join(wrong)


# ---- what the generators above do not draw

COMPOSED = {
    "std of large": (lambda lib, x: lib.std(x), [600, -600, 0, 300]),
    "std of small": (lambda lib, x: lib.std(x), [1e-4, 3e-4]),
    "std of tiny": (lambda lib, x: lib.std(x), [6e-8, 3e-6, 0]),
    "std_mean": (lambda lib, x: sum(lib.std_mean(x)), [600, -600, 0, 300]),
    "std along a dim": (lambda lib, x: lib.std(x.reshape(2, 2), 1).sum(), [600, -600, 20, 700]),
    "norm": (lambda lib, x: lib.norm(x), [60000, 3000]),
    "norm that overflows": (lambda lib, x: lib.norm(x), [60000, 60000]),
    "normalize": (lambda lib, x: lib.nn.functional.normalize(x, dim=0).sum(), [60000, 50000]),
    "normalize 0": (lambda lib, x: lib.nn.functional.normalize(x, dim=0).sum(), [0, 0]),
    "dot": (lambda lib, x: lib.dot(x, lib.tensor([300.0, 300.0, 1.0]).to(x.dtype)), [300, -300, 2]),
    "mean": (lambda lib, x: x.mean(), [60000, 60000, 60000]),
    "mean of squares": (lambda lib, x: lib.nn.functional.mse_loss(x, x.detach() * 0), [300, 10, 0]),
    "smooth_l1": (lambda lib, x: lib.nn.functional.smooth_l1_loss(x, -x.detach()), [40000, 10, 0]),
    "huber": (lambda lib, x: lib.nn.functional.huber_loss(x, x.detach() * 0, delta=400), [390, 10, 0]),
    "bce": (
        lambda lib, x: lib.nn.functional.binary_cross_entropy_with_logits(
            x, x.detach() * 0, pos_weight=lib.tensor(2.0).to(x.dtype), weight=x.detach().abs()
        ),
        [400, 1, -3],
    ),
    "kl_div": (
        lambda lib, x: lib.nn.functional.kl_div(x, lib.ones(3).to(x.dtype), reduction="batchmean"),
        [-60000, -60000, -60000],
    ),
    "logsumexp": (lambda lib, x: lib.logsumexp(x, 0), [60000, 60000, -60000]),
}


@pytest.mark.reduced_precision
@pytest.mark.parametrize("name", COMPOSED)
def test_composed(name):
    function, values = COMPOSED[name]
    rounded = torch.tensor(values, dtype=torch.float16)

    def run(lib, dtype):
        x = lib.tensor(rounded.double().tolist(), dtype=lib.float64).to(dtype).requires_grad_()
        y = function(lib, x)
        y.backward()
        return [array_of(t).astype(np.float64) for t in (y, x.grad)]

    for actual, expected in zip(run(ocl, ocl.float16), run(torch, torch.float64), strict=True):
        with np.errstate(over="ignore"):
            rounded_once = expected.astype(np.float16).astype(np.float64)
        np.testing.assert_allclose(actual, rounded_once, rtol=3e-3, atol=1e-7)


@pytest.mark.reduced_precision
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_more_elements_than_float16_counts(reduction):
    n = 70000
    x = ocl.full((n,), 2.0, dtype=ocl.float16, requires_grad=True)
    loss = ocl.nn.functional.mse_loss(x, x.detach() * 0, reduction=reduction)
    loss.backward(ocl.tensor(50000.0 if reduction == "mean" else 1.0, dtype=ocl.float16))
    expected = 50000 * 4 / n if reduction == "mean" else 4
    np.testing.assert_allclose(x.grad.float().numpy(), expected, rtol=2e-3)
    assert loss.item() == (4 if reduction == "mean" else np.inf)
