"""Functions that make functions of derivatives: the transforms of torch.func."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ocl import _C
from ocl._C import Tensor, is_grad_enabled
from ocl.autograd import enable_grad
from ocl.autograd.functional import stacked, units_of
from ocl.batching import derivatives
from ocl.func import trees

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"]

_current = threading.local()


class _Level:
    """One transform: the leaves that it differentiates by, and what becomes of results outside of it."""

    def __init__(self) -> None:
        self._records = is_grad_enabled()
        self._leaves: dict[int, Tensor] = {}

    @contextmanager
    def entered(self) -> Iterator[None]:
        """While the function of the transform runs."""
        outer = getattr(_current, "level", None)
        _current.level = self
        try:
            with enable_grad():
                yield
        finally:
            _current.level = outer
            self.join(outer)

    def join(self, outer: _Level | None) -> None:
        """Makes the leaves those of ``outer`` too, whose results may lead to them."""
        if outer is not None and outer is not self:
            outer._leaves.update(self._leaves)

    def leaf(self, tensor: Tensor) -> Tensor:
        """A leaf of this level over the memory of ``tensor``."""
        leaf = derivatives.leaf(tensor)
        self._leaves[id(leaf)] = leaf
        return leaf

    def inside(self, argument: Any) -> Tensor:
        """The function's view of an argument that the transform differentiates by."""
        if not isinstance(argument, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(argument)}")
        if self._records and argument.requires_grad:
            return derivatives.alias(argument)
        return self.leaf(argument)

    def leads_outside(self, *tensors: Tensor) -> bool:
        """Whether gradients of the tensors flow to anything outside of this level."""
        asked = [t for t in tensors if t.requires_grad]
        return self._records and bool(asked) and _C._leads_beyond(asked, list(self._leaves.values()))

    def outside(self, result: Any) -> Tensor:
        """A result without a history that is of this level alone."""
        if not isinstance(result, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(result)}")
        return result if self.leads_outside(result) else result.detach()

    def gradients(
        self,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor | None],
        retain_graph: bool,
        create_graph: bool,
    ) -> list[Tensor]:
        """Gradients of ``outputs`` by ``inputs`` of this level, zeros where there are none."""
        used = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
        found = [None] * len(inputs)
        if used:
            asked = [o for o, _ in used], inputs, [w for _, w in used]
            found = derivatives.gradients(*asked, retain_graph, create_graph)
        return [
            _C.zeros_like(x) if g is None else self.outside(g) for g, x in zip(found, inputs, strict=True)
        ]


def _numbers(argnums: Any, count: int) -> tuple[int, ...]:
    """The numbers of arguments, of ``count``, that ``argnums`` says. Raises RuntimeError for bad ones."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = []
    for number in argnums if isinstance(argnums, tuple) else (argnums,):
        if not isinstance(number, int):
            raise RuntimeError(f"argnum must be int, got: {type(number)}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
        numbers.append(number % count)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(numbers)


def _with_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """A function's result, and its second part where it has one."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def _outputs(tree: Any, name: str) -> list[Tensor]:
    """The tensors of a result. Raises RuntimeError for anything else."""
    outputs = trees.leaves(tree)
    if not outputs or tree is None:
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = {outputs})"
        )
    for output in outputs:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(output)}"
            )
    return outputs


def grad_and_value(func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable:
    """A function of the gradient of ``func``, and of what ``func`` returns (torch.func.grad_and_value).

    It takes the arguments of ``func`` and returns ``(gradient, value)``, with ``has_aux``
    ``(gradient, (value, aux))``; else all is as with ``grad``.
    """

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        name = "grad_and_value(f)(*args)"
        numbers = _numbers(argnums, len(args))
        level = _Level()
        with level.entered():
            inside = {i: trees.mapped(level.inside, args[i]) for i in numbers}
            result = func(*(inside.get(i, arg) for i, arg in enumerate(args)), **kwargs)
            value, aux = _with_aux(result, has_aux, name)
            if not isinstance(value, Tensor):
                raise RuntimeError(f"{name}: Expected f(*args) to return a Tensor, got {type(value)}")
            if value.dim() != 0:
                raise RuntimeError(
                    f"{name}: Expected f(*args) to return a scalar Tensor, got tensor with {value.dim()} "
                    "dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            asked = tuple(inside[i] for i in numbers) if isinstance(argnums, tuple) else inside[numbers[0]]
            others = [t for t in trees.leaves(aux) if isinstance(t, Tensor)]
            goes_on = level.leads_outside(value, *others)
            found = iter(level.gradients([value], trees.leaves(asked), [None], goes_on, goes_on))
            gradient = trees.mapped(lambda _: next(found), asked)
            value = level.outside(value)
            if has_aux:
                return gradient, (value, trees.mapped(level.outside, aux))
        return gradient, value

    return derivative


def grad(func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable:
    """A function of the gradient of ``func`` (torch.func.grad)::

        ocl.func.grad(lambda w, x: (w * x).sum())(ocl.rand(3), x)  # x

    ``func`` returns a tensor of no dimensions; with ``has_aux`` that and a nest of other tensors, which come
    back beside the gradient. The gradient is by the argument number ``argnums``, of its form, shapes and
    dtypes; by a tuple of numbers it is a tuple. Raises ValueError where such an argument holds anything else
    than tensors, RuntimeError where it is of no floating dtype, where ``argnums`` names no argument, and
    where ``func`` returns something else.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derivative


class _Linearized:
    """A function at a point: what it returned there, and the level at which its history is."""

    def __init__(self, func: Callable, args: Sequence[Any], numbers: Sequence[int], has_aux: bool) -> None:
        name = "vjp(f, *primals)"
        self.level = _Level()
        with self.level.entered():
            self.inputs = {i: trees.mapped(self.level.inside, args[i]) for i in numbers}
            result = func(*(self.inputs.get(i, arg) for i, arg in enumerate(args)))
            self.result, aux = _with_aux(result, has_aux, name)
            self.outputs = _outputs(self.result, name)
            for output in self.outputs:
                if not (output.is_floating_point() or output.is_complex()):
                    raise RuntimeError(
                        "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                        f"with dtype {output.dtype}"
                    )
            self.aux = trees.mapped(self.level.outside, aux) if has_aux else None
            self.value = trees.mapped(self.level.outside, self.result)
            self.leads_outside = self.level.leads_outside(*self.outputs)
        self.flat_inputs = [leaf for tree in self.inputs.values() for leaf in trees.leaves(tree)]

    def gradients(
        self,
        outputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        retain_graph: bool = True,
        create_graph: bool | None = None,
    ) -> list[Tensor]:
        """The derivatives of some outputs by all inputs."""
        self.level.join(getattr(_current, "level", None))
        if create_graph is None:
            create_graph = is_grad_enabled()
        create_graph = create_graph and (self.leads_outside or self.level.leads_outside(*weights))
        return self.level.gradients(outputs, self.flat_inputs, weights, retain_graph, create_graph)


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """``func(*primals)`` and a function of products with its Jacobian (torch.func.vjp)::

        value, vjp_fn = ocl.func.vjp(ocl.sin, x)
        (product,) = vjp_fn(ocl.ones_like(value))  # cos(x)

    ``vjp_fn(cotangents)`` takes a nest of the form, shapes and dtypes of what ``func`` returns and gives a
    tuple with the product for each of ``primals``, as often as it is called; after one call with
    ``retain_graph=False`` no more. With ``has_aux`` ``func`` returns a pair, whose second part, a nest of
    tensors, comes third. Raises as ``grad``.
    """
    point = _Linearized(func, primals, range(len(primals)), has_aux)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> tuple:
        expected, given = trees.structure(point.result), trees.structure(cotangents)
        if expected != given:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {given}, primal output: {expected}"
            )
        weights = trees.leaves(cotangents, point.result)
        for i, (weight, output) in enumerate(zip(weights, point.outputs, strict=True)):
            if weight.shape != output.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {tuple(weight.shape)} and "
                    f"output[{i}] has a shape of {tuple(output.shape)}."
                )
        found = iter(point.gradients(point.outputs, weights, retain_graph, create_graph))
        return tuple(trees.mapped(lambda _: next(found), tree) for tree in point.inputs.values())

    return (point.value, vjp_fn, point.aux) if has_aux else (point.value, vjp_fn)


def jacrev(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable:
    """A function of the Jacobian of ``func`` (torch.func.jacrev)::

        ocl.func.jacrev(lambda x: x.exp().sum(1))(ocl.rand(2, 3))  # (2, 2, 3)

    It has the form of what ``func`` returns, with, for each tensor of shape S there, the form of the argument
    number ``argnums`` (a tuple, of several), and of a tensor of shape T of that a tensor of shape (*S, *T).
    It takes a backward pass for every element that ``func`` returns, whatever ``chunk_size``. ``has_aux`` is
    as with ``grad``. Raises ValueError for a ``chunk_size`` below 1, else as ``grad``.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def derivative(*args: Any) -> Any:
        point = _Linearized(func, args, _numbers(argnums, len(args)), has_aux)

        def matrices(output: Tensor) -> Any:
            rows = [point.gradients([output], [unit]) for unit in units_of(output)]
            columns = zip(*rows, strict=True) if rows else [()] * len(point.flat_inputs)
            found = iter(
                [stacked(column, output, x) for column, x in zip(columns, point.flat_inputs, strict=True)]
            )
            by_input = tuple(trees.mapped(lambda _: next(found), tree) for tree in point.inputs.values())
            return by_input if isinstance(argnums, tuple) else by_input[0]

        jacobian = trees.mapped(matrices, point.result)
        return (jacobian, point.aux) if has_aux else jacobian

    return derivative


def jacfwd(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable:
    """A function of the Jacobian of ``func``, column by column (torch.func.jacfwd)::

        ocl.func.jacfwd(lambda x: x.exp().sum(1))(ocl.rand(2, 3))  # (2, 2, 3)

    Its form is that of ``jacrev``, which takes a backward pass for every element of the result. This takes
    one of twice the work for every element of the arguments, so it is for functions of few numbers to many.
    ``func`` must be twice differentiable, and is called for every element of the arguments: where it draws
    random numbers, ``randomness`` must be "same" or "different", as with ``vmap``. Arguments and errors are
    else as with ``jacrev``.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )

    @functools.wraps(func)
    def derivative(*args: Any) -> Any:
        numbers = _numbers(argnums, len(args))
        chosen = tuple(args[i] for i in numbers)
        primals = trees.leaves(chosen)
        _require_tensors(primals, "primals", "jacfwd")

        def of_chosen(*leaves: Any) -> Any:
            rest = iter(leaves)
            inside = dict(zip(numbers, trees.mapped(lambda _: next(rest), chosen), strict=True))
            return func(*(inside.get(i, arg) for i, arg in enumerate(args)))

        aux, form = None, None
        columns: list[list[list[Tensor]]] = []  # by primal, by element, by result
        for place, primal in enumerate(primals):
            rows = []
            for unit in units_of(primal):
                tangents = [unit if n == place else _C.zeros_like(p) for n, p in enumerate(primals)]
                found = jvp(of_chosen, tuple(primals), tuple(tangents), has_aux=has_aux)
                form, aux = found[1], found[2] if has_aux else None
                rows.append(trees.leaves(found[1]))
            columns.append(rows)
        if form is None:
            found = jvp(of_chosen, tuple(primals), tuple(map(_C.zeros_like, primals)), has_aux=has_aux)
            form, aux = found[1], found[2] if has_aux else None
        count = iter(range(len(trees.leaves(form))))

        def matrices(output: Tensor) -> Any:
            at = next(count)
            made = iter(
                [
                    _columns([row[at] for row in rows], output, p)
                    for rows, p in zip(columns, primals, strict=True)
                ]
            )
            by_input = trees.mapped(lambda _: next(made), chosen)
            return by_input if isinstance(argnums, tuple) else by_input[0]

        jacobian = trees.mapped(matrices, form)
        return (jacobian, aux) if has_aux else jacobian

    return derivative


def _columns(columns: Sequence[Tensor], output: Tensor, primal: Tensor) -> Tensor:
    """The derivatives of an output by each element of an argument as one tensor of both shapes."""
    shape = (*output.shape, *primal.shape)
    return _C.stack(list(columns), -1).reshape(shape) if columns else output.new_zeros(shape)


def hessian(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """A function of the Hessian of ``func``, ``jacrev`` of ``jacrev`` (torch.func.hessian)::

        ocl.func.hessian(lambda x: (x**3).sum())(ocl.rand(2, 3))  # (2, 3, 2, 3)

    Arguments and errors are as with ``jacrev``.
    """
    return jacrev(jacrev(func, argnums), argnums)


def jvp(
    func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """``func(*primals)`` and the product of its Jacobian with ``tangents`` (torch.func.jvp)::

        value, product = ocl.func.jvp(ocl.sin, (x,), (ocl.ones_like(x),))  # product is cos(x)

    ``tangents`` has the form, shapes and dtypes of ``primals``, the product those of what ``func`` returns.
    It takes two backward passes, the second of which differentiates the first by its weights, so ``func``
    must be twice differentiable. With ``has_aux`` ``func`` returns a pair, whose second part comes third.
    Raises RuntimeError where ``primals`` is no tuple or holds anything else than tensors, for tangents that
    do not fit, and with ``strict`` where a result does not depend on ``primals``.
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    expected, given = trees.structure(primals), trees.structure(tangents)
    if expected != given:
        raise RuntimeError(
            f"{name}: Expected primals and tangents to have the same python structure. For example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{expected} and tangents with structure {given}"
        )
    directions = trees.leaves(tangents, primals)
    _require_tensors(trees.leaves(primals), "primals", name)
    _require_tensors(directions, "tangents", name)
    level = _Level()
    with level.entered():
        inside = trees.mapped(level.inside, primals)
        inputs = trees.leaves(inside)
        _require_fitting(directions, inputs, name)
        result, aux = _with_aux(func(*inside), has_aux, name)
        outputs = _outputs(result, name)
        found = iter(_pushed(level, outputs, inputs, directions, strict))
        product = trees.mapped(lambda _: next(found), result)
        value = trees.mapped(level.outside, result)
        if has_aux:
            return value, product, trees.mapped(level.outside, aux)
    return value, product


def _require_tensors(leaves: Sequence[Any], argument: str, name: str) -> None:
    if not leaves:
        raise RuntimeError(f"{name}: Expected {argument} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: Expected {argument} to only contain Tensors, got {type(leaf)}")


def _require_fitting(directions: Sequence[Tensor], inputs: Sequence[Tensor], name: str) -> None:
    for direction, x in zip(directions, inputs, strict=True):
        if direction.shape != x.shape:
            raise RuntimeError(
                f"{name}: Expected tangents of the sizes of primals. Tensor is of size {tuple(x.shape)} "
                f"while the given tangent is of size {tuple(direction.shape)}."
            )


def _pushed(
    level: _Level,
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    directions: Sequence[Tensor],
    strict: bool,
) -> list[Tensor]:
    """The products of the Jacobian of ``outputs`` by ``inputs`` with ``directions``: gradients are linear in
    their weights, so that their derivative by those has the transposed matrix."""
    weights = {i: level.leaf(_C.zeros_like(o)) for i, o in enumerate(outputs) if o.requires_grad}
    found = {}
    if weights:
        dependent = [outputs[i] for i in weights]
        slopes = derivatives.gradients(dependent, inputs, list(weights.values()), True, True)
        used = [(s, d) for s, d in zip(slopes, directions, strict=True) if s is not None and s.requires_grad]
        if used:
            goes_on = level.leads_outside(*dependent, *directions)
            asked = [s for s, _ in used], list(weights.values()), [d for _, d in used]
            found = dict(zip(weights, derivatives.gradients(*asked, True, goes_on), strict=True))
    if strict and any(found.get(i) is None for i in range(len(outputs))):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    return [
        _C.zeros_like(output) if found.get(i) is None else level.outside(found[i])
        for i, output in enumerate(outputs)
    ]
