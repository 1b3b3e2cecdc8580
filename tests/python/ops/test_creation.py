"""Functions of creation.py, questions.py and drawing.py beside PyTorch's."""

import numpy as np
import pytest
import torch
from further_names import compare, fails, floats

import ocl


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
@pytest.mark.parametrize("offset", [0, 1, -1, 5, -9])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (1, 1)])
def test_triangles(name, offset, sizes):
    compare(lambda lib: getattr(lib, name)(*sizes, offset))
    compare(lambda lib: getattr(lib, name)(*sizes, offset=offset, dtype=lib.int32))


def test_triangles_refuse_negative_sizes():
    fails(lambda lib: lib.tril_indices(-1, 2))
    fails(lambda lib: lib.triu_indices(2, -2))


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
@pytest.mark.parametrize("base", [10.0, 2.0, 0.5])
def test_logspace(base, steps):
    compare(lambda lib: lib.logspace(-2, 3, steps, base))
    compare(lambda lib: lib.logspace(1, -1, steps, base=base, dtype=lib.float64))
    assert ocl.logspace(0, 1, 3, requires_grad=True).requires_grad
    fails(lambda lib: lib.logspace(0, 1, -2))


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 15])
def test_windows(length, periodic):
    for name in ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"):
        compare(lambda lib, n=name: getattr(lib, n)(length, periodic), atol=1e-6)
        compare(
            lambda lib, n=name: getattr(lib, n)(length, periodic, dtype=lib.float64), rtol=1e-9, atol=1e-12
        )
    compare(lambda lib: lib.hamming_window(length, periodic, 0.6, 0.3))
    compare(lambda lib: lib.kaiser_window(length, periodic, 5.0))


def test_what_windows_refuse():
    fails(lambda lib: lib.hann_window(-1))
    fails(lambda lib: lib.hann_window(3, dtype=lib.int64))
    with pytest.raises(TypeError, match="unexpected argument 'dtpye'"):
        ocl.hann_window(3, dtpye=ocl.float32)


def test_scalar_tensor_and_empty_strided():
    for value in (2, 2.5, True):
        compare(lambda lib, v=value: lib.scalar_tensor(v))
    for lib in (torch, ocl):
        x = lib.empty_strided((2, 3), (1, 2), dtype=lib.float64)
        assert tuple(x.stride()) == (1, 2) and tuple(x.shape) == (2, 3)
        assert lib.empty_strided((0, 3), (3, 1)).numel() == 0
    fails(lambda lib: lib.empty_strided((2, 3), (1,)))


def test_asarray():
    x = ocl.ones(3)
    assert ocl.asarray(x, copy=True).data is not x
    shared = ocl.asarray(x)
    shared[0] = 5
    assert x.tolist() == [5, 1, 1]
    own = ocl.asarray(x, copy=True)
    own[0] = 7
    assert x.tolist() == [5, 1, 1]
    assert ocl.asarray(x, dtype=ocl.int64).dtype == ocl.int64
    assert ocl.asarray([1, 2]).dtype == ocl.int64
    assert ocl.asarray(np.ones(2), requires_grad=True).requires_grad
    assert not ocl.asarray(ocl.ones(2, requires_grad=True) * 2).requires_grad
    with pytest.raises(ValueError, match="can't alias"):
        ocl.asarray(x, dtype=ocl.int64, copy=False)
    with pytest.raises(ValueError, match="can't alias"):
        ocl.asarray([1, 2], copy=False)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "float16", "bfloat16", "bool"])
def test_frombuffer(dtype):
    data = bytearray(range(48)) if dtype != "bool" else bytearray([0, 1] * 24)
    compare(lambda lib: lib.frombuffer(data, dtype=getattr(lib, dtype)).float())
    compare(lambda lib: lib.frombuffer(data, dtype=getattr(lib, dtype), count=2, offset=8).float())
    fails(lambda lib: lib.frombuffer(data, dtype=getattr(lib, dtype), count=100))
    fails(lambda lib: lib.frombuffer(data, dtype=getattr(lib, dtype), offset=48))
    fails(lambda lib: lib.frombuffer(bytearray(), dtype=getattr(lib, dtype)))
    if dtype in ("float32", "int64"):
        fails(lambda lib: lib.frombuffer(data, dtype=getattr(lib, dtype), offset=1))


@pytest.mark.parametrize("x", [floats(2, 3), np.arange(3), np.array([True]), np.zeros(1, np.uint8), floats()])
@pytest.mark.parametrize(
    "name", ["is_complex", "is_conj", "is_neg", "is_signed", "isreal", "conj", "is_inference"]
)
def test_questions(name, x):
    compare(lambda lib, x: getattr(lib, name)(x), x)
    compare(lambda lib, x: getattr(x, name)(), x)


def test_other_questions():
    compare(lambda lib, x, y: lib.is_same_size(x, y), floats(2), floats(2))
    compare(lambda lib, x, y: lib.is_same_size(x, y), floats(2), floats(2, 1))
    for x in (np.zeros(1), np.ones((1, 1)), np.array(3)):
        compare(lambda lib, x: lib.is_nonzero(x), x)
    fails(lambda lib, x: lib.is_nonzero(x), floats(2))
    fails(lambda lib, x: x.is_nonzero(), floats(0))
    compare(lambda lib, x: lib.real(x), floats(3))
    assert ocl.get_device(ocl.ones(2)) == ocl.ones(2).device.index
    assert ocl.typename(ocl.ones(2)) == ocl.ones(2).type()
    assert ocl.typename(3) == torch.typename(3)
    assert ocl.typename([]) == torch.typename([])


def seeded(draw):
    """Numbers of a generator, which repeat, and others of the next call."""
    first = draw(ocl.Generator().manual_seed(3)).numpy()
    np.testing.assert_array_equal(first, draw(ocl.Generator().manual_seed(3)).numpy())
    assert (first != draw(ocl.Generator().manual_seed(4)).numpy()).any()
    return first.astype(np.float64)


@pytest.mark.parametrize("rate", [0.3, 4.0, 60.0])
def test_poisson(rate):
    drawn = seeded(lambda g: ocl.poisson(ocl.full((40000,), rate), g))
    assert abs(drawn.mean() - rate) < 5 * (rate / drawn.size) ** 0.5
    assert abs(drawn.var() / rate - 1) < 0.06
    assert (drawn == np.round(drawn)).all()


def test_edges_of_poisson():
    assert ocl.poisson(ocl.zeros(3)).tolist() == [0, 0, 0]
    assert ocl.poisson(ocl.zeros(0)).shape == (0,)
    assert ocl.poisson(ocl.ones(2).half()).dtype == ocl.float16
    compare(lambda lib, x: lib.poisson(x.abs()) * 0, floats(3))
    fails(lambda lib, x: lib.poisson(x), np.array([1.0, -1.0], np.float32))
    fails(lambda lib, x: lib.poisson(x), np.array([1, 2]))


@pytest.mark.parametrize(("count", "prob"), [(5, 0.3), (100, 0.5), (1000, 0.99)])
def test_binomial(count, prob):
    drawn = seeded(lambda g: ocl.binomial(ocl.full((40000,), float(count)), ocl.full((40000,), prob), g))
    spread = (count * prob * (1 - prob)) ** 0.5
    assert abs(drawn.mean() - count * prob) < 5 * spread / drawn.size**0.5
    assert abs(drawn.var() / spread**2 - 1) < 0.06
    assert ((drawn >= 0) & (drawn <= count)).all()


def test_what_binomial_refuses():
    fails(lambda lib, n, p: lib.binomial(n, p), np.ones(2, np.float32), np.ones(2))
    with pytest.raises(ValueError, match="between 0 and 1"):
        ocl.binomial(ocl.ones(2), ocl.tensor([0.5, 2.0]))


def test_cauchy():
    drawn = seeded(lambda g: ocl.empty(40000).cauchy_(2, 3, generator=g))
    quarters = np.quantile(drawn, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quarters, [-1, 2, 5], atol=0.25)
    assert np.isfinite(drawn).all()
    fails(lambda lib: lib.empty(2).cauchy_(0, 0))
    fails(lambda lib: lib.zeros(2, dtype=lib.int64).cauchy_())


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_geometric(p):
    drawn = seeded(lambda g: ocl.empty(40000).geometric_(p, generator=g))
    spread = (1 - p) ** 0.5 / p
    assert abs(drawn.mean() - 1 / p) < 5 * spread / drawn.size**0.5
    assert drawn.min() == 1
    assert abs((drawn == 1).mean() - p) < 0.02
    assert ocl.zeros(5, dtype=ocl.int64).geometric_(p).dtype == ocl.int64
    fails(lambda lib: lib.empty(2).geometric_(0))
    fails(lambda lib: lib.empty(2).geometric_(1.5))


def test_log_normal():
    drawn = np.log(seeded(lambda g: ocl.empty(40000).log_normal_(0.5, 1.5, generator=g)))
    assert abs(drawn.mean() - 0.5) < 0.05 and abs(drawn.std() - 1.5) < 0.05
    fails(lambda lib: lib.empty(2).log_normal_(0, -1))
    fails(lambda lib: lib.zeros(2, dtype=lib.int64).log_normal_())
