"""Numbers, lists and arrays on their way into tensors and out again, beside PyTorch and NumPy.

A case is one door, such as `full` or `item`, with a source and dtypes. Nothing is rounded on the way but to
the dtype that is asked for: values, shapes and dtypes are PyTorch's. Arrays that PyTorch refuses for their
byte order or their strides are given to it as plain copies; ours may refuse them or give the same.
"""

import copy
import io
import operator
import pickle
import re
import warnings

import comparison
import numpy as np
import torch

import ocl
from fuzz import sources
from fuzz.found import WRONG, Found
from fuzz.hostile import HostileDraw
from fuzz.operators import attempt, judge_errors
from fuzz.sources import DTYPES, Source
from fuzz.spies import is_tensor

DOORS = {}
ROUNDINGS = {"float64": 1e-14, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


def door(*names):
    """Declares a function that draws a case: its text, its source, and call(lib, given) -> result."""

    def declare(function):
        for name in names:
            DOORS[name] = function if len(names) == 1 else lambda draw, name=name: function(draw, name)
        return function

    return declare


def dtype_of(draw, more=(None, None, None)):
    return draw.choice((*DTYPES, *more))


def options_of(lib, dtype):
    return {} if dtype is None else {"dtype": getattr(lib, dtype)}


def existing(draw, dtype=None, shape=None):
    """A tensor that is there: its text, and what makes it of a library."""
    dtype = dtype or dtype_of(draw, ())
    shape = shape or draw.choice([(), (1,), (3,), (2, 3)])
    seed, needs_gradient = draw.integer(0, 1000), "float" in dtype and draw.chance(0.3)

    def make(lib):
        values = np.random.default_rng(seed).integers(0 if dtype == "uint8" else -4, 5, shape)
        tensor = lib.tensor(np.array(values, np.int64)).to(getattr(lib, dtype))
        return tensor.requires_grad_(needs_gradient)

    return f"{dtype}{list(shape)}{' with a gradient' if needs_gradient else ''}", make


# --- in


@door("tensor", "as_tensor", "new_tensor")
def constructors(draw, name):
    source, dtype = sources.anything(draw), dtype_of(draw)
    text, make = existing(draw)

    def call(lib, x):
        home = make(lib) if name == "new_tensor" else lib
        return getattr(home, name)(x, **options_of(lib, dtype))

    return f"{name} beside {text}, {dtype}", source, call


@door("from_numpy")
def from_numpy(draw):
    return "from_numpy", sources.any_array(draw), lambda lib, x: lib.from_numpy(x)


@door("full", "full_like", "new_full")
def filled(draw, name):
    source, dtype, shape = sources.number(draw), dtype_of(draw), draw.choice([(), (1,), (2, 0), (2, 3)])
    text, make = existing(draw)

    def call(lib, x):
        options = options_of(lib, dtype)
        if name == "full":
            return lib.full(shape, x, **options)
        tensor = make(lib)
        if name == "full_like":
            return lib.full_like(tensor, x, **options)
        return tensor.new_full(shape, x, **options)

    return f"{name}{list(shape)} of {text}, {dtype}", source, call


@door("arange")
def arange(draw):
    source, dtype = sources.number(draw), dtype_of(draw)
    value = source.make()
    if not abs(value) < 1e18:
        source, value = Source("2.5", lambda: 2.5), 2.5
    return f"arange(x, x + 3), {dtype}", source, lambda lib, x: lib.arange(x, x + 3, **options_of(lib, dtype))


WRITES = {
    "fill_": lambda lib, t, x: t.fill_(x),
    "masked_fill": lambda lib, t, x: t.masked_fill(t > 0, x),
    "masked_fill_": lambda lib, t, x: t.masked_fill_(t > 0, x),
    "where left": lambda lib, t, x: lib.where(t > 0, x, t),
    "where right": lambda lib, t, x: lib.where(t > 0, t, x),
    "where method": lambda lib, t, x: t.where(t > 0, x),
    "constant_": lambda lib, t, x: lib.nn.init.constant_(t, x),
    "clamp_": lambda lib, t, x: t.clamp_(max=x),
}


@door(*WRITES)
def written(draw, name):
    text, make = existing(draw)
    source = sources.number(draw)

    def call(lib, x):
        # Times 1: PyTorch refuses to write into leaves.
        tensor = make(lib) if name == "constant_" else make(lib) * 1 if "float" in text else make(lib)
        return WRITES[name](lib, tensor, x)

    return f"{name} of {text}", source, call


PLACES = {
    "[0]": lambda lib, t: 0,
    "[:]": lambda lib, t: slice(None),
    "[...]": lambda lib, t: ...,
    "[t > 0]": lambda lib, t: t > 0,
    "[tensor([0, -1])]": lambda lib, t: lib.tensor(np.array([0, -1])),
    "[1:, 0]": lambda lib, t: (slice(1, None), 0),
    "[None]": lambda lib, t: None,
}


@door("setitem")
def assigned(draw):
    text, make = existing(draw)
    place = draw.choice(tuple(PLACES))
    source = draw.choice([sources.number, sources.number, sources.list_of_numbers, sources.any_array])(draw)

    def call(lib, x):
        tensor = make(lib).detach()
        tensor[PLACES[place](lib, tensor)] = x
        return tensor

    return f"x{place} = of {text}", source, call


# --- operators

WRAPPING = ("add", "sub", "mul", "and_", "or_", "xor")  # the same whether numbers wrap before or after
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
ARITHMETIC = (*WRAPPING, *COMPARISONS, "truediv", "floordiv", "mod", "pow", "matmul")
IS_COMPUTED = re.compile(f"^({'|'.join(ARITHMETIC)}|arange)")


@door(*ARITHMETIC)
def operators(draw, name):
    text, make = existing(draw)
    side = draw.choice(["left", "right"] if name in COMPARISONS else ["left", "right", "in place"])
    dtype = text.split("[")[0]
    if name in WRAPPING and "int" in dtype:
        dtype = "int64"
    if draw.chance(0.5):
        source = sources.number_for(draw, dtype)
    else:
        source = sources.numeric_array(draw, shape=draw.choice([(), (1,), (3,), (2, 3), (2, 1)]))
    function = getattr(operator, f"i{name.rstrip('_')}" if side == "in place" else name)
    backward = draw.chance(0.5)

    def call(lib, x):
        tensor = make(lib)
        if side == "in place":
            target = tensor.clone()
            result = function(target, x)
            return [result, result is target, tensor_gradient(lib, tensor, result) if backward else None]
        result = function(tensor, x) if side == "left" else function(x, tensor)
        return [result, tensor_gradient(lib, tensor, result) if backward else None]

    return f"{name} of {text}, tensor {side}", source, call


def tensor_gradient(lib, tensor, result):
    if not is_tensor(result) or not result.requires_grad or result.dtype not in (lib.float32, lib.float64):
        return None
    return lib.autograd.grad(result.sum(), [tensor])[0]


# --- out


def saved(lib, tensor):
    file = io.BytesIO()
    lib.save({"x": tensor}, file)
    file.seek(0)
    return lib.load(file)["x"]


def shown(tensor):
    """Its text, without what says whose tensor it is."""
    text = re.sub(r",?\s*(device='[^']*'|grad_fn=<[^>]*>)", "", repr(tensor))
    return re.sub(r"\s+", " ", text.replace("torch.", "").replace("ocl.", ""))


OUT = {
    "item": lambda lib, t: t.item(),
    "tolist": lambda lib, t: t.tolist(),
    "numpy": lambda lib, t: t.numpy(),
    "numpy detached": lambda lib, t: t.detach().numpy(),
    "asarray": lambda lib, t: np.asarray(t.detach()),
    "asarray with dtype": lambda lib, t: np.asarray(t.detach(), dtype="float64"),
    "repr": lambda lib, t: shown(t),
    "format": lambda lib, t: f"{t:.3f}" if t.dim() == 0 else shown(t),
    "pickle": lambda lib, t: pickle.loads(pickle.dumps(t)),
    "deepcopy": lambda lib, t: copy.deepcopy(t),
    "copy": lambda lib, t: copy.copy(t),
    "save": saved,
    "int": lambda lib, t: int(t),
    "float": lambda lib, t: float(t),
    "bool": lambda lib, t: bool(t),
    "len": lambda lib, t: len(t),
    "list": lambda lib, t: list(t),
    "index": lambda lib, t: list(range(300))[t],
    "contains": lambda lib, t: 1 in t,
    "to preserve": lambda lib, t: t.to(lib.float32, False, True, memory_format=lib.preserve_format),
    "to preserve only": lambda lib, t: t.to(memory_format=lib.preserve_format),
    "to other": lambda lib, t: t.to(lib.zeros(1, dtype=lib.float16), memory_format=lib.preserve_format),
}


def extreme_of(draw, dtype):
    """An end of the integers; a number that few types hold, or none."""
    if dtype == "bool":
        return True
    if "int" in dtype:
        return draw.choice([np.iinfo(dtype).max, np.iinfo(dtype).min])
    return draw.choice([0.1, np.inf, -np.inf, np.nan, -0.0])


@door(*(f"{name}, out" for name in OUT))
def out(draw, name):
    dtype = dtype_of(draw, ())
    plain = sources.numeric_array(draw, ["float32" if dtype == "bfloat16" else dtype])
    extreme = extreme_of(draw, dtype) if draw.chance(0.5) else None
    is_scalar, needs_gradient = draw.chance(0.5), "float" in dtype and draw.chance(0.3)

    def make():
        values = sources.native(plain.make())
        if extreme is not None and values.size:
            values.flat[0] = extreme
        return values.flat[:1].reshape(()) if is_scalar and values.size else values

    def call(lib, x):
        tensor = lib.tensor(x).to(getattr(lib, dtype)).requires_grad_(needs_gradient)
        return OUT[name.removesuffix(", out")](lib, tensor)

    text = f"{name} of {dtype}, gradient {needs_gradient}, first {extreme}, scalar {is_scalar}"
    return text, Source(plain.text, make), call


# --- the verdict


def differs(ours, theirs, place="result"):
    """In what two results differ, or None."""
    if is_tensor(ours) and is_tensor(theirs):
        kind, their_kind = (str(t.dtype).split(".")[-1] for t in (ours, theirs))
        a, b = (comparison.array_of(t.detach()) for t in (ours, theirs))
        if (kind, a.shape, ours.requires_grad) != (their_kind, b.shape, theirs.requires_grad):
            return (
                f"{place}: {kind}{list(a.shape)}, requires_grad {ours.requires_grad}; PyTorch has "
                f"{their_kind}{list(b.shape)}, {theirs.requires_grad}"
            )
        return differing_numbers(a, b, ROUNDINGS.get(kind), place)
    if is_tensor(ours) or is_tensor(theirs) or type(ours) is not type(theirs):
        return f"{place}: {type(ours).__name__}, PyTorch has {type(theirs).__name__}"
    if isinstance(ours, (list, tuple)):
        if len(ours) != len(theirs):
            return f"{place}: {len(ours)} of them, PyTorch has {len(theirs)}"
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((d for i, (a, b) in pairs if (d := differs(a, b, f"{place}[{i}]"))), None)
    if isinstance(ours, np.ndarray):
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            return f"{place}: {ours.dtype}{list(ours.shape)}, PyTorch has {theirs.dtype}{list(theirs.shape)}"
        return differing_numbers(ours, theirs, None, place)
    return None if repr(ours) == repr(theirs) else f"{place}: {ours!r}, PyTorch has {theirs!r}"


def differing_numbers(ours, theirs, rounding, place):
    """`rounding`: what may be between them, relative to the element; None where they are to be the same."""
    same = np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
    if not same and rounding and IS_COMPUTED.search(place):
        same = np.allclose(ours, theirs, rtol=rounding, atol=0, equal_nan=True)
    return None if same else f"{place}: {ours.reshape(-1)[:6]}, PyTorch has {theirs.reshape(-1)[:6]}"


OFTEN = {"tensor": 8, "as_tensor": 3, "new_tensor": 3, "full": 3, "setitem": 5, "from_numpy": 2, "pow": 3}


def subject_of(seed):
    weights = np.array([OFTEN.get(name, 0.5 if name.endswith(", out") else 1) for name in DOORS])
    return str(np.random.default_rng([seed, 4]).choice(tuple(DOORS), p=weights / weights.sum()))


def run_one(name, seed, limit, announce):
    name = name or subject_of(seed)
    draw = HostileDraw([seed, *name.encode()], limit or 12)
    draw.has_specials = False
    text, source, call = DOORS[name](draw)
    text = f"{text}: {source.text}"
    answers = {}

    def answer(lib, made):
        answers[lib] = call(lib, made())
        if lib is ocl:
            ocl.synchronize()  # errors of the device are errors of this call

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        announce(torch, text)
        is_array = name in ARITHMETIC and isinstance(source.make(), np.ndarray)
        their_error = attempt(lambda: answer(torch, as_tensor(source) if is_array else source.make))
        has_choice = their_error is not None and source.plain is not None and not is_array
        if has_choice:
            their_error = attempt(
                lambda: answer(torch, as_tensor(source) if name == "setitem" else source.plain)
            )
        announce(ocl, text)
        our_error = attempt(lambda: answer(ocl, source.make))
        found = judge_errors(our_error, their_error)
        if found is None and our_error is None and their_error is None:
            detail = differs(answers[ocl], answers[torch], name)
            found = detail and (WRONG, detail)
    if not found or (has_choice and found[0] == "refuses"):
        return None
    return Found(found[0], f"door: {name}", text, found[1])


def as_tensor(source):
    """The value that PyTorch is given beside a tensor: it takes arrays in some places alone."""
    return lambda: torch.as_tensor(source.plain())


def smaller(seed):
    for limit in (1, 2, 4, 8):
        for other in range(20):
            yield 1000 * seed + other, limit
