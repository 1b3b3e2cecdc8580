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


# --- distributions


def test_uniform_and_normal_in_place():
    ocl.manual_seed(10)
    assert_moments(ocl.empty(N).uniform_(-2, 4).numpy(), 1, 6 / np.sqrt(12))
    assert_moments(ocl.empty(N).normal_(3, 0.5).numpy(), 3, 0.5)
    assert_moments(ocl.empty(N).exponential_(2).numpy(), 0.5, 0.5)
    assert ocl.empty(N).exponential_().numpy().min() >= 0


def test_in_place_through_a_view_writes_the_view_alone():
    x = ocl.zeros(4, 6)
    assert x.t()[1:3].uniform_(1, 2) is not x
    written = x.numpy() != 0
    assert written[:, 1:3].all() and not written[:, 0].any() and not written[:, 3:].any()


def test_in_place_cuts_the_history():
    x = ocl.ones(3, requires_grad=True)
    y = x * 2
    y[:1].normal_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 2]


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("float32", 0, 2**24), ("uint8", 0, 255), ("int32", 0, 2**31 - 1), ("bool", 0, 1)],
)
def test_random_fills_the_range_of_a_dtype(dtype, low, high):
    ocl.manual_seed(11)
    values = ocl.empty(20_001, dtype=getattr(ocl, dtype)).random_().numpy().astype(np.float64)
    assert values.min() >= low and values.max() <= high
    assert_moments(values, (low + high) / 2, ((high - low + 1) ** 2 / 12 - 1 / 12) ** 0.5)


def test_random_between_bounds():
    ocl.manual_seed(12)
    assert set(ocl.empty(500).random_(3).tolist()) == {0, 1, 2}
    assert set(ocl.empty(500, dtype=ocl.int64).random_(-2, 1).tolist()) == {-2, -1, 0}


def test_bernoulli():
    ocl.manual_seed(13)
    p = ocl.full((N,), 0.3)
    for values in (
        ocl.bernoulli(p),
        ocl.bernoulli(p, 0.3),
        ocl.empty(N).bernoulli_(0.3),
        ocl.zeros(N).bernoulli_(p),
    ):
        assert set(np.unique(values.numpy())) == {0, 1}
        assert_moments(values.numpy(), 0.3, np.sqrt(0.21))
    assert ocl.bernoulli(ocl.tensor([0.0, 1.0])).tolist() == [0, 1]
    assert ocl.empty(9, dtype=ocl.bool).bernoulli_(1.0).all().item()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_of_16_bits(dtype):
    ocl.manual_seed(15)
    dtype = getattr(ocl, dtype)
    for low, high in ((0, 1), (2, 3), (-3, -2), (-1, 1)):
        drawn = ocl.empty(N, dtype=dtype).uniform_(low, high).float().numpy()
        assert drawn.min() >= low and drawn.max() < high
        assert abs(drawn.mean() - (low + high) / 2) < 0.01
    assert (-ocl.log(1 - ocl.rand(N, dtype=dtype).float())).isfinite().all().item()
    for p in (0.998, 0.7, 0.01):
        chance = ocl.full((1 << 20,), p, dtype=dtype)
        stored = chance[0].item()
        share = chance.bernoulli().float().mean().item()
        assert abs(share - stored) < 5 * np.sqrt(stored * (1 - stored) / (1 << 20))
    for wide in ((-3e38, 3e38), (0, float("inf")), (0, 1e5)):
        if dtype is ocl.float16 or np.isinf(wide[1]) or wide[0] < 0:
            with pytest.raises(ValueError):
                ocl.empty(3, dtype=dtype).uniform_(*wide)
    if dtype is ocl.float16:
        with pytest.raises(ValueError):
            ocl.randint(0, 70000, (4,), dtype=dtype)


def test_normal_of_tensors():
    ocl.manual_seed(14)
    mean, std = ocl.arange(4.0).reshape(4, 1), ocl.linspace(0.5, 2, 40_001)
    values = ocl.normal(mean, std).numpy()
    assert values.shape == (4, 40_001)
    for row in range(4):
        assert_moments((values[row] - row) / std.numpy(), 0, 1)
    assert_moments(ocl.normal(ocl.ones(N), 3.0).numpy(), 1, 3)
    assert_moments(ocl.normal(2.0, ocl.full((N,), 0.1)).numpy(), 2, 0.1)
    assert_moments(ocl.normal(-1.0, 2.0, (N,)).numpy(), -1, 2)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_randperm_has_every_number_once(n):
    ocl.manual_seed(15)
    drawn = ocl.randperm(n)
    assert drawn.dtype == ocl.int64
    assert sorted(drawn.tolist()) == list(range(n))


def test_randperm_gives_every_order():
    ocl.manual_seed(16)
    orders = [tuple(ocl.randperm(4, dtype=ocl.int32).tolist()) for _ in range(4800)]
    counts = np.unique([hash(o) for o in orders], return_counts=True)[1]
    assert len(counts) == 24
    assert ((counts - 200) ** 2).sum() / 200 < 60  # chi-square with 23 degrees of freedom


@pytest.mark.oclgrind
@pytest.mark.parametrize("categories", [1, 2, 5, 64, 1000])
@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_draws_what_is_possible(categories, replacement, rng):
    weights = rng.uniform(0.1, 1, (3, categories)).astype(np.float32)
    weights[:, 1::3] = 0
    likely = int((weights[0] > 0).sum())
    drawn = ocl.multinomial(ocl.tensor(weights), likely, replacement=replacement).numpy()
    assert drawn.dtype == np.int64 and drawn.shape == (3, likely)
    assert (np.take_along_axis(weights, drawn, 1) > 0).all()
    if not replacement:
        assert all(len(set(row)) == likely for row in drawn.tolist())
        everything = ocl.multinomial(ocl.tensor(weights), categories).numpy()
        assert (np.sort(everything, 1) == np.arange(categories)).all()


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_frequencies(replacement, rng):
    """The counts of the first draw of each row, in either way."""
    ocl.manual_seed(17)
    weights = rng.uniform(0, 1, 37).astype(np.float32)
    rows = 40_000
    if replacement:
        drawn = ocl.multinomial(ocl.tensor(weights), rows, replacement=True).numpy()
    else:
        drawn = ocl.multinomial(ocl.tensor(weights).expand(rows, 37), 2).numpy()
        assert (drawn[:, 0] != drawn[:, 1]).all()
        drawn = drawn[:, 0]
    expected = weights / weights.sum() * rows
    found = np.bincount(drawn, minlength=37)
    assert ((found - expected) ** 2 / expected).sum() < 80  # chi-square with 36 degrees of freedom


def test_a_generator_is_a_stream_of_its_own():
    first, second = ocl.Generator().manual_seed(3), ocl.Generator().manual_seed(3)
    ocl.manual_seed(3)
    a = ocl.rand(10, generator=first).tolist()
    ocl.rand(10)
    assert ocl.rand(10, generator=second).tolist() == a
    state = first.get_state()
    b = [ocl.randn(5, generator=first).tolist(), ocl.randperm(9, generator=first).tolist()]
    assert ocl.rand(10, generator=first).tolist() != a
    first.set_state(state)
    assert [ocl.randn(5, generator=first).tolist(), ocl.randperm(9, generator=first).tolist()] == b
    assert first.initial_seed() == 3 and first.seed() == first.initial_seed()
    assert ocl.Generator().manual_seed(-1).initial_seed() == 2**64 - 1


def test_every_random_function_takes_a_generator():
    p = ocl.full((50,), 0.5)
    draws = [
        lambda g: ocl.rand(50, generator=g),
        lambda g: ocl.randn(50, generator=g),
        lambda g: ocl.randint(0, 1000, (50,), generator=g),
        lambda g: ocl.randperm(50, generator=g),
        lambda g: ocl.normal(0.0, 1.0, (50,), generator=g),
        lambda g: ocl.normal(p, 1.0, generator=g),
        lambda g: ocl.bernoulli(p, generator=g),
        lambda g: ocl.multinomial(p, 50, generator=g),
        lambda g: ocl.empty(50).uniform_(generator=g),
        lambda g: ocl.empty(50).normal_(generator=g),
        lambda g: ocl.empty(50).bernoulli_(generator=g),
        lambda g: ocl.empty(50).exponential_(generator=g),
        lambda g: ocl.empty(50).random_(generator=g),
    ]
    for draw in draws:
        one = draw(ocl.Generator().manual_seed(5)).tolist()
        assert draw(ocl.Generator().manual_seed(5)).tolist() == one
        assert draw(ocl.Generator().manual_seed(6)).tolist() != one


def test_the_state_of_the_default_generator():
    state = ocl.get_rng_state()
    first = ocl.rand(5).tolist()
    ocl.set_rng_state(state)
    assert ocl.rand(5).tolist() == first


def test_like():
    x = ocl.zeros(3, 4, dtype=ocl.float32)
    assert ocl.rand_like(x).shape == ocl.randn_like(x).shape == (3, 4)
    assert ocl.randint_like(x, 5).dtype == ocl.float32
    assert set(ocl.randint_like(x, 3, 5, dtype=ocl.int64).reshape(-1).tolist()) <= {3, 4}
    assert ocl.randint(5, (3,)).shape == (3,)


# --- dropout


@pytest.mark.parametrize("p", [0.3, 0.7])
def test_dropout2d_drops_whole_channels(p, rng):
    ocl.manual_seed(18)
    x = ocl.ones(100, 30, 3, 2, requires_grad=True)
    y = ocl.nn.functional.dropout2d(x, p)
    y.sum().backward()
    values = y.detach().numpy()
    np.testing.assert_array_equal(x.grad.numpy(), values)
    assert (values == values[:, :, :1, :1]).all()
    kept = values[:, :, 0, 0] != 0
    assert abs(kept.mean() - (1 - p)) < 5 * np.sqrt(p * (1 - p) / kept.size)
    np.testing.assert_allclose(values[values != 0], 1 / (1 - p), rtol=1e-6)
    module = ocl.nn.Dropout2d(p)
    assert repr(module) == f"Dropout2d(p={p}, inplace=False)"
    assert (module(x.detach()).numpy() == 0).any() and (module.eval()(x.detach()).numpy() == 1).all()


def test_dropout_in_place():
    x = ocl.ones(1000, requires_grad=True)
    y = x * 2
    assert ocl.nn.functional.dropout(y, 0.5, inplace=True).tolist() == y.tolist()
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.detach().numpy())
    z = ocl.ones(4, 6).t()
    ocl.nn.Dropout(0.5, inplace=True)(z)
    assert set(z.reshape(-1).tolist()) == {0, 2}


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
    mask = (y.detach().numpy() != 0) / np.float32(0.6)
    np.testing.assert_allclose(y.detach().numpy(), x.detach().numpy() * mask, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), g * mask, rtol=1e-6)


def test_dropout_of_a_view_and_a_transposed_gradient(rng):
    x = ocl.tensor(rng.uniform(1, 2, (6, 9)).astype(np.float32), requires_grad=True)
    y = ocl.dropout(x.t(), 0.5)
    y.t().backward(ocl.tensor(np.ones((6, 9), np.float32)))
    np.testing.assert_array_equal(x.grad.numpy().T != 0, y.detach().numpy() != 0)


def test_dropout_at_its_ends(rng):
    x = ocl.tensor(rng.uniform(1, 2, (5, 6)).astype(np.float32), requires_grad=True)
    assert ocl.dropout(x, 0.0).tolist() == x.tolist()
    gone = ocl.dropout(x, 1.0)
    gone.sum().backward()
    assert not gone.detach().numpy().any() and not x.grad.numpy().any()
    assert ocl.dropout(ocl.ones(0, 3)).shape == (0, 3)


def test_dropout_in_evaluation_is_the_identity(rng):
    x = ocl.tensor(rng.uniform(1, 2, (5, 6)).astype(np.float32), requires_grad=True)
    y = ocl.dropout(x, 0.7, training=False)
    y.sum().backward()
    assert y.tolist() == x.tolist()
    assert (x.grad.numpy() == 1).all()
    module = ocl.nn.Dropout(0.7).eval()
    assert module(x).tolist() == x.tolist()
    assert (module.train()(x).detach().numpy() == 0).any()


@pytest.mark.parametrize("bad", [1.5, -0.25, float("nan")])
def test_chances_and_deviations_out_of_range(bad):
    p = ocl.tensor([0.5, bad])
    for draw in (lambda: ocl.bernoulli(p), lambda: ocl.zeros(2).bernoulli_(p)):
        with pytest.raises(ValueError, match="elements of p to be in"):
            draw()
    if bad != 1.5:
        with pytest.raises(ValueError, match="elements of std >= 0"):
            ocl.normal(0.0, p)
    assert ocl.bernoulli(ocl.empty(0)).shape == ocl.normal(0.0, ocl.empty(0)).shape == (0,)


def test_rrelu_draws_a_slope_for_each_negative_element():
    ocl.manual_seed(1)
    x = ocl.randn(300, 70).requires_grad_()
    y = ocl.nn.functional.rrelu(x, 0.2, 0.6, training=True)
    y.backward(ocl.ones_like(y))
    given, slopes = x.detach().numpy(), x.grad.numpy()
    np.testing.assert_array_equal(y.detach().numpy(), given * slopes)
    assert (slopes[given > 0] == 1).all()
    drawn = slopes[given < 0]
    assert drawn.min() >= 0.2 and drawn.max() < 0.6
    assert_moments(drawn, 0.4, 0.4 / np.sqrt(12))
    assert ocl.nn.functional.rrelu(x, 0.2, 0.6).min().item() == pytest.approx(0.4 * given.min())


def test_rrelu_in_place():
    ocl.manual_seed(1)
    leaf = ocl.randn(50, 7).requires_grad_()
    x = leaf * 1
    before = x.detach().numpy().copy()
    y = ocl.nn.functional.rrelu(x, training=True, inplace=True)
    assert y is x
    y.sum().backward()
    np.testing.assert_array_equal(y.detach().numpy(), before * leaf.grad.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gumbel_softmax_draws_the_categories(dtype):
    ocl.manual_seed(1)
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])
    logits = ocl.tensor(np.log(probabilities), dtype=getattr(ocl, dtype)).expand(40_000, 4)
    hard = ocl.nn.functional.gumbel_softmax(logits, hard=True)
    assert hard.dtype == logits.dtype
    values = hard.numpy().astype(np.float64)
    assert np.abs(values.sum(1) - 1).max() < 1e-2 and np.abs(values.max(1) - 1).max() < 1e-2
    counts = values.round().sum(0)
    expected = 40_000 * probabilities
    assert ((counts - expected) ** 2 / expected).sum() < 25  # chi-square with 3 degrees of freedom
    soft = ocl.nn.functional.gumbel_softmax(logits.float(), tau=0.5)
    np.testing.assert_allclose(soft.sum(1).numpy(), 1, rtol=1e-5)
    along = ocl.nn.functional.gumbel_softmax(logits.float(), hard=True, dim=0)
    np.testing.assert_allclose(along.sum(0).numpy(), 1, rtol=1e-4)


def test_gumbel_softmax_has_the_gradient_of_the_soft_sample():
    gradients = []
    for hard in (False, True):
        ocl.manual_seed(3)
        x = ocl.tensor([[0.3, -0.2, 1.0], [0.1, 0.2, 0.0]], requires_grad=True)
        y = ocl.nn.functional.gumbel_softmax(x, tau=0.7, hard=hard)
        y.backward(ocl.tensor([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]]))
        gradients.append(x.grad.numpy())
    np.testing.assert_array_equal(*gradients)
    assert np.abs(gradients[0]).max() > 0
