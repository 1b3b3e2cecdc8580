"""Wishart and LKJCholesky: draws, edges and errors beyond what all distributions are tested for."""

import numpy as np
import pytest
import torch
from support import skip_without

import ocl
from ocl.distributions import LKJCholesky, Wishart


def test_singular_draws_are_drawn_anew():
    ocl.manual_seed(0)
    with pytest.warns(UserWarning, match="Low df values detected"):
        narrow = Wishart(2.01, ocl.eye(3))
    with pytest.warns(UserWarning, match="Singular sample detected"):
        drawn = narrow.rsample((2000,), max_try_correction=50)
    assert drawn.shape == (2000, 3, 3)
    assert narrow.support.check(drawn).sum().item() > 1900


def test_gradients_of_wishart_draws():
    skip_without("float64")
    factor = ocl.eye(3, dtype=ocl.float64).requires_grad_()
    df = ocl.tensor(6.0, dtype=ocl.float64, requires_grad=True)
    ocl.manual_seed(1)
    drawn = Wishart(df, scale_tril=factor).rsample((20000,))
    np.testing.assert_allclose(drawn.mean(0).detach().numpy(), 6 * np.eye(3), atol=0.2)
    drawn.diagonal(dim1=-2, dim2=-1).sum(-1).mean().backward()  # the mean of the trace is df * |factor|^2
    assert abs(df.grad.item() - 3) < 0.1
    np.testing.assert_allclose(np.diag(factor.grad.numpy()), 12, atol=0.5)


def test_kinds_of_wishart_agree():
    factor = ocl.tensor([[1.0, 0, 0], [0.5, 2, 0], [-0.3, 0.2, 0.7]])
    covariance = factor @ factor.mT
    by = [
        Wishart(5.0, scale_tril=factor),
        Wishart(5.0, covariance_matrix=covariance),
        Wishart(5.0, precision_matrix=ocl.linalg.inv(covariance)),
    ]
    for one in by:
        np.testing.assert_allclose(one.mean.numpy(), 5 * covariance.numpy(), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            one.precision_matrix.numpy(), by[0].precision_matrix.numpy(), rtol=1e-3, atol=1e-4
        )
        assert abs(one.entropy().item() - by[0].entropy().item()) < 1e-3


def test_what_they_refuse():
    for lib in (torch, ocl):
        wishart, lkj = lib.distributions.Wishart, lib.distributions.LKJCholesky
        with pytest.raises(AssertionError, match="Exactly one"):
            wishart(3.0)
        with pytest.raises(AssertionError, match="Exactly one"):
            wishart(3.0, lib.eye(2), lib.eye(2))
        with pytest.raises(ValueError, match="at least two-dimensional"):
            wishart(3.0, lib.ones(2))
        with pytest.raises(ValueError, match="greater than ndim - 1 = 1"):
            wishart(1.0, lib.eye(2))
        with pytest.raises(ValueError, match="greater than or equal to 2"):
            lkj(1)
        with pytest.raises(ValueError, match="concentration"):
            lkj(3, -1.0)
        with pytest.raises(NotImplementedError):
            lkj(3).rsample()


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("concentration", [0.7, 1.0, 4.0])
def test_correlations_have_the_known_variance(dim, concentration):
    """A correlation is a beta number of two equal parameters, stretched to (-1, 1)."""
    ocl.manual_seed(2)
    factors = LKJCholesky(dim, concentration).sample((20000,))
    assert factors.shape == (20000, dim, dim)
    correlations = (factors @ factors.mT).numpy()
    np.testing.assert_allclose(np.diagonal(correlations, axis1=1, axis2=2), 1, atol=1e-5)
    a = concentration - 1 + dim / 2
    for i in range(dim):
        for j in range(i):
            drawn = correlations[:, i, j]
            assert abs(drawn.mean()) < 0.02 and abs(drawn.var() - 1 / (2 * a + 1)) < 0.015
