"""Exponential families, whose entropies and divergences follow from the log normalizer."""

from ocl import autograd
from ocl.distributions.distribution import Distribution
from ocl.distributions.utils import sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A density exp(t(x) · θ - F(θ) + k(x)). Matches torch.distributions.ExponentialFamily.

    A class gives ``_natural_params`` (θ), ``_log_normalizer`` (F) and ``_mean_carrier_measure`` (the mean of
    k).
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def _normalizer_and_means(self):
        """θ, F(θ) and the gradients of F by θ, which are the means of t(x).

        They have a history where a parameter of the distribution requires gradients.
        """
        given = self._natural_params
        with autograd.enable_grad():
            natural = [p if p.requires_grad else p.detach().requires_grad_() for p in given]
            normalizer = self._log_normalizer(*natural)
            means = autograd.grad(normalizer.sum(), natural, create_graph=True)
        if not any(p.requires_grad for p in given):
            return given, normalizer.detach(), [mean.detach() for mean in means]
        return natural, normalizer, means

    def entropy(self):
        natural, normalizer, means = self._normalizer_and_means()
        event_dim = len(self._event_shape)
        result = normalizer - self._mean_carrier_measure
        for parameter, mean in zip(natural, means, strict=True):
            result = result - sum_rightmost(parameter * mean, event_dim)
        return result
