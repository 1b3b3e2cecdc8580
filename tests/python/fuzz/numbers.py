"""A tensor, a NumPy scalar, an array or a bool where a number belongs: in operators, layers and optimizers.

Either both libraries refuse it, or both give the same result, and the tensor the same gradient: a gradient
is never lost without a word. A tensor without a gradient may also stand for the number that it holds, where
PyTorch takes that number and not what holds it.
"""

import warnings

import cases
import comparison
import numpy as np
import torch
from cases.harness import Case
from layers import every_layer
from optim.test_optimizers import OPTIMIZERS

import ocl
from fuzz.arguments import Mutation, difference
from fuzz.found import REFUSES, WRONG, Found
from fuzz.hostile import HostileDraw, described
from fuzz.operators import attempt, judge_errors
from fuzz.spies import Spy, is_tensor
from fuzz.twins import set_weights, weights_like

LAYERS = every_layer()


def number_type(value):
    return np.float32 if isinstance(value, float) else np.bool_ if isinstance(value, bool) else np.int64


FORMS = {
    "tensor": lambda lib, v: lib.tensor(np.array(v, number_type(v))),
    "float64 tensor": lambda lib, v: lib.tensor(np.array(v, np.float64)),
    "float64 tensor of a fraction": lambda lib, v: lib.tensor(np.array(v + 0.5, np.float64)),
    "tensor of shape [1]": lambda lib, v: lib.tensor(np.array([v], number_type(v))),
    "tensor that requires a gradient": lambda lib, v: lib.tensor(np.array(v, np.float32)).requires_grad_(),
    "result that requires a gradient": lambda lib, v: (
        lib.tensor(np.array(v, np.float32)).requires_grad_() * 1
    ),
    "float64 scalar": lambda lib, v: np.float64(v),
    "scalar": lambda lib, v: number_type(v)(v),
    "array": lambda lib, v: np.array(v, number_type(v)),
    "array of shape [1]": lambda lib, v: np.array([v], number_type(v)),
    "bool": lambda lib, v: bool(v),
}
# Gradients are what gets lost.
WEIGHTS = [2 if "gradient" in name else 1 for name in FORMS]


def number_in(given, place):
    """The number that a form holds; a bool counts as an int where one stood, as in Python."""
    value = given.item() if hasattr(given, "item") else given
    return int(value) if isinstance(value, bool) and not isinstance(place, bool) else value


class Replacement(Mutation):
    """Puts a number of the first call that has any in another form; the same for the same seed. Where `plain`
    is set, it is the number that this form holds."""

    def __init__(self, seed, lib, plain=False):
        super().__init__(seed)
        self.lib, self.plain, self.form, self.given = lib, plain, "", None
        self.has_gradient = False

    @property
    def needs_gradient(self):
        return is_tensor(self.given) and self.given.requires_grad

    def __call__(self, path, arguments, keywords):
        # Lists of what tensors hold are for the doors.
        return (arguments, keywords) if path == "tensor" else super().__call__(path, arguments, keywords)

    def replaced(self, value, at, rng):
        if at is not None:
            return type(value)([*value[:at], self.replaced(value[at], None, rng), *value[at + 1 :]])
        self.form = rng.choice(tuple(FORMS), p=np.array(WEIGHTS) / sum(WEIGHTS))
        self.given = FORMS[self.form](self.lib, value)
        return number_in(self.given, value) if self.plain else self.given


class Methods:
    """The library with the methods of tensors in place of its functions, where it has them."""

    def __init__(self, lib):
        self._lib, self.__name__ = lib, lib.__name__

    def __getattr__(self, name):
        function = getattr(self._lib, name)
        if not hasattr(torch.Tensor, name) or not hasattr(ocl.Tensor, name):
            return function

        def call(*arguments, **keywords):
            called = getattr(arguments[0], name) if arguments and is_tensor(arguments[0]) else None
            return called(*arguments[1:], **keywords) if called else function(*arguments, **keywords)

        return call


# --- what has numbers


def operator_case(draw, name):
    case, by_methods = cases.CASES[name](draw), draw.chance(0.5)

    def call(lib, watch, *tensors):
        return case.function(Spy(Methods(lib) if by_methods else lib, watch), *tensors)

    return Case(call, *case.inputs)


def layer_case(draw, name):
    row = LAYERS[name]
    inputs = row.draw(draw.rng)

    def call(lib, watch, *tensors):
        layer = set_weights(lib, row.build(Spy(lib.nn, watch, "nn", classes=True)))
        return layer(*(t * 1 if t.requires_grad else t for t in tensors))

    return Case(call, *inputs)


def optimizer_case(draw, name):
    kind, options = OPTIMIZERS[name]

    def call(lib, watch, x):
        parameter = lib.nn.Parameter(x.detach().clone())
        optimizer = getattr(Spy(lib.optim, watch, "optim", classes=True), kind)(
            [parameter], **{"lr": 0.125, **options}
        )
        for step in range(2):
            parameter.grad = weights_like(lib, x, step)
            optimizer.step()
        return parameter.detach()

    return Case(call, draw.floats((2, 3), layout="contiguous"))


# Fourier transforms of pairs are several calls of PyTorch's, which are no twins.
NAMES = {name: (operator_case, name) for name in cases.CASES if not name.startswith("_fft_")}
NAMES |= {f"nn.{name}": (layer_case, name) for name in LAYERS}
NAMES |= {f"optim.{name}": (optimizer_case, name) for name in OPTIMIZERS}


def subject_of(seed):
    """Half of the cases are operators, most of the others layers."""
    rng = np.random.default_rng([seed, 6])
    prefix = rng.choice(["", "nn.", "optim."], p=[0.6, 0.25, 0.15])
    names = [n for n in NAMES if n.startswith(prefix) and (prefix or "." not in n)]
    return names[int(rng.integers(len(names)))]


def results_of(lib, case, replacement):
    """Results, and the gradients of what stands for the number and of the inputs, with which there are."""

    def make(array):
        return lib.tensor(array) if lib is ocl else torch.from_numpy(np.array(array))

    tensors = [i.build(make)[1] for i in case.inputs]
    for tensor, given in zip(tensors, case.inputs, strict=True):
        tensor.requires_grad_(given.is_floating)
    results = [r for r in comparison.as_list(case.function(lib, replacement, *tensors)) if r is not None]
    answers = [comparison.array_of(r.detach()) if is_tensor(r) else np.asarray(r) for r in results]
    if not replacement.done or not replacement.needs_gradient:
        return answers
    roots = [r for r in results if is_tensor(r) and r.requires_grad]
    sources = [replacement.given, *(t for t in tensors if t.requires_grad)]
    gradients = [None] * len(sources)
    if roots:
        loss = sum((r * weights_like(lib, r, i)).sum() for i, r in enumerate(roots))
        gradients = lib.autograd.grad(loss, sources, allow_unused=True)
    replacement.has_gradient = gradients[0] is not None
    return [
        *answers,
        np.array([g is not None for g in gradients]),
        *(comparison.array_of(g) for g in gradients if g is not None),
    ]


def run_one(name, seed, limit, announce):
    name = name or subject_of(seed)
    draw = HostileDraw([seed, *name.encode()], limit or 20)
    draw.has_specials = False
    make_case, row = NAMES[name]
    case = make_case(draw, row)
    inputs = ", ".join(described(i.array, i.layout) for i in case.inputs)
    answers, errors, text = {}, {}, ""

    def attempted(lib, plain=False):
        replacement = Replacement(seed, lib, plain)

        def call():
            answers[lib] = results_of(lib, case, replacement)

        announce(lib, f"{name}: {inputs} -> {text}")
        errors[lib] = attempt(call)
        return replacement

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = attempted(torch)
        if not given.done:
            return None
        text = f"{given.form} in {given.log.text()}"
        attempted(ocl)
        if errors[torch] is not None and errors[ocl] is None and not given.needs_gradient:
            attempted(torch, plain=True)
    found = judge_errors(errors[ocl], errors[torch])
    if found and found[0] == REFUSES and given.needs_gradient and not given.has_gradient:
        found = None  # rather than to lose the gradient, as PyTorch does
    if found is None and errors[ocl] is None and errors[torch] is None:
        detail = difference(answers[ocl], answers[torch])
        found = detail and (WRONG, detail)
    return Found(found[0], f"number: {name}", f"{inputs} -> {text}", found[1]) if found else None


def smaller(seed):
    for limit in (2, 6, 20):
        for other in range(20):
            yield 1000 * seed + other, limit
