"""Pointwise operators."""

from __future__ import annotations

import math
from collections.abc import Callable

import ocl
from ocl.capture import Node, Size, Value
from ocl.onnx.values import ONNX_DTYPES
from ocl.onnx.writing import NARROW, NotWritable, Writer, compute_dtype, writes

_SINGLE = {
    "neg": "Neg", "abs": "Abs", "sign": "Sign", "sgn": "Sign", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
    "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos",
    "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "erf": "Erf", "floor": "Floor", "ceil": "Ceil", "round": "Round", "sigmoid": "Sigmoid",
    "relu": "Relu", "softsign": "Softsign", "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div",
    "maximum": "Max", "minimum": "Min", "logical_not": "Not", "logical_and": "And", "logical_or": "Or",
    "logical_xor": "Xor", "isnan": "IsNaN", "isinf": "IsInf",
}  # fmt: skip
_COMPARISONS = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
_WHOLE = ("floor", "ceil", "round", "trunc")  # of integers these are the integers
_FLOATING = (ocl.float16, ocl.bfloat16, ocl.float32, ocl.float64)


def _given(w: Writer, node: Node, dtype: ocl.dtype) -> list[str]:
    """The inputs in a dtype; numbers as constants. Narrow integers wrap, as the operator's do."""
    promoted = _promoted(node)
    wraps = promoted in NARROW
    made = []
    for each in node.arguments["inputs"]:
        if isinstance(each, Size):
            made.append(w.cast(w.op("Squeeze", w.size(each), w.constant([0])), dtype, ocl.int64))
        elif not isinstance(each, Value):
            made.append(w.constant(_wrapped(int(each), promoted) if wraps else each, dtype))
        elif wraps and each.dtype != promoted:
            made.append(w.cast(w.cast(each, promoted), dtype, promoted))
        else:
            made.append(w.cast(each, dtype))
    return made


def _wrapped(number: int, dtype: ocl.dtype) -> int:
    limits = ocl.iinfo(dtype)
    return (number - limits.min) % (1 << limits.bits) + limits.min


def _promoted(node: Node) -> ocl.dtype:
    """The dtype that the inputs promote to."""
    values = node.arguments["inputs"]
    probes = [
        ocl.zeros([1] * v.ndim, dtype=v.dtype) if isinstance(v, Value) else 1 if isinstance(v, Size) else v
        for v in values
    ]
    if len(probes) == 1:
        return probes[0].dtype
    made = ocl.result_type(probes[0], probes[1])
    for each in probes[2:]:
        made = ocl.promote_types(made, each.dtype) if isinstance(each, ocl.Tensor) else made
    return made


@writes(" ".join(_SINGLE))
def single(w: Writer, node: Node) -> str:
    name, dtype = node.operator, node.results[0].dtype
    if name.startswith("logical_"):
        return w.op(_SINGLE[name], *_given(w, node, ocl.bool_))
    if name in ("isnan", "isinf"):
        of = _promoted(node)
        if of not in _FLOATING:
            return w.op("Less", *[_given(w, node, of := compute_dtype(of))[0]] * 2)
        if name == "isinf" and of != ocl.float64:
            of = ocl.float32
        return w.op(_SINGLE[name], *_given(w, node, of))
    if dtype not in _FLOATING and name in _WHOLE:
        return _given(w, node, dtype)[0]
    alpha = w.number(node.arguments["parameters"][0], "alpha") if name in ("add", "sub") else 1
    if dtype in _FLOATING and alpha == 1:
        return w.op(_SINGLE[name], *_given(w, node, dtype))
    if dtype == ocl.bool_ and name in ("maximum", "minimum", "mul", "add"):
        return w.op("Or" if name in ("maximum", "add") else "And", *_given(w, node, dtype))
    computed = compute_dtype(dtype)
    given = _given(w, node, computed)
    if alpha != 1:
        given[1] = w.op("Mul", given[1], w.constant(alpha, computed))
    return w.cast(w.op(_SINGLE[name], *given), dtype, computed)


@writes(" ".join(_COMPARISONS) + " ne")
def comparison(w: Writer, node: Node) -> str:
    dtype = compute_dtype(_promoted(node))
    made = w.op(_COMPARISONS.get(node.operator, "Equal"), *_given(w, node, dtype))
    return w.op("Not", made) if node.operator == "ne" else made


def _zero_times(f: Formula, x: str, y: str) -> str:
    return f.And(f.Equal(x, 0), f.Not(f.IsNaN(y)))


class Formula:
    """Arithmetic of names in one dtype."""

    def __init__(self, w: Writer, dtype: ocl.dtype) -> None:
        self.w, self.dtype = w, dtype

    def c(self, value) -> str:
        return self.w.constant(value, self.dtype)

    def __getattr__(self, kind: str) -> Callable[..., str]:
        """``f.Mul(x, 2)``: a node, of names and numbers."""
        return lambda *inputs, **attributes: self.w.op(
            kind, *(i if isinstance(i, str) else self.c(i) for i in inputs), **attributes
        )


def _formula(names: str):
    """A function of a `Formula`, the inputs and the parameters, in what the operator computes in."""

    def keep(function):
        def write(w: Writer, node: Node) -> str:
            dtype = node.results[0].dtype
            if dtype == ocl.bool_:
                dtype = _promoted(node)
            computed = compute_dtype(dtype)
            f = Formula(w, computed)
            parameters = [w.number(each, "a parameter") for each in node.arguments["parameters"]]
            made = function(f, *_given(w, node, computed), *parameters)
            return w.cast(
                made, node.results[0].dtype, computed if node.results[0].dtype != ocl.bool_ else ocl.bool_
            )

        writes(names)(write)
        return function

    return keep


_formula("exp2")(lambda f, x: f.Pow(2.0, x))
_formula("log2")(lambda f, x: f.Div(f.Log(x), math.log(2)))
_formula("log10")(lambda f, x: f.Div(f.Log(x), math.log(10)))
_formula("rsqrt")(lambda f, x: f.Reciprocal(f.Sqrt(x)))
_formula("square")(lambda f, x: f.Mul(x, x))
_formula("relu6")(lambda f, x: f.Min(f.Max(x, 0), 6))
_formula("silu")(lambda f, x: f.Mul(x, f.Sigmoid(x)))
_formula("gelu")(lambda f, x: f.Mul(f.Mul(x, 0.5), f.Add(f.Erf(f.Mul(x, 2**-0.5)), 1)))
_formula("mish")(lambda f, x: f.Mul(x, f.Tanh(f.Softplus(x))))
_formula("selu")(lambda f, x: f.Selu(x))
_formula("hardsigmoid")(lambda f, x: f.HardSigmoid(x, alpha=1 / 6, beta=0.5))
_formula("hardswish")(lambda f, x: f.Mul(x, f.HardSigmoid(x, alpha=1 / 6, beta=0.5)))
_formula("logsigmoid")(lambda f, x: f.Neg(f.Softplus(f.Neg(x))))
_formula("tanhshrink")(lambda f, x: f.Sub(x, f.Tanh(x)))
_formula("hardshrink")(lambda f, x, p: f.Where(f.w.op("LessOrEqual", f.Abs(x), f.c(p)), 0, x))
_formula("softshrink")(lambda f, x, p: f.Mul(f.Sign(x), f.Max(f.Sub(f.Abs(x), p), 0)))
_formula("leaky_relu")(lambda f, x, p: f.LeakyRelu(x, alpha=float(p)))
_formula("elu")(lambda f, x, p: f.Elu(x, alpha=float(p)))
_formula("celu")(lambda f, x, p: f.Add(f.Max(x, 0), f.Min(0, f.Mul(p, f.Sub(f.Exp(f.Div(x, p)), 1)))))
_formula("hardtanh")(lambda f, x, low, high: f.Min(f.Max(x, low), high))
_formula("threshold")(lambda f, x, p, value: f.Where(f.LessOrEqual(x, p), value, x))
_formula("clamp_min")(lambda f, x, low: f.Max(x, low))
_formula("clamp_max")(lambda f, x, high: f.Min(x, high))
_formula("clamp_min_tensor")(lambda f, x, low: f.Max(x, low))
_formula("clamp_max_tensor")(lambda f, x, high: f.Min(x, high))
_formula("clamp_tensor")(lambda f, x, low, high: f.Min(f.Max(x, low), high))
_formula("rsub")(lambda f, x, y, alpha: f.Sub(y, f.Mul(x, alpha)))
_formula("pow")(lambda f, x, y: f.Pow(x, y))
_formula("hypot")(lambda f, x, y: f.Sqrt(f.Add(f.Mul(x, x), f.Mul(y, y))))
_formula("lerp")(lambda f, x, y, weight: f.Add(x, f.Mul(weight, f.Sub(y, x))))
_formula("addcmul")(lambda f, x, a, b, value: f.Add(x, f.Mul(f.Mul(a, b), value)))
_formula("addcdiv")(lambda f, x, a, b, value: f.Add(x, f.Mul(f.Div(a, b), value)))
_formula("prelu_kernel")(lambda f, x, slope: f.Where(f.Greater(x, 0), x, f.Mul(slope, x)))
_formula("glu_kernel")(lambda f, x, gate: f.Mul(x, f.Sigmoid(gate)))


_formula("isposinf")(lambda f, x: f.w.op("Equal", x, f.c(math.inf)) if f.dtype in _FLOATING else f.Less(x, x))
_formula("isneginf")(
    lambda f, x: f.w.op("Equal", x, f.c(-math.inf)) if f.dtype in _FLOATING else f.Less(x, x)
)
_formula("logaddexp")(lambda f, x, y: f.Add(f.Max(x, y), f.Softplus(f.Neg(f.Abs(f.Sub(x, y))))))
_formula("xlogy")(lambda f, x, y: f.Where(_zero_times(f, x, y), 0, f.Mul(x, f.Log(y))))


@_formula("gelu_tanh")
def gelu_tanh(f: Formula, x: str) -> str:
    inner = f.Mul(f.Add(x, f.Mul(f.Mul(f.Mul(x, x), x), 0.044715)), math.sqrt(2 / math.pi))
    return f.Mul(f.Mul(x, 0.5), f.Add(f.Tanh(inner), 1))


@_formula("softplus")
def softplus(f: Formula, x: str, beta: float, threshold: float) -> str:
    scaled = f.Mul(x, beta)
    return f.Where(f.Greater(scaled, threshold), x, f.Div(f.Softplus(scaled), beta))


@_formula("clamp")
def clamp(f: Formula, x: str, low, high) -> str:
    return f.Min(f.Max(x, low), high)


def _truncated(f: Formula, x: str) -> str:
    return f.Mul(f.Sign(x), f.Floor(f.Abs(x)))


@_formula("isfinite")
def isfinite(f: Formula, x: str) -> str:
    largest = 3.4028234663852886e38 if f.dtype == ocl.float32 else 1.7976931348623157e308
    return f.w.op("LessOrEqual", f.Abs(x), f.c(largest)) if f.dtype in _FLOATING else f.Equal(x, x)


@_formula("trunc")
def trunc(f: Formula, x: str) -> str:
    return _truncated(f, x) if f.dtype in _FLOATING else x


@_formula("frac")
def frac(f: Formula, x: str) -> str:
    return f.Sub(x, _truncated(f, x))


@_formula("div_trunc")
def div_trunc(f: Formula, x: str, y: str) -> str:
    return _truncated(f, f.Div(x, y)) if f.dtype in _FLOATING else f.Div(x, y)


@_formula("div_floor floor_divide")
def div_floor(f: Formula, x: str, y: str) -> str:
    if f.dtype in _FLOATING:
        return f.Floor(f.Div(x, y))
    return f.Div(f.Sub(x, f.Mod(x, y)), y)  # Mod has the divisor's sign, so that the quotient is exact


@_formula("remainder")
def remainder(f: Formula, x: str, y: str) -> str:
    if f.dtype not in _FLOATING:
        return f.Mod(x, y)
    rest = f.Mod(x, y, fmod=1)
    differs = f.w.op("Less", f.Mul(f.Sign(rest), f.Sign(y)), f.c(0))
    return f.Where(differs, f.Add(rest, y), rest)


@_formula("fmod")
def fmod(f: Formula, x: str, y: str) -> str:
    return f.Mod(x, y, fmod=1)


@writes("where")
def where(w: Writer, node: Node) -> str:
    condition, *others = node.arguments["inputs"]
    dtype = node.results[0].dtype
    given = [w.cast(o, dtype) if isinstance(o, Value) else w.constant(o, dtype) for o in others]
    return w.op("Where", w.cast(condition, ocl.bool_), *given)


@writes("bitwise_and bitwise_or bitwise_xor bitwise_not")
def bitwise(w: Writer, node: Node) -> str:
    dtype = node.results[0].dtype
    given = _given(w, node, dtype)
    kind = {"and": "And", "or": "Or", "xor": "Xor", "not": "Not"}[node.operator.rpartition("_")[2]]
    if dtype == ocl.bool_:
        return w.op(kind, *given)
    if w.opset < 18:
        raise NotWritable("of integers it needs opset 18")
    return w.op("Bitwise" + kind, *given)


@writes("masked_fill")
def masked_fill(w: Writer, node: Node) -> str:
    x, value, dtype = node.arguments["input"], node.arguments["value"], node.results[0].dtype
    filled = w.cast(value, dtype) if isinstance(value, Value) else w.constant(value, dtype)
    return w.op("Where", node.arguments["mask"], filled, w.cast(x, dtype))


@writes("prelu")
def prelu(w: Writer, node: Node) -> str:
    x, weight = node.arguments["input"], node.arguments["weight"]
    slope = w.reshape(weight, [-1, *[1] * (x.ndim - 2)] if x.ndim > 1 else [1] * x.ndim)
    return w.op("PRelu", x, slope)


@writes("to")
def to(w: Writer, node: Node) -> str:
    return w.op("Cast", w.name_of(node.arguments["a"]), to=ONNX_DTYPES[node.results[0].dtype])


@writes("dropout dropout2d")
def dropout(w: Writer, node: Node) -> str:
    if node.arguments["training"] and node.arguments["p"]:
        raise NotWritable("in training mode it draws random numbers")
    return w.op("Identity", node.arguments["input"])


@writes("clone contiguous")
def clone(w: Writer, node: Node) -> str:
    return w.op("Identity", node.arguments["input"])


@writes("glu")
def glu(w: Writer, node: Node) -> str:
    x = node.arguments["input"]
    first, second = w.op("Split", x, results=2, axis=node.arguments["dim"], **_halves(w))
    return w.op("Mul", first, w.op("Sigmoid", second))


def _halves(w: Writer) -> dict:
    return {"num_outputs": 2} if w.opset >= 18 else {}
