"""Comparison with PyTorch: how near to the float64 truth is near enough."""

import numpy as np

import ocl


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
