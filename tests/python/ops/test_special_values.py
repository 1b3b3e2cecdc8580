"""NaN, infinities, zeros of both signs, denormals and the ends of the range, forward and backward: PyTorch's
result, in the vector loops of the kernels and in what they leave over."""

import itertools
import math

import numpy as np
import pytest
import torch
from cases.pointwise import TABLE, call
from support import to_numpy

import ocl

NAN, INF = math.nan, math.inf
EDGES = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5)
SPECIAL = (*EDGES, -1.5, 3.0, 1e-45, 1e-38, -1e38, 3e38, 20.5, -87.25, 1e6)
# A device may take smaller numbers for 0; exp(-87.25), which larger results are made of, is not.
TINY = 1.2e-38


def libraries():
    return (ocl, ocl.tensor), (torch, torch.from_numpy)


def results_of(function, arrays, backward=True):
    """The results and the gradients of the inputs, of both libraries."""
    pair = []
    for lib, make in libraries():
        inputs = [make(np.array(a)) for a in arrays]
        floats = [x for x, a in zip(inputs, arrays, strict=True) if a.dtype == np.float32]
        if backward:
            for x in floats:
                x.requires_grad_()
        y = function(lib, *inputs)
        results = [y]
        if backward:
            y.backward(make(np.ones(tuple(y.shape), np.float32)))
            results += [x.grad for x in floats]
        pair.append([None if r is None else to_numpy(r) for r in results])
    return pair


def assert_alike(function, *arrays, backward=True, rtol=1e-5, atol=TINY, ignored=False):
    ours, theirs = results_of(function, arrays, backward)
    for which, (actual, expected) in enumerate(zip(ours, theirs, strict=True)):
        if expected is None or actual is None:
            assert actual is None or not np.any(actual), "a gradient that PyTorch does not have"
            continue
        assert actual.shape == expected.shape
        with np.errstate(all="ignore"):
            same = np.isclose(actual, expected, rtol, atol, equal_nan=True) | ignored
        if same.all():
            continue
        what = "result" if which == 0 else f"gradient {which}"
        at = [tuple(map(int, i)) for i in np.argwhere(~same)[:8]]
        told = [
            f"{[float(a[i]) for a in arrays if a.shape == actual.shape]}: {actual[i]}, PyTorch {expected[i]}"
            for i in at
        ]
        raise AssertionError(f"{what}: {(~same).sum()} of {same.size} differ\n" + "\n".join(told))


# --- every row of the pointwise table


def combinations(inputs):
    """Every combination of special values, and a length that is no multiple of a vector's."""
    values = SPECIAL if inputs < 3 else EDGES
    rows = np.array(list(itertools.product(values, repeat=inputs)), np.float32)
    return [np.concatenate([rows[:, i], rows[:3, i]]) for i in range(inputs)]


def large(limit):
    return lambda a, *others: np.abs(a) > limit


def near_a_number(*arrays):  # where PyTorch's vector loops drop a NaN that its scalar ones keep
    return np.isnan(sum(arrays))


def special(*arrays):
    return ~np.isfinite(sum(arrays))


# Values for which PyTorch itself has no answer: its vector and scalar loops differ, or its formula leaves
# the range or drops digits on the way to a result that does not.
UNDECIDED = {
    "relu6": special,
    "hardtanh": special,
    "gelu": large(1e37),
    "mish": large(1e37),
    "hardswish": large(1e37),
    "softsign": large(1e3),
    "hardshrink": near_a_number,
    "softshrink": near_a_number,
    # Whole numbers are roots here; PyTorch rounds their product with pi, and that of large numbers.
    "sinc": lambda a: (a == np.round(a)) & (a != 0) | (np.abs(a) > 5),
    "digamma": lambda a: (a < 0) & ((a == np.round(a)) | (a < -9)),  # its gradient, likewise
    "polygamma_kernel": lambda a: (a < 0) & ((a == np.round(a)) | (a < -9)),  # of order 0, which is digamma
    "logaddexp2": lambda a, b: a == b,  # exactly a + 1
    "glu_kernel": lambda a, b: b > 9,  # 1 - sigmoid(b) has few digits left: test_glu_where_its_gate_is_open
    "hardsigmoid": special,  # a stand-in is compared
    "prelu_kernel": special,  # likewise
    "fmod": lambda a, b: ~(np.abs(a / b) < 1e7),
    "remainder": lambda a, b: ~(np.abs(a / b) < 1e7),
}
ARGUMENTS = {
    "hardtanh": {"min_val": -1.0, "max_val": 2.0},
    "clamp": {"min": -1.0, "max": 2.0},
    "clamp_min": {"min": -1.0},
    "clamp_max": {"max": 2.0},
    "celu": {"alpha": 0.7},
    "elu": {"alpha": 0.7},
}
FLOATING = [name for name, row in TABLE.items() if row["types"] != "Integral"]


@pytest.mark.parametrize("name", FLOATING)
def test_every_row(name):
    row = TABLE[name]
    arrays = combinations(row["inputs"])
    if name == "where":
        arrays[0] = np.nan_to_num(arrays[0]) > 0
    with np.errstate(all="ignore"):
        ignored = UNDECIDED.get(name, lambda *inputs: False)(*arrays)
    function = call(name, **ARGUMENTS.get(name, {}))
    assert_alike(function, *arrays, backward=any(row["gradients"]), ignored=ignored)


def test_glu_where_its_gate_is_open():
    values = np.array([7, 9.5, 12, 17, 20.5, 60], np.float32)
    x = ocl.tensor(np.stack([2 * np.ones_like(values), values]))
    x.requires_grad_()
    ocl.nn.functional.glu(x, 0).sum().backward()
    gates = values.astype(np.float64)
    expected = 2 / ((1 + np.exp(-gates)) * (1 + np.exp(gates)))
    np.testing.assert_allclose(x.grad.numpy()[1], expected, rtol=1e-6)


def test_an_empty_product_is_nothing_whatever_its_factor():
    def function(lib, x, a, b):
        return lib.baddbmm(x, a, b, beta=0, alpha=-INF), lib.addmm(x[0], a[0], b[0], alpha=INF)

    arrays = [np.full(shape, 2, np.float32) for shape in ((1, 3, 2), (1, 3, 0), (1, 0, 2))]
    ours, theirs = function(ocl, *map(ocl.tensor, arrays)), function(torch, *map(torch.tensor, arrays))
    for got, expected in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


# --- bounds that are no numbers


def test_hardtanh_refuses_bounds_in_the_wrong_order():
    for lib, x in ((ocl, ocl.ones(2)), (torch, torch.ones(2))):
        with pytest.raises(ValueError, match="min_val cannot be greater than max_val"):
            lib.nn.functional.hardtanh(x, min_val=1e300)


def skip_where_torch_drops_nan():
    if torch.__version__ < (2, 13):
        pytest.skip(f"PyTorch {torch.__version__} leaves a single bound that is NaN out; 2.13 gives NaN")


@pytest.mark.parametrize("bounds", [(NAN, None), (None, NAN), (NAN, 1.0), (-1.0, NAN), (2.0, 1.0)], ids=str)
def test_clamp_bounds(bounds):
    if None in bounds:
        skip_where_torch_drops_nan()
    values = combinations(1)[0]
    assert_alike(lambda lib, x: lib.clamp(x, *bounds), values)
    if None not in bounds and bounds[0] != 2.0:
        # PyTorch's vector and scalar loops disagree about the gradient.
        assert_alike(lambda lib, x: lib.nn.functional.hardtanh(x, *bounds), values, backward=False)
    for name, bound in zip(("clamp_min", "clamp_max"), bounds, strict=True):
        if bound is not None:
            assert_alike(lambda lib, x, n=name, b=bound: getattr(lib, n)(x, b), values)


def test_clamp_of_integers_with_a_bound_that_is_no_number():
    skip_where_torch_drops_nan()
    for make in (ocl.tensor, torch.tensor):
        clamped = make([1, 2, 3]).clamp(min=NAN)
        assert str(clamped.dtype).endswith("float32")
        assert np.isnan(to_numpy(clamped)).all()


# --- losses


def loss(name, **options):
    return lambda lib, *inputs: getattr(lib.nn.functional, name)(*inputs, reduction="none", **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mse_loss", {}),
        ("l1_loss", {}),
        ("smooth_l1_loss", {}),
        ("smooth_l1_loss", {"beta": 0.3}),
        ("smooth_l1_loss", {"beta": 0.0}),
        ("huber_loss", {}),
        ("huber_loss", {"delta": 0.3}),
    ],
    ids=str,
)
def test_losses_of_differences(name, options):
    assert_alike(loss(name, **options), *combinations(2))


@pytest.mark.parametrize(
    ("name", "options", "inputs", "targets"),
    [
        ("binary_cross_entropy", {}, (0, 1, 0.5, 1e-30, 1 - 2**-24), (0, 1, 0.5, 1e-30)),
        ("binary_cross_entropy_with_logits", {}, SPECIAL, (0, 1, 0.5, 1e-30)),
        ("kl_div", {}, SPECIAL, (0, 1, 0.5, NAN)),
        ("kl_div", {"log_target": True}, SPECIAL, (0, -1, -87.25, -INF, NAN)),
    ],
    ids=["bce", "bce with logits", "kl_div", "kl_div of logarithms"],
)
def test_losses_of_probabilities(name, options, inputs, targets):
    pairs = np.array(list(itertools.product(inputs, targets)), np.float32)
    assert_alike(loss(name, **options), pairs[:, 0].copy(), pairs[:, 1].copy())


def class_losses():
    return itertools.product(("none", "mean"), (0.0, 0.2), (False, True), (False, True))


@pytest.mark.parametrize("offset", [1e4, 1e6, -1e6, 3e7])
@pytest.mark.parametrize("shape", [(5, 10), (4, 37), (3, 7, 20), (6,)], ids=str)
def test_cross_entropy_of_large_logits(shape, offset, rng):
    """The loss is as exact as for small ones: adding a number to all logits changes nothing."""
    logits = (rng.integers(-12, 13, shape) * 4 + offset).astype(np.float32)
    classes = shape[0] if len(shape) == 1 else shape[1]
    indices = np.asarray(rng.integers(0, classes, () if len(shape) == 1 else (shape[0], *shape[2:])))
    probabilities = rng.uniform(0, 1, shape).astype(np.float32)
    weight = rng.uniform(0.5, 2, classes).astype(np.float32)
    for reduction, smoothing, weighted, soft in class_losses():

        def run(lib, make, scores, dtype, r=reduction, s=smoothing, w=weighted, soft=soft):
            x = make(scores.astype(dtype)).requires_grad_()
            target = make(probabilities.astype(dtype)).requires_grad_() if soft else make(indices)
            given = make(weight.astype(dtype)) if w else None
            value = lib.nn.functional.cross_entropy(x, target, given, reduction=r, label_smoothing=s)
            value.sum().backward()
            return [to_numpy(t) for t in (value, x.grad, *([target.grad] if soft else []))]

        truth = run(torch, torch.from_numpy, logits, np.float64)
        ours = run(ocl, ocl.tensor, logits, np.float32)
        for actual, expected in zip(ours, truth, strict=True):
            scale = np.abs(expected).max()
            np.testing.assert_allclose(actual, expected, 1e-5, 2e-6 * scale)
        if not soft:
            sums = ours[1].sum(0 if len(shape) == 1 else 1)
            np.testing.assert_allclose(sums, 0, atol=1e-5)


def test_cross_entropy_of_special_logits():
    rows = np.array(list(itertools.product([NAN, INF, -INF, 0.0, 2.0, -90.0], repeat=3)), np.float32)
    for columns in (rows, np.tile(rows, (1, 12))):
        for smoothing in (0.0, 0.1):
            assert_alike(
                lambda lib, x, s=smoothing: lib.nn.functional.cross_entropy(
                    x,
                    (lib.arange(x.shape[0]) % 3),
                    reduction="none",
                    label_smoothing=s,
                ),
                columns,
                atol=1e-6,
            )


@pytest.mark.parametrize("offset", [0, 1e6, -3e7])
@pytest.mark.parametrize("shape", [(4, 37), (37, 4), (3, 20, 5)], ids=str)
def test_logsumexp_of_large_elements(shape, offset, rng):
    """The gradient is the softmax, which sums to 1 however large the elements are."""
    values = (rng.integers(-3, 4, shape) * 4 + offset).astype(np.float32)
    for dim in (0, 1, (0, 1)):
        x = ocl.tensor(values, requires_grad=True)
        truth = torch.tensor(values.astype(np.float64), requires_grad=True)
        y = ocl.logsumexp(x, dim)
        expected = torch.logsumexp(truth, dim)
        y.sum().backward()
        expected.sum().backward()
        np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), 1e-6, 1e-6)
        np.testing.assert_allclose(x.grad.numpy(), truth.grad.numpy(), 1e-5, 1e-7)


def test_logsumexp_of_special_elements():
    rows = np.array(list(itertools.product([NAN, INF, -INF, 0.0, 2.0, -90.0], repeat=3)), np.float32)
    assert_alike(lambda lib, x: lib.logsumexp(x, 1), rows, atol=1e-6)
    assert_alike(lambda lib, x: lib.logsumexp(x, 0), np.ascontiguousarray(rows.T), atol=1e-6)
    for name in ("softmax", "log_softmax"):
        assert_alike(lambda lib, x, n=name: getattr(lib, n)(x, 1), rows, atol=1e-6)
        assert_alike(lambda lib, x, n=name: getattr(lib, n)(x, 0), np.ascontiguousarray(rows.T), atol=1e-6)


# --- norms


def rows_with(specials, width):
    """Rows of ordinary numbers, each with some special ones at other places."""
    rows = []
    for number, special in enumerate(specials):
        row = np.linspace(-2, 3, width, dtype=np.float32)
        for k, value in enumerate(special):
            row[(7 * number + 5 * k) % width] = value
        rows.append(row)
    return np.array(rows)


AMONG = [(), (INF,), (-INF,), (NAN,), (INF, -INF), (INF, NAN)]
LARGE = [(1e30,), (1e30, 1e30)]
NORMS = {
    "rms_norm": lambda lib, x: lib.nn.functional.rms_norm(x, x.shape[1:]),
    "rms_norm weighted": lambda lib, x: lib.nn.functional.rms_norm(x, x.shape[1:], x[0] * 0 + 2),
    "layer_norm": lambda lib, x: lib.nn.functional.layer_norm(x, x.shape[1:]),
    "group_norm": lambda lib, x: lib.nn.functional.group_norm(x.reshape(x.shape[0], 2, -1), 2),
    "batch_norm": lambda lib, x: lib.nn.functional.batch_norm(x.t(), None, None, training=True),
    "instance_norm": lambda lib, x: lib.nn.functional.instance_norm(x[:, None]),
    "local_response_norm": lambda lib, x: lib.nn.functional.local_response_norm(x[:, :, None], 3),
    "normalize": lambda lib, x: lib.nn.functional.normalize(x),
    "normalize 1": lambda lib, x: lib.nn.functional.normalize(x, p=1.0),
}


@pytest.mark.parametrize("width", [4, 38])
@pytest.mark.parametrize("name", NORMS)
def test_norms(name, width):
    among = AMONG + LARGE * (name in ("rms_norm", "normalize"))
    assert_alike(NORMS[name], rows_with(among, width), rtol=1e-4, atol=1e-5)


# --- reductions and scans


REDUCTIONS = {
    **{
        name: lambda lib, x, n=name: getattr(lib, n)(x, 1)
        for name in ("sum", "mean", "amax", "amin", "prod", "var", "std", "cumsum")
    },
    **{name: lambda lib, x, n=name: getattr(lib, n)(x, 1)[0] for name in ("max", "min")},
    **{f"norm {p}": lambda lib, x, p=p: lib.norm(x, p, 1) for p in (0, 1, 2, 3, 0.5, INF, -INF)},
}


@pytest.mark.parametrize("width", [4, 38])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, width):
    assert_alike(REDUCTIONS[name], rows_with(AMONG, width), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["argmax", "argmin", "argsort"])
def test_places(name):
    values = rows_with([(), (INF,), (-INF,), (NAN,), (INF, -INF), (INF, NAN)], 38)
    assert_alike(lambda lib, x: getattr(lib, name)(x, 1), values, backward=False)
    assert_alike(lambda lib, x: lib.sort(x, 1)[0], values)


# --- pooling


@pytest.mark.parametrize("window", [(2, 2, 0), (3, 1, 1), (3, 2, 1)], ids=str)
def test_pooling(window):
    kernel, stride, padding = window
    x = np.zeros((6, 1, 12, 20), np.float32)
    x[:] = np.sin(np.arange(x.size).reshape(x.shape))
    for plane, special in zip(x, [(), (NAN,), (INF,), (-INF,), (NAN, NAN, INF), (-INF, NAN)], strict=True):
        for k, value in enumerate(special):
            plane.reshape(-1)[11 + 31 * k] = value
    x[5, 0, :4, :4] = -INF
    for name in ("max_pool2d", "avg_pool2d"):
        assert_alike(
            lambda lib, t, n=name: getattr(lib.nn.functional, n)(t, kernel, stride, padding), x, atol=1e-6
        )
    assert_alike(lambda lib, t: lib.nn.functional.adaptive_max_pool2d(t, (5, 7)), x, atol=1e-6)


@pytest.mark.parametrize("zeros", [1, 2, 3])
@pytest.mark.parametrize("special", [NAN, INF, -INF, 2.0])
def test_products_with_zeros_beside_what_is_not_finite(zeros, special):
    for places in itertools.permutations([*[0.0] * zeros, special, 3.0], 4):
        x = np.array([places, places[::-1]], np.float32)
        assert_alike(lambda lib, t: t.prod(1), x)


def test_the_angle_of_the_origin():
    y, x = (np.array(v, np.float32) for v in ([0.0, -0.0, 0.0, -0.0, 1, 0], [0.0, 0.0, -0.0, -0.0, 0, 1]))
    assert_alike(lambda lib, a, b: lib.atan2(a, b), y, x)


# --- matrix products


@pytest.mark.parametrize("name", ["addmm", "baddbmm"])
def test_factors_of_zero(name, rng):
    """A term that is multiplied by 0 is left out, infinite or not; its gradient is multiplied."""
    m, k, n = 9, 40, 35  # of smaller batches PyTorch does not leave the product out
    arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, n), (m, k), (k, n))]
    arrays[0][0, 0], arrays[1][0, 1], arrays[2][1, 2] = NAN, INF, NAN
    if name == "baddbmm":
        arrays = [a[None] for a in arrays]
    for beta, alpha in ((1, 0), (0, 1), (2, 0), (0, 2)):
        clean = [np.nan_to_num(arrays[0]), *arrays[1:]] if alpha == 0 else arrays
        assert_alike(
            lambda lib, *x, b=beta, a=alpha: getattr(lib, name)(*x, beta=b, alpha=a), *clean, atol=1e-5
        )
    with_both = getattr(ocl, name)(*map(ocl.tensor, arrays), beta=0, alpha=0)
    assert not with_both.numpy().any()
