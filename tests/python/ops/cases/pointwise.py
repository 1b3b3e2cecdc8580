"""Cases of every row of the pointwise table, drawn from the row itself."""

import numpy as np
import torch
import torch.nn.functional as F

import ocl
from cases.harness import Case, Input, cases, errors, is_torch

TABLE = {row["name"]: row for row in ocl._C.pointwise_table()}


def rounded(a, scale=1.0, divisor=1.0):
    if not a.is_floating_point():
        return torch.round(a)  # integers as they are, or an error
    return torch.round(a * scale / divisor) * divisor / scale


def clamped(*tensors):
    """torch.clamp, whose backward pass fails where the bounds are larger than the input."""
    return torch.clamp(*torch.broadcast_tensors(*tensors))


# PyTorch's function for rows that it names otherwise, or computes less exactly.
TORCH = {
    "gelu_tanh": lambda a: F.gelu(a, approximate="tanh"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "polygamma_kernel": lambda a, n=0: torch.polygamma(int(n), a),
    "prelu_kernel": lambda a, b: torch.where(a > 0, a, b * a),
    "glu_kernel": lambda a, b: a * torch.sigmoid(b),
    "round_decimals": rounded,
    "clamp_tensor": clamped,
    "clamp_min_tensor": lambda a, b: torch.clamp(a, b),
    "clamp_max_tensor": lambda a, b: torch.clamp(a, max=b),
    "special_entr": torch.special.entr,
    "special_xlog1py": torch.special.xlog1py,
    "threshold": lambda a, threshold=0.0, value=0.0: F.threshold(a, threshold, value),
    "clamp_min": lambda a, min=None: a.clone() if min is None else torch.clamp_min(a, min),
    "clamp_max": lambda a, max=None: a.clone() if max is None else torch.clamp_max(a, max),
}

# The interval that each input is drawn from, where (-3, 3) will not do; two intervals: one per input.
DOMAINS = {
    "log": (0.05, 5),
    "log2": (0.05, 5),
    "log10": (0.05, 5),
    "sqrt": (0.05, 5),
    "rsqrt": (0.05, 5),
    "log1p": (-0.9, 5),
    "asin": (-0.95, 0.95),
    "acos": (-0.95, 0.95),
    "logit": (0.02, 0.98),
    "erfinv": (-0.95, 0.95),
    "acosh": (1.05, 5),
    "atanh": (-0.95, 0.95),
    "lgamma": (0.1, 5),
    "digamma": (0.1, 5),
    "polygamma_kernel": (0.1, 5),
    "special_entr": (0.05, 3),
    "xlogy": ((-3, 3), (0.05, 5)),
    "special_xlog1py": ((-3, 3), (-0.9, 5)),
    "reciprocal": (0.2, 3),
    "tan": (-1.4, 1.4),
    "hardsigmoid": (-4, 4),
    "hardswish": (-4, 4),
    "relu6": (-3, 9),
    "pow": ((0.1, 3), (-2, 3)),
    "div": ((-3, 3), (0.2, 3)),
    "div_floor": ((-3, 3), (0.2, 3)),
    "div_trunc": ((-3, 3), (0.2, 3)),
    "floor_divide": ((-3, 3), (0.2, 3)),
    "addcdiv": ((-3, 3), (-3, 3), (0.2, 3)),
}

# The interval that each parameter is drawn from.
INTERVALS = {
    "leaky_relu": {"negative_slope": (0.05, 0.5)},
    "elu": {"alpha": (0.3, 2)},
    "celu": {"alpha": (0.3, 2)},
    "softplus": {"beta": (0.5, 3), "threshold": (2, 20)},
    "hardshrink": {"lambd": (0.1, 1)},
    "softshrink": {"lambd": (0.1, 1)},
    "logit": {"eps": (0.05, 0.3)},
    "hardtanh": {"min_val": (-2, 0), "max_val": (0.1, 2)},
    "threshold": {"threshold": (-1, 1), "value": (-7, 7)},
    "clamp": {"min": (-2, 0), "max": (0.1, 2)},
    "clamp_min": {"min": (-2, 2)},
    "clamp_max": {"max": (-2, 2)},
    "round_decimals": {"scale": (1, 99), "divisor": (1, 3)},
    "add": {"alpha": (-2, 2)},
    "sub": {"alpha": (-2, 2)},
    "rsub": {"alpha": (-2, 2)},
    "addcmul": {"value": (-2, 2)},
    "addcdiv": {"value": (-2, 2)},
}
CANCELLING = (
    "add",
    "sub",
    "rsub",
    "lerp",
    "addcmul",
    "addcdiv",
    "fmod",
    "remainder",
    "frac",
    "silu",  # its gradient crosses zero, as that of some below
    "sinc",
    "lgamma",
    "digamma",
    "polygamma_kernel",
    "special_entr",
    "logaddexp2",
)

# PyTorch's functions take no number beside a tensor here, where its operators would.
STRICT = (
    *("atan2", "hypot", "logaddexp", "logaddexp2", "maximum", "minimum", "fmax", "fmin", "heaviside"),
    *("logical_and", "logical_or", "logical_xor"),
)
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")


# Rows that refuse a call with all parameters at their defaults, and parameters to call them with.
NEEDED = {"clamp": {"min": 1}}


def torch_function(name):
    found = TORCH.get(name) or getattr(torch, name, None) or getattr(F, name, None)
    assert found, f"row {name} of the pointwise table has no counterpart here: name one in TORCH"
    return found


def call(name, **parameters):
    """The row as a function of (library, *inputs)."""
    parameters = parameters or NEEDED.get(name, {})

    def function(lib, *inputs):
        if is_torch(lib) and name in TORCH:
            return TORCH[name](*inputs, **parameters)
        found = getattr(lib, name, None) or getattr(lib.nn.functional, name)
        return found(*inputs, **parameters)

    return function


def interval_of(name, i):
    interval = DOMAINS.get(name, (-3, 3))
    return interval[i] if isinstance(interval[0], tuple) else interval


def takes_integers(name, arrays):
    """Whether PyTorch has the operator in these dtypes, and a defined result."""
    try:
        call(name)(torch, *[torch.from_numpy(a[..., None][..., :1].copy()) for a in arrays])
    except (RuntimeError, NotImplementedError):
        return False
    return True


def draw_integers(draw, name, shapes):
    inputs = [
        draw.numbers(shape, -9, 9, ("int64", "int32", "int16", "int8", "uint8", "bool")) for shape in shapes
    ]
    if name in ("div_floor", "div_trunc", "floor_divide", "fmod", "remainder", "pow"):
        dtype = inputs[1].array.dtype if inputs[1].array.dtype != bool else "int64"
        inputs[1] = draw.integers(shapes[1], 0 if name == "pow" else 1, 4, dtype)
    if name in SHIFTS:
        inputs[1] = draw.numbers(shapes[1], -2, 70, ("int64", "int32", "int16", "int8", "uint8"))
    return inputs


def draw_case(draw, name):
    row = TABLE[name]
    shape = draw.shape(0, 4)
    if name == "pow" and draw.chance(0.5):
        exponent = draw.choice([0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5, draw.number(-2, 3)])
        return Case(lambda lib, a: lib.pow(a, exponent), draw.floats(shape, *interval_of(name, 0)))
    shapes = [shape] + [draw.broadcastable(shape) for _ in range(row["inputs"] - 1)]
    order = draw.rng.permutation(row["inputs"])
    shapes = [shapes[i] for i in order]
    parameters = {
        p: draw.number(*interval) for p, interval in INTERVALS.get(name, {}).items() if draw.chance(0.7)
    }
    if row["types"] == "Integral" or (
        row["types"] in ("Same", "Bool") and name != "where" and draw.chance(0.3)
    ):
        inputs = draw_integers(draw, name, shapes)
        if row["types"] == "Integral" or takes_integers(name, [i.array for i in inputs]):
            return Case(call(name), *inputs, backward=False)
    inputs = [draw.floats(s, *interval_of(name, i)) for i, s in enumerate(shapes)]
    if row["types"] == "Bool":
        inputs = [Input(np.round(i.array), "contiguous") for i in inputs]
    if name == "where":
        inputs[0] = draw.booleans(shapes[0])
    return Case(
        call(name, **parameters),
        *inputs,
        unit="largest" if name in CANCELLING else "element",
        backward=bool(row["gradients"] and any(row["gradients"])),
    )


for row_name in TABLE:
    cases(row_name)(lambda draw, name=row_name: draw_case(draw, name))


@errors("add", "mul", "maximum", "eq", "atan2")
def shapes_that_do_not_broadcast(name):
    return [lambda lib: getattr(lib, name)(lib.ones(2, 3), lib.ones(4))]


@errors("bitwise_and", "bitwise_or", "bitwise_xor", *SHIFTS)
def floats_have_no_bits(name):
    return [lambda lib: getattr(lib, name)(lib.ones(3), lib.ones(3))]


@errors("hypot", "copysign", "xlogy", "special_xlog1py", "heaviside", "fmax", "fmin", "logaddexp2")
def two_shapes_that_do_not_broadcast(name):
    return [lambda lib: call(name)(lib, lib.ones(2, 3), lib.ones(4))]


@errors("softshrink")
def no_such_bounds():
    return [
        lambda lib, lambd=lambd: lib.nn.functional.softshrink(lib.ones(3), lambd)
        for lambd in (-0.5, float("inf"), float("nan"))
    ]


@errors("rsub")
def bool_is_not_taken_from():
    return [lambda lib: lib.rsub(lib.tensor([True]), lib.tensor([True]))]


@cases("polygamma")
def polygamma(draw):
    n = draw.choice([0, 1, 2, 3, 4, 6])
    return Case(lambda lib, x: lib.polygamma(n, x), draw.floats(draw.shape(0, 3), 0.4, 8), unit="largest")


@errors("polygamma")
def orders_are_not_negative():
    return [lambda lib: lib.polygamma(-1, lib.ones(2)), lambda lib: lib.ones(2).polygamma(-3)]


@cases("nan_to_num")
def nan_to_num(draw):
    x = draw.floats(draw.shape(0, 4), layout="contiguous") if draw.chance(0.7) else None
    if x is None:
        return Case(lambda lib, x: lib.nan_to_num(x, 1.5), draw.numbers(draw.shape(0, 4)), backward=False)
    is_finite = draw.chance(0.5)
    if not is_finite:
        flat = x.array.reshape(-1)
        for i, special in enumerate((np.nan, np.inf, -np.inf)):
            flat[i::5] = special
    options = {name: draw.number() for name in ("nan", "posinf", "neginf") if draw.chance(0.5)}
    return Case(lambda lib, x: lib.nan_to_num(x, **options), x, gradcheck=is_finite)


@errors("addcmul", "addcdiv", "lerp")
def three_shapes_that_do_not_broadcast(name):
    return [lambda lib: getattr(lib, name)(lib.ones(2, 3), lib.ones(3), lib.ones(2))]


@errors("neg")
def bool_has_no_negative():
    return [lambda lib: lib.neg(lib.tensor([True]))]


@errors("pow")
def whole_numbers_have_no_negative_power():
    return [
        lambda lib: lib.pow(lib.tensor([2, 1, 3, -1]), -1),
        lambda lib: lib.tensor([2, 1], dtype=lib.int32) ** -2,
        lambda lib: lib.tensor([[2]], dtype=lib.uint8).pow_(-1),
        lambda lib: lib.tensor(1) ** -1,
        lambda lib: lib.tensor([True]) ** -1,
        lambda lib: lib.tensor([2], dtype=lib.uint8) ** 300,
        lambda lib: lib.tensor([2]).pow_(0.5),
    ]


@errors("floor_divide", "div_floor", "div_trunc", "fmod", "remainder")
def whole_numbers_are_not_divided_by_0(name):
    def divide(lib, a, b):
        if name.startswith("div_"):
            return lib.div(a, b, rounding_mode=name[4:])
        return getattr(lib, name)(a, b)

    calls = [
        lambda lib: divide(lib, lib.tensor([1, 2]), False),
        lambda lib: divide(lib, lib.tensor(7), lib.tensor(0)),
        lambda lib: divide(lib, lib.tensor([0, 1, 2]), lib.tensor([3, 1, 0])),
        lambda lib: divide(lib, lib.arange(12).reshape(3, 4).t(), lib.tensor([1, 0, 2])),
    ]
    if name in ("floor_divide", "remainder"):
        calls.append(lambda lib: getattr(lib.tensor([1, 2]), name + "_")(0))
    for dtype in ("int64", "int32", "int16", "int8", "uint8"):
        calls.append(lambda lib, d=dtype: divide(lib, lib.tensor([1, 2], dtype=getattr(lib, d)), 0))
        calls.append(
            lambda lib, d=dtype: divide(
                lib, lib.ones(2).to(getattr(lib, d)), lib.zeros(2).to(getattr(lib, d))
            )
        )
    return calls


@errors("reciprocal", "rsqrt", "sqrt", "exp", "sigmoid", "log")
def whole_numbers_do_not_hold_fractions(name):
    return [lambda lib: getattr(lib.tensor([1, 2]), name + "_")()]


@errors("sub")
def bool_has_no_difference():
    return [
        lambda lib: lib.sub(lib.tensor([True]), lib.tensor([True])),
        lambda lib: lib.sub(lib.ones(2, 3), lib.ones(4)),
    ]


@errors("div")
def no_such_rounding():
    return [
        lambda lib: lib.div(lib.ones(3), lib.ones(3), rounding_mode="up"),
        lambda lib: lib.tensor([1, 2]).div_(2),
        lambda lib: lib.tensor([1, 2]).__itruediv__(lib.tensor([1, 2])),
    ]
