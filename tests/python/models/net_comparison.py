"""The common part of comparisons of nets with torchvision's."""

import numpy as np

import ocl


def shapes(net):
    return [(key, tuple(value.shape)) for key, value in net.state_dict().items()]


def twin_of(ours, theirs):
    """`ours` with the weights of PyTorch's net."""
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    return ours


def compare_values(actual, single, exact):
    """Fails unless the distance from float64 is at most 4 times PyTorch float32's own."""
    actual, single, exact = (np.asarray(values, dtype=np.float64) for values in (actual, single, exact))
    scale = np.abs(exact).max() + 1e-30
    own, distance = np.abs(single - exact).max() / scale, np.abs(actual - exact).max() / scale
    assert distance <= 4 * own + np.finfo(np.float32).eps


def compare_gradients(ours, theirs, truth):
    """The comparison of the gradients of all parameters together, and roughly of each one's; `ours`,
    `theirs` in float32 and `truth` in float64 are nets after backward.
    """
    gradients = [
        [parameter.grad.numpy().ravel() for parameter in net.parameters()] for net in (ours, theirs, truth)
    ]
    flat = [np.concatenate(gradient).astype(np.float64) for gradient in gradients]
    own, distance = (np.linalg.norm(g - flat[2]) / np.linalg.norm(flat[2]) for g in (flat[1], flat[0]))
    assert distance <= 4 * own + np.finfo(np.float32).eps
    for (key, _), actual, single, exact in zip(theirs.named_parameters(), *gradients, strict=True):
        allowed = (
            20 * np.linalg.norm(single - exact)
            + 1e-4 * np.linalg.norm(exact)
            + 1e-7 * np.linalg.norm(flat[2])
        )
        assert np.linalg.norm(actual - exact) <= allowed, key


def assert_begins_alike(ours, theirs):
    """Expects one distribution in every tensor: constants exactly, of all else the mean, deviation and
    ends.
    """
    state = ours.state_dict()
    for key, expected in theirs.state_dict().items():
        is_floating = expected.is_floating_point()
        actual, expected = state[key].numpy().astype(np.float64), expected.numpy().astype(np.float64)
        n, deviation = expected.size, expected.std()
        if deviation == 0 or not is_floating:
            np.testing.assert_allclose(actual, expected, rtol=1e-6, err_msg=key)
        elif n >= 64:
            assert abs(actual.mean() - expected.mean()) <= 7 * deviation / n**0.5, key
            assert abs(actual.std() / deviation - 1) <= 7 / n**0.5, key
            if n >= 1024:  # bounded where theirs is, else with as long tails
                ends = np.abs(actual - actual.mean()).max() / np.abs(expected - expected.mean()).max()
                assert 0.5 < ends < 2, key
