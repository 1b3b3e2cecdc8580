"""svd_lowrank and pca_lowrank find the largest singular values, as PyTorch's do."""

import numpy as np
import pytest
import torch

import ocl


def matrices(*shape, rank=3):
    rng = np.random.default_rng(0)
    left, right = (
        rng.standard_normal((*shape[:-1], rank)),
        rng.standard_normal((*shape[:-2], rank, shape[-1])),
    )
    return (left @ right).astype(np.float32)


@pytest.mark.parametrize("shape", [(20, 9), (9, 20), (2, 12, 12)])
def test_a_matrix_of_low_rank(shape):
    a = matrices(*shape)
    for q in (3, 5):
        u, s, v = ocl.svd_lowrank(ocl.tensor(a), q)
        expected = torch.svd_lowrank(torch.tensor(a), q)
        assert [x.shape for x in (u, s, v)] == [tuple(x.shape) for x in expected]
        np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), a, atol=1e-4)
        np.testing.assert_allclose(s.numpy(), expected[1].numpy(), rtol=1e-4, atol=1e-4)


def test_differences_and_means():
    a, m = matrices(15, 8), matrices(15, 8, rank=1)
    s = ocl.svd_lowrank(ocl.tensor(a + m), 3, niter=1, M=ocl.tensor(m)).S
    np.testing.assert_allclose(s.numpy(), np.linalg.svd(a)[1][:3], rtol=1e-4)
    for center in (True, False):
        ours, theirs = (lib.pca_lowrank(lib.tensor(a + 5), 4, center) for lib in (ocl, torch))
        np.testing.assert_allclose(ours[1].numpy(), theirs[1].numpy(), rtol=1e-4, atol=1e-3)
    assert ocl.pca_lowrank(ocl.tensor(a)).S.shape == (6,)


def test_gradients_of_singular_values():
    found = []
    for lib in (ocl, torch):
        x = lib.tensor(matrices(8, 5, rank=5).astype(np.float64), requires_grad=True)
        lib.svd_lowrank(x, 5)[1].sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-8, atol=1e-10)


def test_what_they_refuse():
    for lib in (torch, ocl):
        with pytest.raises(ValueError, match=r"q\(=9\) must be"):
            lib.pca_lowrank(lib.ones(10, 8), 9)
        with pytest.raises(ValueError, match=r"niter\(=-1\) must be"):
            lib.pca_lowrank(lib.ones(10, 8), 2, niter=-1)
    with pytest.raises(TypeError, match="floating point"):
        ocl.svd_lowrank(ocl.ones(3, 3, dtype=ocl.int64))
