"""Tensors that require gradients, and dtypes, in the place of numbers. The tensor is refused with advice, or
gets its gradient; the dtype is refused.

Walks the signatures of all functions that C++ gives Python and of all modules, and the options of optimizers.
"""

import ast
import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import ocl
from ocl import _C

ADVICE = "requires gradients that a number would lose: give its detach"
NUMBERS = {
    "complex",
    "float",
    "int",
    "bool",
    "None",
    "typing.SupportsFloat",
    "typing.SupportsInt",
    "typing.SupportsIndex",
}
HOMES = {
    "ocl": _C,
    "Tensor": ocl.Tensor,
    "functional": _C._nn._functional,
    "init": _C._nn._init,
    "utils": _C._nn._utils,
    "ops": _C._ops,
}


def s():
    return ocl.tensor(0.5, requires_grad=True)


def signatures(function, name):
    """pybind11's text of each overload, as syntax trees of definitions."""
    for line in re.findall(rf"^(?:\d+\. )?({re.escape(name)}\(.*)$", function.__doc__ or "", re.MULTILINE):
        if not line.startswith(f"{name}(*args, **kwargs)") and "->" in line:
            text = re.sub(r"= <[^>]*>", "= None", line).replace("from:", "from_:")
            yield ast.parse(f"def {text}: ...").body[0].args


def alternatives(annotation):
    """The types of a union; none where nothing is written."""
    if isinstance(annotation, ast.BinOp):
        return alternatives(annotation.left) | alternatives(annotation.right)
    return {ast.unparse(annotation)} if annotation else set()


def is_number(parameter):
    types = alternatives(parameter.annotation)
    return types <= NUMBERS and not types <= {"bool", "None"}


def is_operand(parameter):
    types = alternatives(parameter.annotation)
    return "float" in types and any(t.endswith("Tensor") for t in types)


ARGUMENTS = {
    "mask": lambda: ocl.ones(2, 3, dtype=ocl.bool),
    "condition": lambda: ocl.ones(2, 3, dtype=ocl.bool),
    "index": lambda: ocl.zeros(2, 3, dtype=ocl.int64),
    "rounding_mode": lambda: "floor",
}


def argument_for(parameter):
    return ARGUMENTS.get(parameter.arg, lambda: a_value(alternatives(parameter.annotation)))()


def a_value(types):
    """Some argument of one of those types; a tensor where none is written, of self."""
    if not types:
        return ocl.ones(2, 3)
    for kind, value in (
        ("Tensor", lambda: ocl.ones(2, 3)),
        ("bool", lambda: False),
        ("typing.SupportsIndex", lambda: 1),
        ("int", lambda: 1),
        ("float", lambda: 1.0),
        ("str", lambda: "mean"),
        ("None", lambda: None),
        ("dtype", lambda: ocl.float32),
        ("device", lambda: ocl.device("ocl:0")),
        ("memory_format", lambda: ocl.contiguous_format),
        ("object", lambda: 1.0),
    ):
        if any(t == kind or t.endswith("." + kind) for t in types):
            return value()
    sequence = next((t for t in types if "[" in t), None)
    if sequence:
        inner = sequence[sequence.index("[") + 1 : -1]
        if inner.startswith("["):
            return lambda *given: None
        first = a_value(alternatives(ast.parse(inner.split(",")[0], mode="eval").body))
        return [first] * (2 if sequence.startswith("tuple") and "..." not in sequence else 1)
    return None


def calls(is_place):
    """(function, the parameters of an overload, the name of one that `is_place`), for all of them."""
    for home, owner in HOMES.items():
        for name in sorted(vars(owner)):
            function = getattr(owner, name)
            if not callable(function) or isinstance(function, type) or name.startswith("_"):
                continue
            for number, arguments in enumerate(signatures(function, name)):
                for p in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                    if is_place(p):
                        yield pytest.param(function, arguments, p.arg, id=f"{home}.{name}-{number}-{p.arg}")


CALLS = list(calls(is_number))
WITH_GRADIENT = {row["name"] for row in _C.operator_table() if row["derivative"]}
OPERANDS = [
    call
    for call in calls(is_operand)
    # scatter and index_fill want indices of another shape, gaussian_nll_loss a variance of the input's shape.
    if call.values[0].__name__.rstrip("_") in WITH_GRADIENT - {"scatter", "index_fill", "gaussian_nll_loss"}
]


def test_the_walk_finds_them():
    found = {call.id for call in CALLS}
    for known in (
        "ocl.leaky_relu-0-negative_slope",
        "ocl.huber_loss-0-delta",
        "ocl.full-0-fill_value",
        "ocl.add-0-alpha",
        "Tensor.addcmul-0-value",
        "Tensor.uniform_-0-from_",
        "init.normal_-0-std",
        "functional.threshold-0-threshold",
    ):
        assert known in found, known
    assert len(found) > 300


def call_with(function, arguments, name, value):
    """Calls the function with what it demands, and that value for the parameter of this name."""
    positional = arguments.posonlyargs + arguments.args
    required = len(positional) - len(arguments.defaults)
    demanded = positional[:required] + [
        p for p, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
    ]
    named = {p.arg: argument_for(p) for p in demanded} | {name: value}
    given = [named.pop("self")] if "self" in named else []
    if "from_" in named:  # a word of Python's
        named["from"] = named.pop("from_")
    return function(*given, **named)


@pytest.mark.parametrize(("function", "arguments", "name"), CALLS + OPERANDS)
def test_functions(function, arguments, name):
    try:
        result = call_with(function, arguments, name, s())
    except (TypeError, ValueError, RuntimeError) as error:
        assert ADVICE in str(error), error
    else:
        assert isinstance(result, ocl.Tensor) and result.requires_grad, "the gradient was lost"


MODULES = [
    (name, parameter)
    for name, value in sorted(vars(ocl.nn).items())
    if isinstance(value, type) and issubclass(value, ocl.nn.Module) and name in dir(_C._nn)
    for arguments in signatures(value.__init__, "__init__")
    for parameter in arguments.args[1:]
    if is_number(parameter)
]


def demanded_by(name):
    """The arguments that a module's constructor cannot do without."""
    (arguments,) = signatures(getattr(ocl.nn, name).__init__, "__init__")
    required = arguments.args[1 : len(arguments.args) - len(arguments.defaults)]
    return {p.arg: argument_for(p) for p in required}


@pytest.mark.parametrize(("name", "parameter"), MODULES, ids=lambda value: getattr(value, "arg", value))
def test_modules(name, parameter):
    named = demanded_by(name)
    with pytest.raises((TypeError, ValueError), match=ADVICE):
        getattr(ocl.nn, name)(**(named | {parameter.arg: s()}))


NO_NUMBERS = [ocl.float32, ocl.bool, ocl.contiguous_format, ocl.distributed.ReduceOp.SUM]


@pytest.mark.parametrize(("function", "arguments", "name"), CALLS)
def test_a_dtype_is_no_number(function, arguments, name):
    for value in NO_NUMBERS:
        with pytest.raises(TypeError):
            call_with(function, arguments, name, value)


@pytest.mark.parametrize(("name", "parameter"), MODULES, ids=lambda value: getattr(value, "arg", value))
def test_a_dtype_is_no_number_of_modules(name, parameter):
    for value in NO_NUMBERS:
        with pytest.raises(TypeError):
            getattr(ocl.nn, name)(**{**demanded_by(name), parameter.arg: value})


@pytest.mark.parametrize(
    "call",
    [
        *(lambda n, make=make: make(3, n) for make in (ocl.zeros, ocl.ones, ocl.empty, ocl.rand, ocl.randn)),
        lambda n: ocl.zeros((3, n)),
        lambda n: ocl.full((3, n), 1.0),
        lambda n: ocl.ones(2).new_zeros(3, n),
        *(
            lambda n, name=name: getattr(ocl.ones(2, 3), name)(n, 1)
            for name in ("reshape", "view", "expand", "repeat", "tile", "permute", "flip")
        ),
        lambda n: ocl.ones(20)[n],
        lambda n: ocl.ones(20)[n:],
        lambda n: ocl.ones(20).sum([n]),
        lambda n: ocl.nn.Conv2d(1, 1, (n, 1)),
        lambda n: ocl.nn.LayerNorm((3, n)),
        int,
        range,
    ],
)
def test_a_dtype_is_no_size(call):
    for value in NO_NUMBERS:
        with pytest.raises((TypeError, IndexError)):
            call(value)


def test_what_dtypes_are_still():
    dtypes = [ocl.float32, ocl.int64, ocl.bool]
    assert pickle.loads(pickle.dumps(dtypes)) == dtypes == copy.deepcopy(dtypes)
    assert {ocl.float32: 1}[ocl.zeros(1).dtype] == 1 and ocl.float32 != ocl.float16 and ocl.int8 not in dtypes
    assert repr(ocl.distributed.ReduceOp.SUM) == "ReduceOp.SUM"
    assert ocl.float32 != 5 and ocl.float32 is not None and ocl.contiguous_format != ocl.uint8


def test_attributes_of_modules():
    layer = ocl.nn.LeakyReLU(0.1)
    with pytest.raises(TypeError, match=ADVICE):
        layer.negative_slope = s()
    assert layer.negative_slope == 0.1
    norm = ocl.nn.LayerNorm(3)
    with pytest.raises(TypeError, match=ADVICE):
        norm.eps = s()


OPTIMIZERS = "SGD Adam AdamW RMSprop Adagrad Adadelta NAdam RAdam ASGD Rprop Adamax".split()
OPTIONS = [
    (name, option, kind)
    for name in OPTIMIZERS
    for option, kind, *_ in _C._optim.optimizer_options(name)
    if kind in ("number", "pair")
]


@pytest.mark.parametrize(("name", "option", "kind"), OPTIONS)
def test_optimizers(name, option, kind):
    parameter = ocl.nn.Parameter(ocl.ones(2))
    value = (s(), 0.9) if kind == "pair" else s()
    with pytest.raises((TypeError, ValueError), match=ADVICE):
        getattr(ocl.optim, name)([parameter], **{option: value})
    optimizer = getattr(ocl.optim, name)([parameter], lr=0.1)
    optimizer.param_groups[0][option] = value
    parameter.grad = ocl.ones(2)
    with pytest.raises((TypeError, ValueError), match=ADVICE):
        optimizer.step()


def test_schedules():
    optimizer = ocl.optim.SGD([ocl.nn.Parameter(ocl.ones(2))], lr=0.1)
    with pytest.raises((TypeError, ValueError), match=ADVICE):
        ocl.optim.lr_scheduler.StepLR(optimizer, 2, gamma=s())
    with pytest.raises((TypeError, ValueError), match=ADVICE):
        ocl.optim.lr_scheduler.ExponentialLR(optimizer, s())


@pytest.mark.parametrize(
    "call",
    [
        lambda x, s: ocl.nn.functional.interpolate(x[None], scale_factor=[s, 1.0]),
        lambda x, s: ocl.nn.functional.pad(x, (s, 1)),
        lambda x, s: x.reshape(s, 6),
        lambda x, s: ocl.nn.utils.clip_grad_norm_([x], s),
        lambda x, s: ocl.nn.functional.cross_entropy(x, ocl.tensor([0, 1]), label_smoothing=s),
    ],
)
def test_in_sequences_and_without_a_tape(call):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call(ocl.ones(2, 3), s())
    with ocl.no_grad(), pytest.raises((TypeError, ValueError, RuntimeError)):
        call(ocl.ones(2, 3), s())


def test_numbers_that_are_taken():
    """Tensors of one element without gradients, NumPy's numbers, and where a tensor is one of the choices."""
    x = ocl.tensor([-2.0, 4.0])
    for slope in (0.5, s().detach(), np.float32(0.5), np.float64(0.5), ocl.tensor([0.5])):
        assert ocl.nn.functional.leaky_relu(x, slope).tolist() == [-1, 4]
    assert x.sum(ocl.tensor(0)).item() == 2 and x.unsqueeze(np.int64(0)).shape == (1, 2)
    t = s()
    (x * t + ocl.pow(2.0, t) + ocl.where(x > 0, t, 0.0) + ocl.lerp(x, x + 1, t)).sum().backward()
    assert t.grad is not None
    assert float(s()) == 0.5 and s().item() == 0.5


SIZES = {
    "AdaptiveMaxPool1d": lambda nn, n: nn.AdaptiveMaxPool1d(n)(X1),
    "AdaptiveAvgPool2d": lambda nn, n: nn.AdaptiveAvgPool2d(n)(X1[None]),
    "MaxPool1d": lambda nn, n: nn.MaxPool1d(n, n, 1, n)(X1),
    "Conv2d": lambda nn, n: nn.Conv2d(1, n, n, n)(ocl.ones(1, 1, 6, 6)),
    "LayerNorm": lambda nn, n: nn.LayerNorm(n)(ocl.ones(3, 2)),
    "LayerNorm of several": lambda nn, n: nn.LayerNorm((3, n))(ocl.ones(3, 2)),
    "Upsample": lambda nn, n: nn.Upsample(scale_factor=n)(X1),
    "Unflatten": lambda nn, n: nn.Unflatten(2, (n, 4))(X1),
}
X1 = ocl.ones(1, 2, 8)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_layers(name):
    """NumPy's ints, and what holds one int without a dimension."""
    expected = SIZES[name](ocl.nn, 2).shape
    for two in (np.int64(2), np.uint8(2), np.array(2), ocl.tensor(2), ocl.tensor(2, dtype=ocl.uint8)):
        assert SIZES[name](ocl.nn, two).shape == expected


def test_one_header_brings_pybind11():
    """Two casters of numbers in one module would be undefined: which of them counts, the linker chooses."""
    folder = Path(__file__).parents[2] / "python" / "bindings"
    sources = [path for path in folder.rglob("*") if path.suffix in (".h", ".cpp")]
    assert [path.name for path in sources if "#include <pybind11" in path.read_text()] == ["number_casters.h"]
