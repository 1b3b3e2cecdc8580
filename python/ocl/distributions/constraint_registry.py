"""The transforms from unconstrained tensors to constrained ones: ``biject_to`` and ``transform_to``."""

import numbers

from ocl.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Makes a transform for a constraint.

    Matches torch.distributions.constraint_registry.ConstraintRegistry.
    """

    def __init__(self):
        self._factories = {}

    def register(self, constraint, factory=None):
        """Registers `factory`, a function of the constraint, for a constraint's class; a decorator without
        it.

        Raises TypeError where `constraint` is neither a Constraint nor a class of them.
        """
        if factory is None:
            return lambda made: self.register(constraint, made)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint):
        """The transform whose codomain is `constraint`; NotImplementedError where none is registered."""
        factory = self._factories.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _in_both(*kinds):
    """Registers a function of the registry and the constraint for both registries."""

    def register(make):
        for registry in (biject_to, transform_to):
            for kind in kinds:
                registry.register(kind, lambda constraint, registry=registry: make(registry, constraint))
        return make

    return register


@_in_both(constraints.real)
def _to_real(registry, constraint):
    return transforms.identity_transform


@_in_both(constraints.independent)
def _to_independent(registry, constraint):
    base = registry(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_in_both(constraints.greater_than, constraints.greater_than_eq)
def _to_greater_than(registry, constraint):
    if isinstance(constraint.lower_bound, numbers.Number) and constraint.lower_bound == 0:
        return transforms.ExpTransform()
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_in_both(constraints.less_than)
def _to_less_than(registry, constraint):
    mirror = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), mirror])


@_in_both(constraints.interval, constraints.half_open_interval)
def _to_interval(registry, constraint):
    bounds = lower, upper = constraint.lower_bound, constraint.upper_bound
    if all(isinstance(bound, numbers.Number) for bound in bounds) and bounds == (0, 1):
        return transforms.SigmoidTransform()
    stretch = transforms.AffineTransform(lower, upper - lower)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), stretch])


@_in_both(constraints.corr_cholesky)
def _to_corr_cholesky(registry, constraint):
    return transforms.CorrCholeskyTransform()


@_in_both(constraints.cat)
def _to_cat(registry, constraint):
    parts = [registry(part) for part in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@_in_both(constraints.stack)
def _to_stack(registry, constraint):
    return transforms.StackTransform([registry(part) for part in constraint.cseq], constraint.dim)


biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda constraint: transforms.PositiveDefiniteTransform())
