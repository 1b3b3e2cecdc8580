"""Reductions of whole tensors and along dimensions, over NaN, infinities, ties, zeros of both signs, nothing
at all, a single number, integers and bools: PyTorch's values, indices, dtypes and gradients."""

import math

import numpy as np
import pytest
import torch
from support import to_numpy

import ocl

NAN, INF = math.nan, math.inf
FLOATS = {
    "one NaN": [1, NAN, 3],
    "two NaN": [NAN, 1, NAN],
    "NaN alone": [NAN, NAN],
    "NaN among infinities": [INF, NAN, -INF],
    "infinities": [INF, -INF, 1],
    "the same infinity": [INF, INF, 1],
    "minus infinity alone": [-INF, -INF],
    "ties": [2, 1, 2, 0],
    "zeros of both signs": [-0.0, 0.0, -0.0],
    "a zero": [0.5, 0.0, -2.0],
    "a scalar": 2.5,
    "a negative scalar": -2.5,
    "a scalar NaN": NAN,
    "one element": [3.0],
    "a matrix with NaN": [[1, NAN, 3], [2, 2, 1]],
    "a matrix of ties": [[0, 1, 0], [1, 1, 0]],
    "a stack": (np.arange(24) % 7 - 3.0).reshape(2, 3, 4),
    "nothing": [],
    "rows of nothing": np.zeros((2, 0)),
    "no rows": np.zeros((0, 2)),
}
WHOLE_NUMBERS = {
    "int64": np.array([3, 1, 3]),
    "large int64": np.array([2**62, -(2**62), 2**62 + 1]),
    "a scalar int64": np.array(4),
    "no int64": np.zeros(0, np.int64),
    "int32": np.array([[1, 2], [2, 1]], np.int32),
    "uint8": np.array([255, 1, 255], np.uint8),
    "no uint8": np.zeros((0, 2), np.uint8),
    "bool": np.array([True, False, True]),
    "a scalar bool": np.array(False),
    "no bool": np.zeros(0, bool),
}
INPUTS = {name: np.array(values, np.float32) for name, values in FLOATS.items()} | WHOLE_NUMBERS

WHOLE = ["max", "min", "amax", "amin", "prod", "sum", "mean", "var", "std", "all", "any", "argmax", "argmin"]
WHOLE += ["count_nonzero", "var_mean", "std_mean"]
ALONG = [*WHOLE, "logsumexp", "cumsum", "cumprod"]
WITHOUT_KEEPDIM = ("cumsum", "cumprod", "count_nonzero")


def forms():
    """Named calls, as functions of a library and a tensor."""
    for name in WHOLE:
        yield f"{name}()", lambda lib, x, n=name: getattr(lib, n)(x)
        if "_mean" not in name:
            yield f".{name}()", lambda lib, x, n=name: getattr(x, n)()
    for name in ALONG:
        for dim in (0, 1, -1):
            yield f"{name}(dim={dim})", lambda lib, x, n=name, d=dim: getattr(lib, n)(x, dim=d)
        if name not in WITHOUT_KEEPDIM:
            yield (
                f"{name}(dim=0, keepdim=True)",
                lambda lib, x, n=name: getattr(lib, n)(x, dim=0, keepdim=True),
            )
    for name in ("amax", "amin", "sum", "mean", "var", "std", "all", "any", "logsumexp"):
        yield f"{name}(dim=(0, 1))", lambda lib, x, n=name: getattr(lib, n)(x, dim=(0, 1))
    for name in ("all", "any"):
        yield f"{name}(dim=())", lambda lib, x, n=name: getattr(lib, n)(x, dim=())
    for p in (0, 1, 2, 3, 0.5, -1, INF, -INF):
        yield f"norm({p})", lambda lib, x, p=p: lib.norm(x, p)
        yield f"norm({p}, dim=0)", lambda lib, x, p=p: lib.norm(x, p, dim=0)
        yield f"vector_norm({p})", lambda lib, x, p=p: lib.linalg.vector_norm(x, p)
    for correction in (0, 1, 2, 5):
        yield f"var(correction={correction})", lambda lib, x, c=correction: lib.var(x, correction=c)
        yield f"std(correction={correction})", lambda lib, x, c=correction: lib.std(x, 0, correction=c)


FORMS = dict(forms())


def is_left_open(form, what):
    """Where ours is another answer on purpose, or PyTorch's own formulas differ among themselves."""
    if form.startswith(("arg", ".arg")) and "bool" in what:
        return True  # PyTorch refuses bool
    if "_mean" in form and "infinit" in what:
        return True  # the mean of an infinity is infinite, which Welford's method makes NaN
    return form.startswith("cumprod") and ("NaN" in what or "infinit" in what)  # ours divides by no element


def results_of(lib, function, array):
    x = lib.tensor(array) if lib is ocl else torch.from_numpy(np.array(array))
    is_floating = array.dtype.kind == "f"
    if is_floating:
        x.requires_grad_()
    found = function(lib, x)
    found = list(found) if isinstance(found, tuple) else [found]
    results = [(str(t.dtype).split(".")[1], to_numpy(t)) for t in found]
    for k, t in enumerate(found):
        if t.requires_grad:
            g = np.arange(k + 1, k + 1 + t.numel(), dtype=np.float32).reshape(tuple(t.shape))
            t.backward(lib.tensor(g), retain_graph=True)
    if is_floating and x.grad is not None:
        results.append(("gradient", to_numpy(x.grad)))
    return results


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", INPUTS)
def test_like_torch(what):
    wrong = []
    for form, function in FORMS.items():
        if is_left_open(form, what):
            continue
        try:
            theirs = results_of(torch, function, INPUTS[what])
        except (RuntimeError, IndexError, TypeError) as refusal:
            try:
                ours = results_of(ocl, function, INPUTS[what])
            except (RuntimeError, IndexError, TypeError, ValueError):
                continue
            wrong.append(f"{form}: {ours}, PyTorch refuses: {refusal}")
            continue
        try:
            ours = results_of(ocl, function, INPUTS[what])
            assert [kind for kind, _ in ours] == [kind for kind, _ in theirs]
            for (_, actual), (_, expected) in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-7)
                assert actual.shape == expected.shape
        except Exception as error:  # noqa: BLE001  (told together)
            wrong.append(f"{form}: {type(error).__name__} {error}; PyTorch {theirs}")
    assert not wrong, f"{len(wrong)} of {len(FORMS)}\n" + "\n".join(wrong[:10])


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_a_gradient_that_is_not_finite_stays_at_the_extreme(name, dtype):
    for values in ([1, NAN, 3], [1, 3, 3], [NAN, 2, NAN]):
        pair = []
        for lib in (ocl, torch):
            x = lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)
            getattr(x, name)().backward(lib.tensor(INF, dtype=getattr(lib, dtype)))
            pair.append(to_numpy(x.grad.float()))
        np.testing.assert_array_equal(*pair)


def test_many_extremes_share_the_gradient_of_half_numbers():
    """More elements than float16 counts."""
    x = ocl.ones(70000, dtype=ocl.float16, requires_grad=True)
    x.max().backward(ocl.tensor(60000.0, dtype=ocl.float16))
    np.testing.assert_allclose(x.grad.float().numpy(), np.float16(60000 / 70000), rtol=1e-3)
