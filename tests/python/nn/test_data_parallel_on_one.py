"""DataParallel on one device, and CrossMapLRN2d, against PyTorch."""

import numpy as np
import pytest
import torch

import ocl


def test_runs_the_module():
    net = ocl.nn.Linear(3, 2)
    wrapped = ocl.nn.DataParallel(net)
    x = ocl.rand(4, 3)
    np.testing.assert_array_equal(wrapped(x).detach().numpy(), net(x).detach().numpy())
    assert wrapped.module is net and list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    wrapped(input=x).sum().backward()
    assert net.weight.grad is not None
    assert ocl.nn.parallel.DataParallel(net, device_ids=[0], output_device=0)(x).shape == (4, 2)
    other = ocl.nn.DataParallel(ocl.nn.Linear(3, 2))
    other.load_state_dict(wrapped.state_dict())
    np.testing.assert_array_equal(other(x).detach().numpy(), wrapped(x).detach().numpy())


def test_several_devices_are_refused():
    with pytest.raises(RuntimeError, match="DistributedDataParallel"):
        ocl.nn.DataParallel(ocl.nn.Linear(3, 2), device_ids=[0, 0])
    with pytest.raises(RuntimeError, match="DistributedDataParallel"):
        ocl.nn.DataParallel(ocl.nn.Linear(3, 2), device_ids=[])


@pytest.mark.parametrize("options", [(3,), (5, 2e-1, 0.5, 2), (4, 0.3, 0.9, 1.1), (1, 0.3, 1.2, 0.7)])
def test_cross_map_lrn(options):
    x = np.random.default_rng(0).normal(size=(2, 6, 3, 4)).astype(np.float32)
    size, alpha, beta, k = (*options, 1e-4, 0.75, 1)[:4] if len(options) == 4 else (options[0], 1e-4, 0.75, 1)
    reach = (size - 1) // 2
    squares = np.stack([(x[:, max(0, c - reach) : c + reach + 1] ** 2).sum(1) for c in range(6)], 1)
    found = ocl.nn.CrossMapLRN2d(*options)(ocl.tensor(x))
    np.testing.assert_allclose(found.numpy(), x / (k + alpha / size * squares) ** beta, rtol=1e-5, atol=1e-6)
    if size > 1:  # PyTorch fails at 1, and keeps the first channel in sums that have left it
        theirs = torch.nn.CrossMapLRN2d(*options)(torch.tensor(x)).numpy()
        np.testing.assert_allclose(
            found.numpy()[:, : reach + 1], theirs[:, : reach + 1], rtol=1e-5, atol=1e-6
        )
    assert repr(ocl.nn.CrossMapLRN2d(*options)) == repr(torch.nn.CrossMapLRN2d(*options))
    with pytest.raises(ValueError, match="4D"):
        ocl.nn.CrossMapLRN2d(3)(ocl.ones(2, 3))
