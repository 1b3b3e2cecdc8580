"""Random creation and dropout: moments, bounds, and what a seed determines."""

import numpy as np
import pytest
from support import FLOATS, skip_without

import ocl

N = 400_003
CREATION = {
    "rand": lambda dtype="float32": ocl.rand(N, dtype=getattr(ocl, dtype)),
    "randn": lambda dtype="float32": ocl.randn(N, dtype=getattr(ocl, dtype)),
    "randint": lambda dtype="int64": ocl.randint(-3, 8, (N,), dtype=getattr(ocl, dtype)),
    "dropout": lambda dtype="float32": ocl.dropout(ocl.ones(N, dtype=getattr(ocl, dtype)), 0.3),
}


def assert_moments(values, mean, std):
    """Mean and standard deviation within five standard errors."""
    values = values.astype(np.float64)
    assert abs(values.mean() - mean) < 5 * std / np.sqrt(values.size)
    assert abs(values.std() / std - 1) < 5 / np.sqrt(values.size)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rand(dtype):
    skip_without(dtype)
    ocl.manual_seed(1)
    values = CREATION["rand"](dtype).numpy()
    assert values.dtype == dtype
    assert values.min() >= 0 and values.max() < 1
    assert_moments(values, 0.5, np.sqrt(1 / 12))
    counts, _ = np.histogram(values, 100, (0, 1))
    assert ((counts - N / 100) ** 2).sum() / (N / 100) < 160  # chi-square with 99 degrees of freedom
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 5 / np.sqrt(N)


@pytest.mark.parametrize("dtype", FLOATS)
def test_randn(dtype):
    skip_without(dtype)
    ocl.manual_seed(2)
    values = CREATION["randn"](dtype).numpy()
    assert np.isfinite(values).all()
    assert_moments(values, 0, 1)
    assert abs((values**3).mean()) < 0.03 and abs((values**4).mean() - 3) < 0.08
    assert abs((np.abs(values) < 1.959964).mean() - 0.95) < 0.002
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 5 / np.sqrt(N)


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_randint(dtype):
    ocl.manual_seed(3)
    values = CREATION["randint"](dtype).numpy()
    assert values.dtype == dtype
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == list(range(-3, 8))
    assert ((counts - N / 11) ** 2).sum() / (N / 11) < 40  # chi-square with 10 degrees of freedom


def test_randint_of_a_wide_range():
    ocl.manual_seed(4)
    values = ocl.randint(-(2**40), 2**40, (N,)).numpy()
    assert values.min() >= -(2**40) and values.max() < 2**40
    assert_moments(values, 0, 2**40 / np.sqrt(3))


@pytest.mark.parametrize("name", CREATION)
def test_a_seed_determines_the_numbers(name):
    def draw(seed):
        ocl.manual_seed(seed)
        return np.concatenate([CREATION[name]().numpy(), CREATION[name]().numpy()])

    first = draw(7)
    np.testing.assert_array_equal(first, draw(7))
    assert (first != draw(8)).mean() > 0.2
    assert (first[:N] != first[N:]).mean() > 0.2, "a second call repeats the first"
    assert ocl.initial_seed() == 8


def test_numbers_do_not_depend_on_the_size_before_them():
    """Element i is a function of the seed and the generator's offset alone."""
    ocl.manual_seed(5)
    long = ocl.rand(1000).numpy()
    ocl.manual_seed(5)
    np.testing.assert_array_equal(ocl.rand(10).numpy(), long[:10])


def test_shapes():
    assert ocl.rand(2, 3).shape == (2, 3)
    assert ocl.randn((4,)).shape == (4,)
    assert ocl.rand().shape == ()
    assert ocl.randn(0, 3).shape == (0, 3)
    assert ocl.randint(0, 2, (2, 2)).dtype == ocl.int64
    assert ocl.rand(2, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ocl.rand(3, dtype=ocl.int64), TypeError, "expected a floating dtype, got int64"),
        (lambda: ocl.randn(3, dtype=ocl.bool), TypeError, "expected a floating dtype, got bool"),
        (lambda: ocl.randint(3, 3, (2,)), ValueError, "expected low < high, got 3 and 3"),
        (lambda: ocl.rand(-1), ValueError, "negative size"),
        (
            lambda: ocl.dropout(ocl.ones(3), 1.5),
            ValueError,
            "dropout probability has to be between 0 and 1, but got 1.5",
        ),
        (lambda: ocl.dropout(ocl.ones(3), -0.1), ValueError, "dropout probability"),
        (lambda: ocl.dropout(ocl.ones(3).int()), TypeError, "dropout: expected a floating dtype"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- dropout


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_statistics(p, dtype):
    skip_without(dtype)
    ocl.manual_seed(6)
    values = ocl.dropout(ocl.ones(N, dtype=getattr(ocl, dtype)), p).numpy()
    kept = values != 0
    assert abs(kept.mean() - (1 - p)) < 5 * np.sqrt(p * (1 - p) / N)
    np.testing.assert_allclose(values[kept], 1 / (1 - p), rtol=1e-6)
    assert abs(np.corrcoef(kept[:-1], kept[1:])[0, 1]) < 5 / np.sqrt(N)


@pytest.mark.oclgrind
@pytest.mark.parametrize("shape", [(1,), (7,), (64,), (65,), (5, 13), (3, 4, 5)], ids=str)
def test_dropout_uses_one_mask_forward_and_backward(shape, rng):
    x = ocl.tensor(rng.uniform(1, 2, shape).astype(np.float32), requires_grad=True)
    g = rng.uniform(1, 2, shape).astype(np.float32)
    y = ocl.dropout(x, 0.4)
    ocl.rand(100)  # numbers drawn in between change nothing
    y.backward(ocl.tensor(g))
    mask = (y.numpy() != 0) / np.float32(0.6)
    np.testing.assert_allclose(y.numpy(), x.numpy() * mask, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), g * mask, rtol=1e-6)


def test_dropout_of_a_view_and_a_transposed_gradient(rng):
    x = ocl.tensor(rng.uniform(1, 2, (6, 9)).astype(np.float32), requires_grad=True)
    y = ocl.dropout(x.t(), 0.5)
    y.t().backward(ocl.tensor(np.ones((6, 9), np.float32)))
    np.testing.assert_array_equal(x.grad.numpy().T != 0, y.numpy() != 0)


def test_dropout_at_its_ends(rng):
    x = ocl.tensor(rng.uniform(1, 2, (5, 6)).astype(np.float32), requires_grad=True)
    assert ocl.dropout(x, 0.0).tolist() == x.tolist()
    gone = ocl.dropout(x, 1.0)
    gone.sum().backward()
    assert not gone.numpy().any() and not x.grad.numpy().any()
    assert ocl.dropout(ocl.ones(0, 3)).shape == (0, 3)


def test_dropout_in_evaluation_is_the_identity(rng):
    x = ocl.tensor(rng.uniform(1, 2, (5, 6)).astype(np.float32), requires_grad=True)
    y = ocl.dropout(x, 0.7, training=False)
    y.sum().backward()
    assert y.tolist() == x.tolist()
    assert (x.grad.numpy() == 1).all()
    module = ocl.nn.Dropout(0.7).eval()
    assert module(x).tolist() == x.tolist()
    assert (module.train()(x).numpy() == 0).any()
