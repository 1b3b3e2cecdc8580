"""batch_norm, and the default of rms_norm."""

import numpy as np
import pytest
import torch
from support import FLOATS, assert_close_to_truth, check_like_torch, skip_without, small

import ocl


def uniform(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


SHAPES = [
    (8, 3),
    (5, 4, 7),
    (4, 3, 6, 5),
    (2, 1, 9, 9),
    (1, 3, 5, 5),
    (33, 17, 1, 1),
    (3, 2, 2, 3, 4),
    (16, 32, 13, 13),
    (2, 100),
    (300, 2),
    (65, 15),
    (700, 17),
    (513, 33),
]


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", small([(s,) for s in SHAPES], lambda shape: np.prod(shape) < 1000))
def test_training(shape, affine, rng):
    arrays = [uniform(rng, *shape)] + [uniform(rng, shape[1]) + 1 for _ in range(2 * affine)]

    def function(lib, x, weight=None, bias=None):
        return lib.nn.functional.batch_norm(x, None, None, weight, bias, training=True)

    check_like_torch(function, *arrays, unit="largest", ulps=4)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
def test_evaluation(shape, affine, rng):
    mean, var = uniform(rng, shape[1]), uniform(rng, shape[1]) + 1.5
    arrays = [uniform(rng, *shape)] + [uniform(rng, shape[1]) for _ in range(2 * affine)]

    def function(lib, x, weight=None, bias=None):
        running = [lib.tensor(mean).to(x.dtype), lib.tensor(var).to(x.dtype)]
        return lib.nn.functional.batch_norm(x, *running, weight, bias)

    check_like_torch(function, *arrays, unit="largest", ulps=4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("momentum", [0.1, 0.7, 0.0, 1.0])
def test_running_statistics(momentum, dtype, rng):
    skip_without(dtype)
    x, mean, var = uniform(rng, 6, 3, 5, 4) + 2, uniform(rng, 3), uniform(rng, 3) + 1.5

    def run(lib, dtype):
        running = [lib.tensor(mean).to(dtype), lib.tensor(var).to(dtype)]
        for _ in range(2):
            lib.nn.functional.batch_norm(lib.tensor(x).to(dtype), *running, training=True, momentum=momentum)
        return running

    ours = run(ocl, getattr(ocl, dtype))
    for a, t64, t32 in zip(ours, run(torch, torch.float64), run(torch, torch.float32), strict=True):
        assert_close_to_truth(a, t64, t32, ulps=4)
    assert all(running._version == 2 for running in ours)


def test_evaluation_leaves_the_statistics_alone(rng):
    mean, var = ocl.tensor(uniform(rng, 3)), ocl.tensor(uniform(rng, 3) + 1.5)
    before = mean.tolist(), var.tolist()
    ocl.nn.functional.batch_norm(ocl.tensor(uniform(rng, 4, 3)), mean, var)
    assert (mean.tolist(), var.tolist()) == before


@pytest.mark.parametrize("shape", [(64, 2, 11, 11), (5000, 19)], ids=str)
def test_mean_far_from_zero(shape, rng):
    """The variance of values whose mean is a thousand times as large."""
    x = (1000 + uniform(rng, *shape)).astype(np.float32)
    check_like_torch(
        lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True), x, unit="largest", ulps=4
    )


def test_constant_channel(rng):
    x = uniform(rng, 4, 2, 3)
    x[:, 1] = 0.5
    check_like_torch(
        lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True, eps=1e-3),
        x,
        backward=False,
        ulps=64,
    )


def test_eps_and_views(rng):
    def function(lib, x, w):
        return lib.nn.functional.batch_norm(
            x.permute(0, 3, 1, 2)[:, :, 1:], None, None, w, training=True, eps=0.1
        ).transpose(0, 1)

    check_like_torch(function, uniform(rng, 3, 5, 6, 4), uniform(rng, 4), unit="largest", ulps=4)


def test_float64(rng):
    def function(lib, x, w, b):
        return lib.nn.functional.batch_norm(x, None, None, w, b, training=True)

    check_like_torch(
        function,
        uniform(rng, 4, 3, 5, 5),
        uniform(rng, 3),
        uniform(rng, 3),
        dtype="float64",
        unit="largest",
        ulps=4,
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, f: f(x[0, 0], None, None, training=True), ValueError, "at least 2 dimensions"),
        (lambda x, f: f(x, None, None), ValueError, "expected running_mean and running_var to be defined"),
        (lambda x, f: f(x, ocl.ones(3), None, training=True), ValueError, "go together"),
        (
            lambda x, f: f(x, ocl.ones(2), ocl.ones(2)),
            ValueError,
            r"expected running_mean of shape \[3\], got \[2\]",
        ),
        (
            lambda x, f: f(x, None, None, ocl.ones(4), training=True),
            ValueError,
            r"expected weight of shape \[3\]",
        ),
        (
            lambda x, f: f(x, None, None, None, ocl.ones(3).int(), training=True),
            TypeError,
            "expected bias of dtype float32",
        ),
        (
            lambda x, f: f(x.int(), None, None, training=True),
            TypeError,
            "batch_norm: expected a floating dtype",
        ),
        (lambda x, f: f(x[:1, :, 0], None, None, training=True), ValueError, "more than 1 value per channel"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(ocl.ones(2, 3, 4), ocl.nn.functional.batch_norm)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_rows_of_nothing_have_gradients(name):
    def run(lib):
        x = lib.zeros((2, 0, 3), requires_grad=True)
        weight = lib.ones((0, 3), requires_grad=True)
        getattr(lib.nn.functional, name)(x, (0, 3), weight).sum().backward()
        return tuple(x.grad.shape), tuple(weight.grad.shape)

    assert run(ocl) == run(torch) == ((2, 0, 3), (0, 3))


def test_instance_norm_without_eps(rng):
    check_like_torch(
        lambda lib, x: lib.nn.functional.instance_norm(x, eps=0.0),
        uniform(rng, 2, 3, 5, 4),
        unit="largest",
        ulps=4,
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [1, 1e-3])
def test_rms_norm_of_16_bits_has_the_eps_of_what_it_computes_in(dtype, size, rng):
    """Small numbers come out of size 1, which the epsilon of the dtype itself would hide."""
    x = torch.tensor(uniform(rng, 3, 64) * size).to(getattr(torch, dtype))
    theirs = torch.nn.functional.rms_norm(x, (64,)).float().numpy()
    given = ocl.tensor(x.float().numpy()).to(getattr(ocl, dtype))
    ours = ocl.nn.functional.rms_norm(given, (64,)).float().numpy()
    np.testing.assert_allclose(ours, theirs, atol=2 * torch.finfo(x.dtype).eps * np.abs(theirs).max())
    assert np.square(ours).mean() > 0.5
