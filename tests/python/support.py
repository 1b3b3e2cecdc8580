"""Comparison with PyTorch on the CPU: one call, written once, runs on both libraries.

check_like_torch(lambda lib, x, w: lib.nn.functional.linear(x, w), x, w, unit="sums")
"""

import re
import threading

import numpy as np
import pytest
import torch

import ocl

FLOATS = ("float32", "float64")


def has_float64():
    return ocl.get_device_properties()["fp64"]


def skip_without(dtype):
    """Skips the test where the device cannot compute in `dtype`."""
    if dtype == "float64" and not has_float64():
        pytest.skip(f"{ocl.get_device_name()} has no float64")


def small(cases, is_small):
    """The cases of a parametrisation; the simulator runs those for which `is_small` holds."""
    marked = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        marks = [pytest.mark.oclgrind] if is_small(*values) else []
        marked.append(pytest.param(*values, id="-".join(map(str, values)), marks=marks))
    return marked


def of_dtype(name):
    """The dtype of that name: ours and PyTorch's."""
    return getattr(ocl, name), getattr(torch, name)


def to_numpy(tensor):
    if isinstance(tensor, torch.Tensor):
        return (
            tensor.detach()
            .to(torch.float32 if tensor.dtype == torch.bfloat16 else tensor.dtype)
            .numpy(force=True)
        )
    return (tensor.float() if tensor.dtype == ocl.bfloat16 else tensor).numpy(force=True)


def assert_same(actual, expected):
    """Same shape, dtype and elements (NaN equals NaN); `expected` is PyTorch's."""
    assert tuple(actual.shape) == tuple(expected.shape)
    assert str(actual.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
    np.testing.assert_array_equal(to_numpy(actual), to_numpy(expected))


def assert_close_to_truth(actual, torch64, torch32, magnitude=None, ulps=2):
    """Checks that `actual` is as near to the truth as PyTorch is.

    The distance from `torch64`, in units in the last place of `actual`'s dtype, is at most 4 times the
    largest distance of `torch32` (in units of float32) plus `ulps`. A unit is relative to the element, or to
    `magnitude` where that is larger: the sum of the magnitudes that a sum has added up.
    """
    actual, truth, torch32 = to_numpy(actual), to_numpy(torch64), to_numpy(torch32)
    assert actual.shape == truth.shape
    if actual.size == 0:
        return
    scale = np.abs(truth) if magnitude is None else np.maximum(np.abs(truth), np.abs(to_numpy(magnitude)))

    def distance(values, dtype):
        kind = np.finfo(dtype)
        finite = np.isfinite(values) & np.isfinite(truth)
        unit = np.maximum(scale * kind.eps, kind.tiny)
        with np.errstate(invalid="ignore"):
            return np.where(finite, np.abs(values.astype(np.float64) - truth) / unit, 0)

    allowed = 4 * distance(torch32, np.float32).max() + ulps
    finite_in_torch = np.isfinite(torch32)
    np.testing.assert_array_equal(actual[~finite_in_torch], torch32[~finite_in_torch].astype(actual.dtype))
    assert np.isfinite(actual[finite_in_torch]).all(), "not finite where PyTorch is"
    ours = distance(actual, actual.dtype)
    at = np.unravel_index(np.argmax(ours), ours.shape)
    assert ours[at] <= allowed, (
        f"{(ours > allowed).sum()} of {ours.size} elements off; the worst at {tuple(map(int, at))}: "
        f"{actual[at]!r}, PyTorch has {torch32[at]!r}, the truth is {truth[at]!r}: {ours[at]:.1f} units off, "
        f"allowed {allowed:.1f}"
    )


def _run(lib, make, function, arrays, upstream, backward, differentiable):
    """The result and the gradients of the differentiable inputs."""
    inputs = [make(array) for array in arrays]
    if backward:
        for i in differentiable:
            inputs[i].requires_grad_()
    result = function(lib, *inputs)
    if not backward:
        return [result]
    result.backward(make(upstream(tuple(result.shape))))
    return [result] + [inputs[i].grad for i in differentiable]


def check_like_torch(function, *arrays, dtype="float32", backward=True, unit="element", ulps=2):
    """Checks function(ocl, *tensors) and the gradients of its floating inputs against function(torch, …).

    `arrays` are NumPy's; floating ones are given in `dtype`. The unit of rounding errors:

    - unit="element": each element of the result;
    - unit="sums": the magnitudes of what sums of products add up (the same function of absolute values);
    - unit="largest": the largest element, for differences of terms of that size; "largest gradient" uses
      that for the gradients only.
    """
    skip_without(dtype)
    differentiable = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    rng = np.random.default_rng(1)
    drawn = {}

    def upstream(shape):
        return drawn.setdefault(shape, rng.uniform(-1, 1, shape).astype(np.float32))

    def run_torch(dtype, absolute=False):
        def make(array):
            tensor = torch.from_numpy(np.array(array))
            if array.dtype.kind != "f":
                return tensor
            return (tensor.abs() if absolute else tensor).to(dtype)

        return _run(torch, make, function, arrays, upstream, backward, differentiable)

    def make_ours(array):
        return ocl.tensor(array.astype(dtype) if array.dtype.kind == "f" else array)

    truth, single = run_torch(torch.float64), run_torch(torch.float32)
    magnitudes = run_torch(torch.float64, absolute=True) if unit == "sums" else [None] * len(truth)
    for i, tensor in enumerate(truth):
        if (
            tensor is not None
            and tensor.numel()
            and (unit == "largest" or (unit == "largest gradient" and i > 0))
        ):
            magnitudes[i] = tensor.abs().max()
    ours = _run(ocl, make_ours, function, arrays, upstream, backward, differentiable)
    for name, a, t64, t32, magnitude in zip(
        ["result"] + [f"gradient of input {i}" for i in differentiable],
        ours,
        truth,
        single,
        magnitudes,
        strict=False,
    ):
        assert (a is None) == (t64 is None), name
        if a is None:
            continue
        assert tuple(a.shape) == tuple(t64.shape), name
        assert str(a.dtype) == f"ocl.{dtype}", name
        try:
            assert_close_to_truth(a, t64, t32, magnitude, ulps)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def as_array(values):
    """Anything with numbers, ours, NumPy's or PyTorch's, as a NumPy array."""
    return values.detach().numpy() if hasattr(values, "detach") else np.asarray(values)


def expect_near(actual, truth, reference, what="result", units=2):
    """`actual` is as near to `truth` (float64) as 4 times `reference` (PyTorch's float32) is, give or take
    `units` in the last place of the largest element."""
    actual, truth, reference = as_array(actual), as_array(truth), as_array(reference)
    assert actual.shape == truth.shape, f"{what}: shape {actual.shape}, expected {truth.shape}"
    if truth.size == 0:
        return
    own_distance = np.abs(reference.astype(np.float64) - truth).max()
    allowed = 4 * own_distance + units * np.finfo(actual.dtype).eps * np.abs(truth).max()
    distance = np.abs(actual.astype(np.float64) - truth).max()
    assert distance <= allowed, f"{what}: off by {distance:.3g}, allowed {allowed:.3g}"


def expect_exact(actual, expected, what="result"):
    np.testing.assert_array_equal(as_array(actual), as_array(expected), err_msg=what)


def leaf(values, **options):
    """A float32 tensor that requires gradients."""
    return ocl.tensor(np.asarray(values, dtype=np.float32), requires_grad=True, **options)


def repr_without_norm_bias(module):
    """repr, without what PyTorch before 2.13 does not write of norms."""
    return re.sub(r"(affine=\w+), bias=\w+", r"\1", repr(module))


def in_threads(function, count=8):
    """The results of `function(i)` in each of `count` threads that start together."""
    results, barrier = [None] * count, threading.Barrier(count)

    def work(i):
        barrier.wait()
        try:
            results[i] = function(i)
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results
