"""Derivatives as functions of functions, and calls of modules with other parameters: what torch.func is.

::

    slope = ocl.func.grad(lambda x: (x**3).sum())
    slope(x), ocl.func.grad(lambda x: slope(x).sum())(x)  # 3 x^2, 6 x

Arguments and results are tensors, or nests of tuples, lists and dicts of them. Transforms nest, and each
differentiates by its own arguments alone. A result has a history where recording is on and something outside
of the outermost transform that it depends on requires gradients. ``jacrev`` takes a backward pass for every
element of the result, ``jvp`` takes two.
"""

from ocl.func.functional_call import functional_call
from ocl.func.stacking import stack_module_state
from ocl.func.transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from ocl.func.vmapping import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]
