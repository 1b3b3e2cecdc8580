"""Products with Jacobians and Hessians, and those matrices: what torch.autograd.functional is.

Each function calls ``func(*inputs)`` once and differentiates what it returns. ``inputs`` is a tensor or a
tuple of tensors of floating dtypes, and so is what ``func`` returns; a result has the form of what it belongs
to. The inputs that ``func`` sees are other tensors over the same memory: one that ``func`` also captures is a
constant. Results have a history with ``create_graph=True`` alone. With ``strict=True`` a result that does not
depend on an input raises RuntimeError; else the derivative is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ocl import _C, autograd
from ocl._C import Tensor
from ocl.batching import derivatives

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_OUTPUTS = "outputs of the user-provided function"
_NOT_STRICT = "This is not allowed in strict mode"

# The fault of number {} of some tensors that have no history.
_WITHOUT_HISTORY = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided "
    f"function. {_NOT_STRICT}.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
    f"respect to input {{}} is independent of the input. {_NOT_STRICT}. You should ensure that your function "
    "is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
    "function for example).",
}

# The meaning of a derivative that has no part number {}.
_NO_GRADIENT = f"The output of the user-provided function is independent of input {{}}. {_NOT_STRICT}."
_NO_PRODUCT = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the "
    f"double backward trick to compute forward mode gradients. {_NOT_STRICT}."
)
_NO_SECOND = f"The jacobian of the user-provided function is independent of input {{}}. {_NOT_STRICT}."
_NO_SECOND_PRODUCT = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    f"{_NOT_STRICT} as it prevents from using the double backward trick to replace forward mode AD."
)


def _as_tuple(value: Any, what: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether ``value`` is a tuple, and its tensors. Raises TypeError for anything else than tensors."""
    is_tuple = isinstance(value, tuple)
    tensors = value if is_tuple else (value,)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            which = f"value at index {i}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the "
                f"{which} has type {type(tensor)}."
            )
    return is_tuple, tensors


def _inside(tensors: Sequence[Tensor], create_graph: bool, requires_grad: bool) -> tuple[Tensor, ...]:
    """Other tensors over the same memory, with the history of the given ones where results get one."""
    return tuple(
        t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(requires_grad)
        for t in tensors
    )


def _outside(results: Any, create_graph: bool, *are_tuples: bool) -> Any:
    """Results as the caller gets them: without a history unless it asked for one, and for each level of
    nesting that was no tuple the only entry."""
    if isinstance(results, Tensor):
        return results if create_graph else results.detach()
    is_tuple, *deeper = are_tuples
    entries = tuple(_outside(entry, create_graph, *deeper) for entry in results)
    return entries if is_tuple else entries[0]


def _require_history(tensors: Sequence[Tensor | None], what: str, strict: bool) -> None:
    for i, tensor in enumerate(tensors):
        if strict and tensor is None:
            raise RuntimeError(_NO_GRADIENT.format(i))
        if strict and not tensor.requires_grad:
            raise RuntimeError(_WITHOUT_HISTORY[what].format(i))


def _grad(
    outputs: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor | None] | None,
    create_graph: bool,
    retain_graph: bool | None = None,
) -> list[Tensor | None]:
    """Gradients of those outputs that have a history, None for an input that they do not depend on."""
    weights = weights or (None,) * len(outputs)
    used = [(o, w) for o, w in zip(outputs, weights, strict=True) if o is not None and o.requires_grad]
    if not used:
        return [None] * len(inputs)
    asked = [o for o, _ in used], inputs, [w for _, w in used]
    return derivatives.gradients(*asked, retain_graph, create_graph)


def _with_zeros(
    gradients: Sequence[Tensor | None],
    like: Sequence[Tensor],
    strict: bool,
    create_graph: bool,
    missing: str,
    matrix: str = "jacobian",
) -> list[Tensor]:
    """The gradients, parts of ``matrix``, with zeros for None, which ``strict`` refuses in the words of
    ``missing``."""
    for i, gradient in enumerate(gradients):
        if strict and gradient is None:
            raise RuntimeError(missing.format(i))
        if strict and create_graph and not gradient.requires_grad:
            raise RuntimeError(
                f"The {matrix} of the user-provided function is independent of input {i}. {_NOT_STRICT} "
                "when create_graph=True."
            )
    return [_C.zeros_like(x) if g is None else g for g, x in zip(gradients, like, strict=True)]


def _given_vector(v: Any, like: Sequence[Tensor], is_tuple: bool, create_graph: bool, function: str):
    """``v`` as a tuple with the sizes of ``like``. Raises RuntimeError for other ones."""
    _, v = _as_tuple(v, "v", function)
    v = _inside(v, create_graph, False)
    if len(v) != len(like):
        if is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (own, other) in enumerate(zip(v, like, strict=True)):
        if own.shape != other.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {tuple(other.shape)} but got {tuple(own.shape)}."
            )
    return v


def _vector_for_inputs(v: Any, inputs: Sequence[Tensor], is_tuple: bool, create_graph: bool, function: str):
    """The check for a ``v`` with the sizes of the inputs, which a single number needs none of."""
    if v is not None:
        return _given_vector(v, inputs, is_tuple, create_graph, function)
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor "
            "with a single element."
        )
    return None


def _require_scalar(outputs: Sequence[Tensor], is_tuple: bool, function: str) -> None:
    if is_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {function} should contain a single element"
        )


def vjp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``func(*inputs)``, and the product of ``v`` with its Jacobian (torch.autograd.functional.vjp)::

        f = lambda x: x.exp().sum(1)
        value, product = ocl.autograd.functional.vjp(f, ocl.rand(4, 3), ocl.ones(4))  # (4,) and (4, 3)

    ``v`` has the shapes of what ``func`` returns, and may be left out where that is a single element; the
    product has the shapes and dtypes of the inputs. Raises TypeError where inputs, results or ``v`` are
    anything else than tensors, RuntimeError for a ``v`` that does not fit.
    """
    with autograd.enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _inside(inputs, create_graph, True)
        several, outputs = _as_tuple(func(*inputs), _OUTPUTS, "vjp")
        _require_history(outputs, "outputs", strict)
        if v is not None:
            v = _given_vector(v, outputs, several, create_graph, "vjp")
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
        found = _grad(outputs, inputs, v, create_graph)
        product = _with_zeros(found, inputs, strict, create_graph, _NO_GRADIENT)
    return _outside(outputs, create_graph, several), _outside(product, create_graph, is_tuple)


def jvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``func(*inputs)``, and the product of its Jacobian with ``v`` (torch.autograd.functional.jvp)::

        f = lambda x: x.exp().sum(1)
        value, product = ocl.autograd.functional.jvp(f, ocl.rand(4, 3), ocl.ones(4, 3))  # (4,) and (4,)

    ``v`` has the shapes of the inputs, and may be left out where they are a single element; the product has
    the shapes and dtypes of what ``func`` returns. It takes two backward passes, the second of which
    differentiates the first by its weights, so ``func`` must be twice differentiable. Raises as ``vjp``.
    """
    with autograd.enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _inside(inputs, create_graph, True)
        v = _vector_for_inputs(v, inputs, is_tuple, create_graph, "jvp")
        several, outputs = _as_tuple(func(*inputs), _OUTPUTS, "jvp")
        _require_history(outputs, "outputs", strict)
        weights = [_C.zeros_like(output).requires_grad_() for output in outputs]
        slopes = _grad(outputs, inputs, weights, True)
        _require_history(slopes, "grad_inputs", strict)
        found = _grad(slopes, weights, v, create_graph)
        product = _with_zeros(found, outputs, strict, create_graph, _NO_PRODUCT)
    return _outside(outputs, create_graph, several), _outside(product, create_graph, several)


def units_of(output: Tensor) -> Iterator[Tensor]:
    """The tensors of the output's shape with a single 1, in row-major order."""
    for i in range(output.numel()):
        unit = _C.zeros(output.numel(), dtype=output.dtype, device=output.device)
        unit[i] = 1
        yield unit.view(output.shape)


def stacked(rows: Sequence[Tensor], output: Tensor, like: Tensor) -> Tensor:
    """The gradients of each element of ``output`` by ``like``, of shape (*output.shape, *like.shape)."""
    shape = (*output.shape, *like.shape)
    if not rows:
        return _C.zeros(shape, dtype=like.dtype, device=like.device)
    return _C.stack(rows).view(shape)


def _is_forward_mode(strategy: str, name: str, function: str, create_graph: bool, vectorize: bool) -> bool:
    """Whether that strategy is meant; errors of PyTorch's for what goes not with it."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f'Expected {name} to be either "forward-mode" or "reverse-mode".')
    if strategy == "reverse-mode":
        return False
    if create_graph:
        raise NotImplementedError(
            f'ocl.autograd.functional.{function}: `create_graph=True` and `{name}="forward-mode"` are not '
            f'supported together (yet). Please either set `create_graph=False` or `{name}="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )
    return True


def _jacobian_by_columns(func: Callable, inputs: Any) -> Any:
    from ocl.func import jacfwd  # which is made of this module

    is_tuple, inputs = _as_tuple(inputs, "inputs", "jacobian")
    several = False

    def outputs_of(*inputs: Tensor) -> tuple[Tensor, ...]:
        nonlocal several
        several, outputs = _as_tuple(func(*inputs), _OUTPUTS, "jacobian")
        return outputs

    columns = jacfwd(outputs_of, tuple(range(len(inputs))))(*_inside(inputs, False, True))
    return _outside([list(of_output) for of_output in columns], False, several, is_tuple)


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` (torch.autograd.functional.jacobian)::

        ocl.autograd.functional.jacobian(lambda x: x.exp().sum(1), ocl.rand(2, 3))  # (2, 2, 3)

    Of a result of shape S by an input of shape T a tensor of shape (*S, *T) with the dtype of the input; of
    several results a tuple, of several inputs a tuple in each place of that. It takes a backward pass for
    every element that ``func`` returns: ``vectorize=True`` runs the same loop, and as in PyTorch refuses
    ``strict=True`` with RuntimeError. ``strategy="forward-mode"``, with ``vectorize=True`` and no
    ``create_graph``, is ``ocl.func.jacfwd``: it takes a pass for every element of the inputs. Else raises as
    ``vjp``.
    """
    forward_mode = _is_forward_mode(strategy, "strategy", "jacobian", create_graph, vectorize)
    if vectorize and strict:
        raise RuntimeError(
            "ocl.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
            "together. Please either set `strict=False` or `vectorize=False`."
        )
    if forward_mode:
        return _jacobian_by_columns(func, inputs)
    with autograd.enable_grad():
        is_tuple, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _inside(inputs, create_graph, True)
        several, outputs = _as_tuple(func(*inputs), _OUTPUTS, "jacobian")
        _require_history(outputs, "outputs", strict)
        matrices = []
        for i, output in enumerate(outputs):
            missing = f"Output {i} of the user-provided function is independent of input {{}}. {_NOT_STRICT}."
            rows = [
                _with_zeros(
                    _grad([output], inputs, [unit], create_graph, retain_graph=True),
                    inputs,
                    strict,
                    create_graph,
                    missing,
                )
                for unit in units_of(output)
            ]
            matrices.append([stacked([row[j] for row in rows], output, x) for j, x in enumerate(inputs)])
    return _outside(matrices, create_graph, several, is_tuple)


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of ``func``, which returns a single element (torch.autograd.functional.hessian)::

        ocl.autograd.functional.hessian(lambda x: x.pow(3).sum(), ocl.rand(2, 3))  # (2, 3, 2, 3)

    By inputs of shapes S and T a tensor of shape (*S, *T); of a tuple of inputs a tuple of tuples. It is the
    Jacobian of the Jacobian: a backward pass for every element of the inputs. RuntimeError where ``func``
    returns anything else than a single element; else arguments and errors as ``jacobian``.
    ``outer_jacobian_strategy`` changes nothing: both take a pass for every element of the inputs.
    """
    _is_forward_mode(outer_jacobian_strategy, "outer_jacobian_strategy", "hessian", create_graph, vectorize)
    is_tuple, inputs = _as_tuple(inputs, "inputs", "hessian")

    def scalar(*inputs: Tensor) -> Tensor:
        several, outputs = _as_tuple(func(*inputs), _OUTPUTS, "hessian")
        _require_history(outputs, "outputs", strict)
        _require_scalar(outputs, several, "hessian")
        return outputs[0].squeeze()

    def slopes(*inputs: Tensor) -> tuple[Tensor, ...]:
        found = jacobian(scalar, inputs, create_graph=True)
        _require_history(found, "jacobian", strict)
        return found

    matrix = jacobian(slopes, inputs, create_graph, strict, vectorize)
    return matrix if is_tuple else matrix[0][0]


def _slopes_of_scalar(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, function: str):
    """For a function of a single element: whether its inputs are a tuple, they, ``v``, what it returns and
    its gradients with a history.
    """
    is_tuple, inputs = _as_tuple(inputs, "inputs", function)
    inputs = _inside(inputs, create_graph, True)
    v = _vector_for_inputs(v, inputs, is_tuple, create_graph, function)
    several, outputs = _as_tuple(func(*inputs), _OUTPUTS, function)
    _require_history(outputs, "outputs", strict)
    _require_scalar(outputs, several, function)
    slopes = _grad(outputs, inputs, None, True)
    _require_history(slopes, "jacobian", strict)
    return is_tuple, inputs, v, outputs[0], slopes


def vhp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Any]:
    """``func(*inputs)``, a single element, and the product of ``v`` with its Hessian
    (torch.autograd.functional.vhp)::

        f = lambda x: x.pow(3).sum()
        value, product = ocl.autograd.functional.vhp(f, ocl.rand(2, 2), ocl.ones(2, 2))

    ``v`` and the product have the shapes of the inputs; ``v`` may be left out where they are a single
    element. It takes two backward passes. Raises as ``vjp``, and RuntimeError where ``func`` returns anything
    else than a single element.
    """
    with autograd.enable_grad():
        found = _slopes_of_scalar(func, inputs, v, create_graph, strict, "vhp")
        is_tuple, inputs, v, output, slopes = found
        second = _grad(slopes, inputs, v, create_graph)
        product = _with_zeros(second, inputs, strict, create_graph, _NO_SECOND, "hessian")
    return _outside(output, create_graph), _outside(product, create_graph, is_tuple)


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Any]:
    """``func(*inputs)``, a single element, and the product of its Hessian with ``v``
    (torch.autograd.functional.hvp)::

        f = lambda x: x.pow(3).sum()
        value, product = ocl.autograd.functional.hvp(f, ocl.rand(2, 2), ocl.ones(2, 2))

    For a function that is twice continuously differentiable it equals ``vhp``, which takes two backward
    passes where this takes three. Arguments and errors as ``vhp``.
    """
    with autograd.enable_grad():
        found = _slopes_of_scalar(func, inputs, v, create_graph, strict, "hvp")
        is_tuple, inputs, v, output, slopes = found
        weights = [_C.zeros_like(x).requires_grad_() for x in inputs]
        second = _grad(slopes, inputs, weights, True)
        found = _grad(second, weights, v, create_graph)
        product = _with_zeros(found, inputs, strict, create_graph, _NO_SECOND_PRODUCT, "hessian")
    return _outside(output, create_graph), _outside(product, create_graph, is_tuple)
