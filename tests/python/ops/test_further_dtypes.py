"""Functions that Python makes of operators: strided inputs, 16 bits, NumPy's numbers, two gradients."""

import numpy as np
import pytest
import torch
from further_names import compare, floats

import ocl

STRIDED = {
    "cov": lambda lib, x: lib.cov(x),
    "corrcoef": lambda lib, x: lib.corrcoef(x),
    "dist": lambda lib, x: lib.dist(x, x.flip(0)),
    "gradient": lambda lib, x: lib.gradient(x)[0],
    "gradient by order 2": lambda lib, x: lib.gradient(x, spacing=0.5, edge_order=2)[1],
    "deg2rad": lambda lib, x: lib.deg2rad(x),
    "ldexp": lambda lib, x: lib.ldexp(x, lib.tensor([1, 2, 3, 4])),
    "frexp": lambda lib, x: lib.frexp(x)[0],
    "i0": lambda lib, x: lib.special.i0(x),
    "i1e": lambda lib, x: lib.special.i1e(x),
    "erfcx": lambda lib, x: lib.special.erfcx(x),
    "log_ndtr": lambda lib, x: lib.special.log_ndtr(x),
    "ndtri": lambda lib, x: lib.special.ndtri(lib.sigmoid(x)),
    "zeta": lambda lib, x: lib.special.zeta(3.0, x.abs() + 0.5),
    "gammainc": lambda lib, x: lib.special.gammainc(lib.full_like(x, 1.5), x.abs()),
    "index_put": lambda lib, x: lib.index_put(x, (lib.tensor([0, 0]),), x[1:3], accumulate=True),
    "put": lambda lib, x: lib.put(x, lib.tensor([3, 1]), x.flatten()[:2]),
    "unsqueeze_": lambda lib, x: (x * 2).detach().unsqueeze_(1),
    "tril_": lambda lib, x: (x * 2).tril_(),
    "fill_diagonal_": lambda lib, x: (x * 2).fill_diagonal_(3),
    "constant pad": lambda lib, x: lib.nn.ConstantPad1d((1, 2), 0.5)(x),
}


NOT_IN_16_BITS = ("zeta", "gammainc", "erfcx", "log_ndtr", "ndtri")  # in PyTorch


@pytest.mark.parametrize("name", STRIDED)
def test_strided_inputs(name):
    """A transposed view of every second row."""
    call = STRIDED[name]
    compare(lambda lib, x: call(lib, x[::2].t()[1:]), floats(8, 6), rtol=1e-4, atol=1e-5)


@pytest.mark.reduced_precision
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [n for n in STRIDED if n not in NOT_IN_16_BITS])
def test_16_bits(name, dtype):
    x = floats(4, 4)
    results = []
    for lib in (torch, ocl):
        given = STRIDED[name](lib, lib.tensor(x).to(getattr(lib, dtype)))
        assert str(given.dtype).endswith(dtype)
        results.append(given.float().numpy())
    unit = 2.0 ** (-10 if dtype == "float16" else -7)
    np.testing.assert_allclose(
        results[1], results[0], rtol=4 * unit, atol=4 * unit * np.abs(results[0]).max()
    )


@pytest.mark.parametrize("number", [2, 2.5, np.float32(1.5), np.int64(3), np.float64(0.5)])
def test_numbers(number):
    compare(lambda lib, x: lib.float_power(x, number), np.abs(floats(3)) + 0.1)
    compare(lambda lib, x: lib.gradient(x, spacing=number), floats(5))
    compare(lambda lib, x: (x * 1).fill_diagonal_(number), floats(3, 3))
    compare(lambda lib, x: lib.dist(x, x + 1, number), floats(3))
    compare(lambda lib: lib.logspace(0, number, 4))
    compare(lambda lib, x: lib.nn.ConstantPad1d(np.int64(1), number)(x), floats(2, 3))
    compare(
        lambda lib, x: lib.special.zeta(x, number), np.array([2.5, 3.0], np.float32), differentiable=False
    )


TWICE = {
    "cov": lambda x: ocl.cov(x),
    "corrcoef": lambda x: ocl.corrcoef(x),
    "dist": lambda x: ocl.dist(x, x.flip(0), 3),
    "gradient": lambda x: ocl.gradient(x**3, spacing=0.5, edge_order=2)[0],
    "float_power": lambda x: ocl.float_power(x.abs() + 0.5, 2.5),
    "index_put": lambda x: ocl.index_put(x, (ocl.tensor([0, 0]),), x[1:3] ** 2, accumulate=True) ** 2,
    "put": lambda x: ocl.put(x, ocl.tensor([3, 1]), x.flatten()[:2] ** 2) ** 2,
    "erfcx": ocl.special.erfcx,
    "log_ndtr": ocl.special.log_ndtr,
    "i0e": lambda x: ocl.special.i0e(x + 3),
    "mvlgamma": lambda x: ocl.mvlgamma(x.abs() + 2, 3),
    "tril_": lambda x: (x * x).tril_() ** 2,
    "cumprod_": lambda x: (x + 3).cumprod_(0),
}


@pytest.mark.parametrize("name", TWICE)
def test_two_gradients(name):
    x = ocl.tensor(floats(3, 4).astype("float64"), requires_grad=True)
    assert ocl.autograd.gradcheck(TWICE[name], x)
    assert ocl.autograd.gradgradcheck(TWICE[name], x)
