"""Comparison of the tape's gradients with finite differences: what torch.autograd.gradcheck is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ocl import _C
from ocl._C import Tensor


def _listed(tensors: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _flat(tensors: Sequence[Tensor | None]) -> Tensor:
    return _C.cat([t.flatten() for t in tensors if t is not None])


def _check_one_direction(func: Callable, inputs: list[Tensor], eps: float, atol: float, rtol: float) -> None:
    """Compares the derivative along a random direction of the inputs, of a random weighting of the result."""
    wanted = [i for i, tensor in enumerate(inputs) if tensor.requires_grad]
    output = func(*inputs)
    for tensor in (*(inputs[i] for i in wanted), output):
        if tensor.dtype != _C.float64:
            raise TypeError(f"gradcheck: expected float64 inputs and outputs, got {tensor.dtype}")
    weights = _C.rand(output.shape, dtype=output.dtype, device=output.device) + 0.5
    directions = {
        i: _C.rand(inputs[i].shape, dtype=_C.float64, device=inputs[i].device) - 0.5 for i in wanted
    }

    def moved(distance: float) -> float:
        at = [t.detach() + distance * directions[i] if i in directions else t for i, t in enumerate(inputs)]
        at = [t.requires_grad_() if i in directions else t for i, t in enumerate(at)]
        return (func(*at).detach() * weights).sum().item()

    expected = (moved(eps) - moved(-eps)) / (2 * eps)
    found = [None] * len(wanted)
    if output.requires_grad:
        found = _C.grad([output], [inputs[i] for i in wanted], [weights], None, False, True)
    actual = sum(
        (g * directions[i]).sum().item() for g, i in zip(found, wanted, strict=True) if g is not None
    )
    if not abs(actual - expected) <= atol + rtol * abs(expected):
        raise RuntimeError(
            f"gradcheck: the derivative along a random direction is {actual} by the tape, "
            f"{expected} by differences"
        )


def gradcheck(
    func: Callable,
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    fast_mode: bool = False,
) -> bool:
    """Compares the tape's gradients of ``func(*inputs)``, a tensor, with central differences.

    Inputs must be float64. With ``fast_mode`` the derivative along one random direction alone is compared,
    which takes two calls of ``func`` instead of two an element. Raises RuntimeError that says where they
    differ (torch.autograd.gradcheck).
    """
    if fast_mode:
        _check_one_direction(func, _listed(inputs), eps, atol, rtol)
        return True
    return _C.gradcheck(lambda tensors: func(*tensors), _listed(inputs), eps, atol, rtol)


def gradgradcheck(
    func: Callable,
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    fast_mode: bool = False,
) -> bool:
    """Compares derivatives of the gradients of ``func(*inputs)`` with central differences of the gradients.

    Inputs must be float64. ``grad_outputs``: the gradient of the result that the gradients are taken for;
    random numbers if it is not given. ``fast_mode`` as in ``gradcheck``. Raises RuntimeError that says where
    they differ (torch.autograd.gradgradcheck).
    """
    inputs = _listed(inputs)
    wanted = [i for i, tensor in enumerate(inputs) if tensor.requires_grad]
    if grad_outputs is None:
        output = func(*inputs)
        grad_outputs = _C.randn(output.shape, dtype=output.dtype, device=output.device)
    (seed,) = _listed(grad_outputs)

    def gradients(*tensors: Tensor) -> Tensor:
        *given, weight = tensors
        output = func(*given)
        found = _C.grad([output], [given[i] for i in wanted], [weight], None, True, True)
        if all(g is None for g in found):
            return _C.zeros([0], dtype=output.dtype, device=output.device)
        return _flat(found)

    return gradcheck(gradients, [*inputs, seed.detach().requires_grad_()], eps, atol, rtol, fast_mode)
