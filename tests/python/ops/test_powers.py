"""Powers: exponents that are products and roots, all others, special values, whole numbers, gradients."""

import itertools
import time

import numpy as np
import pytest
import torch
from support import skip_without

import ocl

EXPONENTS = [0, 1, 2, 3, 4, 5, 7, -1, -2, -3, 0.5, -0.5, 1.5, -1.5, 2.5, 0.375, 2**-10, 40.0, -40.0, 2.0**14]
EXPONENTS += [float("inf"), -float("inf"), float("nan"), True, 0.0, -0.0, 2.0]
BASES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -7.0, 1e10, -1e10, 1e30, 1e-30, 1e-41, -1e-41]
BASES += [float("inf"), -float("inf"), float("nan"), 1.0000001, 0.9999999, 3e38, -3e38]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
UNITS = {"float32": 2**-23, "float64": 2**-52, "float16": 2**-10, "bfloat16": 2**-7}
dtypes = pytest.mark.parametrize("dtype", FLOATS)


def tensor(lib, values, dtype, **options):
    if dtype == "float64":
        skip_without("float64")
    return lib.tensor(values, dtype=getattr(lib, dtype), **options)


def exponents_of(dtype):
    """PyTorch rounds the exponent of a gradient, one less, to a half dtype; it is exact here."""
    is_half = dtype.endswith("float16")
    return [e for e in EXPONENTS if not is_half or not np.isfinite(e) or (abs(e) <= 7 and e * 8 % 1 == 0)]


def doubles(t):
    return np.asarray(t.detach().tolist(), np.float64)


def expect_alike(ours, theirs, units, dtype, what):
    """NaN, infinities and signed zeros where PyTorch has them; else within `units` in the last place."""
    ours, theirs = doubles(ours), doubles(theirs)
    assert ours.shape == theirs.shape, what
    plain = np.isfinite(theirs) & (theirs != 0)
    np.testing.assert_array_equal(np.where(plain, 1, ours), np.where(plain, 1, theirs), err_msg=what)
    zero = theirs == 0
    np.testing.assert_array_equal(np.signbit(ours[zero]), np.signbit(theirs[zero]), err_msg=what)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(ours - theirs) / np.maximum(np.abs(theirs) * UNITS[dtype], 2**-1060)
    tiny = {"float32": 1e-37, "float16": 1e-4, "bfloat16": 1e-37, "float64": 1e-307}[dtype]
    off = np.where(plain & (np.abs(theirs) > tiny), off, 0)
    assert off.max(initial=0) <= units, f"{what}: {off.max()} units at {np.argmax(off)}"


@dtypes
@pytest.mark.parametrize("exponent", EXPONENTS, ids=repr)
def test_numbers_as_exponents(dtype, exponent):
    if not any(exponent is e for e in exponents_of(dtype)):
        pytest.skip(f"{exponent} is rounded in {dtype}")
    ours, theirs = (tensor(lib, BASES, dtype, requires_grad=True) for lib in (ocl, torch))
    powers = ours**exponent, theirs**exponent
    expect_alike(*powers, 2, dtype, "power")
    for power in powers:
        power.backward(tensor(ocl if power is powers[0] else torch, [0.75] * len(BASES), dtype))
    expect_alike(ours.grad, theirs.grad, 6, dtype, "gradient")
    in_place = [tensor(lib, BASES, dtype).pow_(exponent) for lib in (ocl, torch)]
    expect_alike(*in_place, 2, dtype, "in place")


@dtypes
def test_tensors_as_exponents(dtype):
    bases, exponents = zip(*itertools.product(BASES, map(float, exponents_of(dtype))), strict=True)
    powers, gradients = [], []
    for lib in (ocl, torch):
        a, b = (tensor(lib, values, dtype, requires_grad=True) for values in (bases, exponents))
        powers.append(a**b)
        powers[-1].backward(tensor(lib, [0.75] * len(bases), dtype))
        gradients.append((a.grad, b.grad))
    expect_alike(*powers, 2, dtype, "power")
    for ours, theirs, what in zip(*gradients, ("base", "exponent"), strict=True):
        expect_alike(ours, theirs, 6, dtype, f"gradient of the {what}")


@dtypes
@pytest.mark.parametrize("base", [0, 1, 2, -2, 10, 0.5, -0.5, 2.5, float("inf"), float("nan")], ids=repr)
def test_numbers_as_bases(dtype, base):
    ours, theirs = (tensor(lib, BASES, dtype) for lib in (ocl, torch))
    expect_alike(base**ours, base**theirs, 2, dtype, "power")
    expect_alike(ocl.pow(base, ours), torch.pow(base, theirs), 2, dtype, "pow")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [1, 15, 16, 1000])
def test_every_power_is_right_to_a_unit(dtype, length):
    rng = np.random.default_rng(length)
    a = np.concatenate(
        [
            rng.uniform(0, 4, length),
            np.exp2(rng.uniform(-120, 120, length)),
            1 + rng.uniform(-1e-3, 1e-3, length),
        ]
    )
    b = np.concatenate(
        [rng.uniform(-4, 4, length), rng.uniform(-1, 1, length), rng.uniform(-5e4, 5e4, length)]
    )
    a, b = a.astype(dtype), b.astype(dtype)
    exact = np.power(a.astype(np.longdouble), b.astype(np.longdouble))
    result = (tensor(ocl, a, dtype) ** tensor(ocl, b, dtype)).numpy()
    kept = (np.abs(exact) < np.finfo(dtype).max) & (np.abs(exact) > np.finfo(dtype).tiny)
    off = np.abs(result.astype(np.longdouble) - exact)[kept] / (np.abs(exact[kept]) * np.finfo(dtype).eps)
    # On GPUs divisions and roots are rounded to 2.5 units, of which a power keeps a part.
    assert off.max(initial=0) <= (1 if ocl.get_device_properties()["is_cpu"] else 2)


@pytest.mark.parametrize("exponent", [2, -0.5, 1.7])
def test_layouts_and_sizes(exponent):
    x = np.random.default_rng(0).uniform(0.1, 3, (5, 6, 7)).astype(np.float32)
    t = ocl.tensor(x)
    views = {
        "empty": (t[:0], x[:0]),
        "one": (t[:1, :1, :1], x[:1, :1, :1]),
        "permuted": (t.permute(2, 0, 1), x.transpose(2, 0, 1)),
        "sliced": (t[:, ::2], x[:, ::2]),
        "offset": (t[..., 3], x[..., 3]),
        "expanded": (t[:, :1].expand(5, 6, 7), np.broadcast_to(x[:, :1], (5, 6, 7))),
        "scalar": (t[1, 2, 3], x[1, 2, 3]),
    }
    for what, (view, array) in views.items():
        expected = np.power(array.astype(np.float64), exponent)
        np.testing.assert_allclose((view**exponent).numpy(), expected, rtol=1e-6, err_msg=what)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
def test_whole_numbers(dtype):
    special = {"uint8": [0, 1, 2, 3, 200], "bool": [0, 1, 1]}
    values = special.get(dtype, [0, 1, -1, 2, -3, 50])
    for exponent in (0, 1, 2, 3, 4, 9, True, 2.0, 0.5, -1.0):
        results = [tensor(lib, values, dtype) ** exponent for lib in (ocl, torch)]
        assert str(results[0].dtype).split(".")[1] == str(results[1].dtype).split(".")[1], exponent
        np.testing.assert_allclose(results[0].numpy(), results[1].numpy(), rtol=1e-6, err_msg=str(exponent))
    # The power to a negative number in a tensor is rounded towards 0, as PyTorch's.
    exponents = [-2, -1, 0, 1, 3, -3][: len(values)]
    ours, theirs = (tensor(lib, values, dtype) ** tensor(lib, exponents, "int64") for lib in (ocl, torch))
    assert ours.tolist()[1:] == theirs.tolist()[1:]  # 0 to a negative power has none


def test_numbers_share_programs():
    """Whatever number it is: the powers that are products and roots have one program, all others another."""
    x = ocl.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def programs():
        info = ocl.kernel_cache_info()
        return info["hits"] + info["built"]

    def take(exponents):
        for exponent in exponents:
            (x**exponent).sum().backward()
        ocl.synchronize()

    take([2, 1.7])
    before = programs()
    take([0, 1, 3, -1, -2, 0.5, -0.5, 1.3, 2.6, 4, 5, -7, 1e9])
    assert programs() == before


def test_a_power_takes_about_as_long_as_other_functions():
    x = ocl.tensor(np.random.default_rng(0).uniform(0.1, 4, 2**20).astype(np.float32))

    def seconds(function):
        best = float("inf")
        for _ in range(5):
            ocl.synchronize()
            start = time.perf_counter()
            function()
            ocl.synchronize()
            best = min(best, time.perf_counter() - start)
        return best

    product = seconds(lambda: x * x)
    for exponent in (2, 3, 0.5, -0.5, -1, -2):
        assert seconds(lambda e=exponent: x**e) < 25 * product, exponent
    for power in (lambda: x**1.7, lambda: 2.5**x, lambda: x**x):  # 400 to 1000 products where each is a call
        assert seconds(power) < 120 * product
