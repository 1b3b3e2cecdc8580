"""Arguments for every operator of from_torch's table: lists of (arguments, named arguments) by name."""

import itertools

import torch

_generator = torch.Generator().manual_seed(7)


def f(*shape, low=-2.0, high=2.0, dtype=torch.float32):
    """Floating elements between two numbers."""
    return (torch.rand(shape, generator=_generator) * (high - low) + low).to(dtype)


def i(*shape, low=-5, high=6, dtype=torch.int64):
    return torch.randint(low, high, shape, generator=_generator).to(dtype)


def b(*shape):
    return torch.rand(shape, generator=_generator) < 0.5


def fixed(tensor):
    """The tensor, by which nothing is differentiated."""
    tensor.is_fixed = True
    return tensor


def distinct(*shape):
    """Elements that differ by at least a quarter, so that orders and maxima are clear."""
    count = torch.Size(shape).numel()
    return (torch.randperm(count, generator=_generator) / 4 - count / 8).reshape(shape)


CASES: dict[str, list[tuple[tuple, dict]]] = {}


def add(name, *args, **kwargs):
    for each in name.split():
        CASES.setdefault(f"aten.{each}", []).append((args, kwargs))


# pointwise: odd sizes, no elements, no dimensions, a transposed tensor
UNARY_DOMAINS = {
    "acos": (-0.9, 0.9), "acosh": (1.1, 4), "asin": (-0.9, 0.9), "atanh": (-0.9, 0.9), "digamma": (0.5, 4),
    "erfinv": (-0.9, 0.9), "lgamma": (0.5, 4), "log": (0.1, 4), "log10": (0.1, 4), "log1p": (-0.5, 4),
    "log2": (0.1, 4), "reciprocal": (0.5, 3), "rsqrt": (0.5, 3), "sqrt": (0.5, 3), "tan": (-1.2, 1.2),
    "logit": (0.1, 0.9),
}  # fmt: skip
for _name in (
    "abs acos acosh angle asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp exp2 expm1 floor "
    "frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sgn sign signbit sin sinc sinh sqrt square "
    "tan tanh trunc relu relu6 sigmoid silu hardswish hardsigmoid mish selu celu leaky_relu softplus "
    "softshrink hardshrink gelu logit log_sigmoid log_sigmoid_forward hardtanh elu isnan isinf isfinite "
    "isposinf isneginf logical_not"
).split():
    _low, _high = UNARY_DOMAINS.get(_name, (-4.1, 4.1))
    for _shape in ((3, 5), (), (0, 2)):
        add(f"{_name}.default", f(*_shape, low=_low, high=_high))
    add(f"{_name}.default", f(4, 3, low=_low, high=_high).T)
for _name in "abs neg sign sgn square exp sqrt sin tanh bitwise_not ceil floor round trunc".split():
    add(f"{_name}.default", i(3, 5, low=1))
for _name in ("bitwise_not", "logical_not"):
    add(f"{_name}.default", b(3, 5))
for _name in "isnan isinf isfinite isposinf isneginf".split():
    add(f"{_name}.default", torch.tensor([1.0, float("nan"), float("inf"), -float("inf")]))
add("gelu.default", f(3, 5), approximate="tanh")
add("leaky_relu.default", f(3, 5), 0.3)
add("elu.default", f(3, 5), 0.7)
add("elu.default", f(3, 5), 0.7, 1.5, 0.5)
add("celu.default", f(3, 5), 0.7)
add("hardtanh.default", f(3, 5), -0.5, 1)
add("softplus.default", f(3, 5), 2.0, 1.0)
add("softshrink.default", f(3, 5), 0.3)
add("hardshrink.default", f(3, 5), 0.3)
add("threshold.default", f(3, 5), 0.1, 7.0)
add("logit.default", f(3, 5, low=-0.2, high=1.2), 0.1)
add("glu.default", f(3, 6))
add("glu.default", f(4, 5), 0)
add("prelu.default", f(2, 3, 4), f(3))
add("_prelu_kernel.default", f(2, 3, 4), f(1, 3, 1))

BINARY = "add sub mul div fmod remainder maximum minimum fmax fmin atan2 hypot logaddexp logaddexp2".split()
OVERLOADS = {name: "Tensor" for name in ("add", "sub", "mul", "div", "fmod", "remainder")}
for _name in BINARY:
    _full = f"{_name}.{OVERLOADS.get(_name, 'default')}"
    add(_full, f(3, 5), f(5, low=0.5))
    add(_full, f(2, 1, 3), f(4, 1, low=0.5))
    add(_full, f(0, 3), f(1, 3))
    add(_full, f(low=0.5), f(2, 2, low=0.5))
for _name in "add sub mul div remainder fmod".split():
    add(f"{_name}.Tensor", i(3, 5), i(3, 5, low=1))
    add(f"{_name}.Tensor", i(3, 5, dtype=torch.int32), f(5, low=0.5))
    add(f"{_name}.Tensor", f(3, 5), i(low=1))
    add(f"{_name}.Tensor", f(3, dtype=torch.float16), f(2, 3, low=0.5))
    if _name not in ("remainder", "fmod"):
        add(f"{_name}.Tensor", f(3), 2)
        add(f"{_name}.Tensor", i(3), 2.5)
    add(f"{_name}.Scalar", f(3, 5), 1.5)
    add(f"{_name}.Scalar", i(3, 5), 3)
for _name in ("maximum", "minimum"):
    add(f"{_name}.default", i(3, 5), i(3, 5))
add("add.Tensor sub.Tensor", f(3, 5), f(5), alpha=2)
add("add.Tensor", b(3, 5), b(5))
add("add.Scalar sub.Scalar rsub.Scalar", f(3, 5), 1.5, 2)
add("rsub.Scalar", i(3, 5), 4)
add("remainder.Scalar_Tensor", 7.5, f(3, 5, low=0.5))
for _mode in (None, "floor", "trunc"):
    add("div.Tensor_mode", f(3, 5), f(5, low=0.5), rounding_mode=_mode)
    add("div.Tensor_mode", i(3, 5), i(5, low=1), rounding_mode=_mode)
    add("div.Scalar_mode", i(3, 5), 3, rounding_mode=_mode)
add("floor_divide.default", i(3, 5), i(5, low=1))
add("pow.Tensor_Scalar", f(3, 5), 3)
add("pow.Tensor_Scalar", f(3, 5, low=0.5), 0.5)
add("pow.Tensor_Scalar", i(3, 5), 2)
add("pow.Tensor_Tensor", f(3, 5, low=0.5), f(5))
add("pow.Scalar", 2, f(3, 5))
add("pow.Scalar", 2, i(3, low=0))
add("copysign.Tensor", f(3, 5), f(5))
add("copysign.Scalar", f(3, 5), -1.0)
add("xlogy.Tensor", f(3, 5), f(5, low=0.5))
add("lerp.Scalar", f(3, 5), f(5), 0.3)
add("lerp.Tensor", f(3, 5), f(5), f(3, 1))
add("addcmul.default addcdiv.default", f(3, 5), f(3, 5), f(3, 5, low=0.5), value=0.5)
add("nan_to_num.default", torch.tensor([1.0, float("nan"), float("inf"), -float("inf")]), 2.0)
add("nan_to_num.default", torch.tensor([1.0, float("nan"), float("inf"), -float("inf")]))
for _name in ("and", "or", "xor"):
    add(f"bitwise_{_name}.Tensor", i(3, 5), i(5))
    add(f"bitwise_{_name}.Tensor", b(3, 5), b(5))
    add(f"bitwise_{_name}.Scalar", i(3, 5), 3)
    add(f"logical_{_name}.default", b(3, 5), b(5))
    add(f"logical_{_name}.default", i(3, 5, low=0, high=2), f(5))
for _name in ("left", "right"):
    add(f"bitwise_{_name}_shift.Tensor", i(3, 5, low=0), i(5, low=0, high=4))
    add(f"bitwise_{_name}_shift.Tensor_Scalar", i(3, 5, low=0), 2)
add("round.decimals", f(3, 5), decimals=1)
add("clamp.default", f(3, 5), -0.5, 0.5)
add("clamp.default", f(3, 5), None, 0.5)
add("clamp.default", i(3, 5), 0)
add("clamp.Tensor", f(3, 5), f(5, low=-1, high=0), f(5, low=0, high=1))
add("clamp.Tensor", f(3, 5), None, f(5))
add("clamp_min.default clamp_max.default", f(3, 5), 0.25)
add("clamp_min.Tensor clamp_max.Tensor", f(3, 5), f(5))

for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    add(f"{_name}.Tensor", i(3, 5, low=0, high=3), i(5, low=0, high=3))
    add(f"{_name}.Tensor", f(3, 5), i(5))
    add(f"{_name}.Tensor", torch.tensor([1.0, float("nan")]), torch.tensor([float("nan"), 1.0]))
    add(f"{_name}.Scalar", i(3, 5, low=0, high=3), 1)
    add(f"{_name}.Scalar", f(0, 2), 0.5)
add("where.self", b(3, 1), f(3, 5), f(5))
add("where.self", b(3, 5), i(3, 5), f())
add("where.ScalarOther", b(3, 5), f(3, 5), 1.5)
add("where.ScalarSelf", b(3, 5), 1.5, f(3, 5))
add("where.Scalar", b(3, 5), 1.5, 2.5)

# reduce
for _name in ("sum", "mean"):
    add(f"{_name}.default", f(3, 5))
    add(f"{_name}.default", f(3, 5, dtype=torch.float16), dtype=torch.float32)
    _over = "dim_IntList" if _name == "sum" else "dim"
    for _dim, _keep in ((None, False), ([], False), ([1], True), ([-1, 0], False), ([0, 2], True)):
        add(f"{_name}.{_over}", f(2, 3, 4), _dim, _keep)
    add(f"{_name}.{_over}", f(2, 0), [0])
add("sum.default", i(3, 5))
add("sum.default", b(3, 5))
add("sum.dim_IntList", b(3, 5), [1], dtype=torch.float32)
add("mean.dim", i(3, 5), [0], dtype=torch.float32)
add("prod.default", f(3, 2))
add("prod.default", i(5))
add("prod.dim_int", f(3, 4), 1, True)
add("prod.dim_int", f(3, 4), -2, dtype=torch.float64)
for _name in ("amax", "amin"):
    add(f"{_name}.default", distinct(3, 4, 5))
    add(f"{_name}.default", distinct(3, 4, 5), [0, -1], True)
    add(f"{_name}.default", i(3, 4), [1])
for _name in ("max", "min"):
    add(f"{_name}.default", distinct(3, 4))
    add(f"{_name}.dim", distinct(3, 4), 1)
    add(f"{_name}.dim", distinct(3, 4), -2, True)
for _name in ("any", "all"):
    add(f"{_name}.default", b(3, 4))
    add(f"{_name}.default", i(3, 4, low=0, high=2))
    add(f"{_name}.dim", b(3, 4), 1)
    add(f"{_name}.dim", f(3, 4), -1, True)
    for _dim in (None, [], [0, 2]):
        add(f"{_name}.dims", b(3, 2, 4), _dim)
for _name in ("argmax", "argmin"):
    add(f"{_name}.default", distinct(3, 4))
    add(f"{_name}.default", distinct(3, 4), 1, True)
for _dim in ([1], [0, -1]):
    add("logsumexp.default", f(2, 3, 4), _dim)
    add("logsumexp.default", f(2, 3, 4), _dim, True)
    for _name in ("var", "std"):
        add(f"{_name}.correction", f(2, 3, 4), _dim)
        add(f"{_name}.correction", f(2, 3, 4), _dim, correction=0, keepdim=True)
        add(f"{_name}.dim", f(2, 3, 4), _dim, False)
        add(f"{_name}.dim", f(2, 3, 4), _dim, True, True)
    add("var_mean.correction", f(2, 3, 4), _dim, correction=0)
add("var.correction std.correction", f(3, 4))
add("var.default", f(3, 4))
for _name in ("cumsum", "cumprod"):
    add(f"{_name}.default", f(3, 5), 1)
    add(f"{_name}.default", i(3, 5), 0)
    add(f"{_name}.default", f(3, 5), -1, dtype=torch.float64)
add("logcumsumexp.default", f(3, 5), 1)
add("cummax.default cummin.default", distinct(3, 5), 1)
add("topk.default", distinct(3, 7), 3)
add("topk.default", distinct(3, 7), 2, 0, False)
add("kthvalue.default", distinct(3, 7), 3)
add("kthvalue.default", distinct(3, 7), 2, 0, True)
add("median.default", distinct(3, 5))
add("median.dim", distinct(3, 5), 1)
for _order in (1, 2, float("inf"), 0.5, -1):
    add("linalg_vector_norm.default", f(3, 5), _order, [1])
add("linalg_vector_norm.default", f(3, 5))
add("linalg_vector_norm.default", f(3, 5), 2, [0], True)
add("count_nonzero.default", i(3, 5, low=0, high=2))
add("count_nonzero.dim_IntList", i(3, 5, low=0, high=2), [1])
add("aminmax.default", distinct(3, 5))
add("aminmax.default", distinct(3, 5), dim=1, keepdim=True)
add("sort.default argsort.default", distinct(3, 5))
add("sort.default argsort.default", distinct(3, 5), 0, True)
add("sort.stable", i(3, 9, low=0, high=3), stable=True, dim=1)

# shape
add("view.default reshape.default _unsafe_view.default", f(3, 4), [2, -1])
add("view.default reshape.default", f(0, 4), [2, 0, 2])
add("reshape.default", f(4, 3).T, [12])
add("permute.default", f(2, 3, 4), [2, 0, -2])
add("transpose.int", f(2, 3, 4), 0, -1)
add("t.default", f(2, 3))
add("unsqueeze.default", f(2, 3), -1)
add("squeeze.default", f(2, 1, 3, 1))
add("squeeze.dim", f(2, 1, 3), 1)
add("squeeze.dim", f(2, 1, 3), 0)
add("squeeze.dims", f(2, 1, 3, 1), [1, -1])
add("select.int", f(2, 3, 4), 1, -1)
add("cat.default", [f(2, 3), f(1, 3), f(0, 3)])
add("cat.default", [f(2, 3), i(2, 1)], -1)
add("stack.default", [f(2, 3), f(2, 3)], 1)
add("split.Tensor", f(5, 3), 2)
add("split_with_sizes.default", f(5, 3), [1, 4])
add("split_with_sizes.default", f(5, 3), [1, 2], 1)
add("chunk.default", f(5, 3), 2)
add("unbind.int", f(3, 2), 1)
add("flip.default", f(3, 2, 4), [0, -1])
add("roll.default", f(3, 4), [1, -1], [0, 1])
add("roll.default", f(3, 4), [2])
add("diagonal.default", f(3, 4, 2), 1, 0, 1)
add("tril.default triu.default", f(3, 4))
add("tril.default triu.default", f(3, 4), -1)
add("pixel_shuffle.default", f(1, 8, 2, 3), 2)
add("pixel_unshuffle.default", f(1, 2, 4, 6), 2)
add("channel_shuffle.default", f(1, 6, 2, 2), 3)
add("col2im.default", f(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])
add("im2col.default", f(2, 3, 4, 5), [2, 2], [1, 1], [1, 0], [1, 2])
add("unfold.default", f(3, 8), 1, 3, 2)
add("flatten.using_ints", f(2, 3, 4), 1)
add("unflatten.int", f(2, 6), 1, [2, -1])
add("select_scatter.default", f(3, 4), f(3), 1, 2)
add("diagonal_scatter.default", f(3, 3), f(3))
add("slice_scatter.default", f(5, 3), f(2, 3), 0, 1, 4, 2)
add("slice_scatter.default", f(5, 3), f(5, 3))
add("detach.default clone.default lift_fresh_copy.default alias.default", f(2, 3))
add("lift_fresh.default contiguous.default", f(2, 3))
add("clone.default", f(2, 3, 4, 4), memory_format=torch.channels_last)
add("expand.default", f(3, 1), [2, 3, 4])
add("expand.default", f(3, 1), [-1, 4])
add("repeat.default", f(3, 2), [2, 1, 3])
add("slice.Tensor", f(5, 3), 0, 1, 4, 2)
add("slice.Tensor", f(5, 3), 1, -2, 2**63 - 1)
add("slice.Tensor", f(5, 3))
add("_to_copy.default", f(2, 3), dtype=torch.float64)
add("_to_copy.default", f(2, 3), dtype=torch.int64, device=torch.device("cpu"))
add("_to_copy.default", i(2, 3), dtype=torch.bool)
add("_to_copy.default", f(2, 3), memory_format=torch.contiguous_format)
add("to.dtype", f(2, 3), torch.float16)
add("to.dtype_layout", f(2, 3), dtype=torch.float64, layout=torch.strided)
add("type_as.default", f(2, 3), i(1))
add("copy.default", f(2, 3), i(3))
add("constant_pad_nd.default", f(2, 3, 4), [1, 2, 0, 1], 0.5)
add("constant_pad_nd.default", f(2, 4), [-1, 2])
for _rank in (1, 2, 3):
    _pads = [1, 2, 0, 1, 1, 0][: 2 * _rank]
    add(f"reflection_pad{_rank}d.default replication_pad{_rank}d.default", f(2, 3, *(5, 4, 3)[:_rank]), _pads)
add("as_strided.default", f(4, 6), [3, 2], [6, 2], 1)
add("as_strided.default", f(4, 6), [3, 3], [2, 1])

# indexing
add("gather.default", f(3, 4), 1, i(3, 2, low=0, high=4))
add("index_select.default", f(3, 4), 1, i(5, low=0, high=4))
add("scatter.src", f(3, 5), 1, torch.tensor([[0, 2], [1, 3], [4, 0]]), f(3, 2))
add("scatter.value", f(3, 5), 1, torch.tensor([[0, 2], [1, 3], [4, 0]]), 2.5)
add("scatter_add.default", f(3, 5), 1, i(3, 4, low=0, high=5), f(3, 4))
for _kind in ("sum", "prod", "mean", "amax", "amin"):
    add("scatter_reduce.two", distinct(3, 5), 1, torch.tensor([[0, 2], [1, 3], [4, 0]]), f(3, 2), _kind)
add("scatter_reduce.two", f(3, 5), 1, i(3, 4, low=0, high=5), distinct(3, 4), "amax", include_self=False)
add("index_add.default", f(5, 3), 0, i(4, low=0, high=5), f(4, 3))
add("index_add.default", f(5, 3), 1, i(4, low=0, high=3), f(5, 4), alpha=2)
add("index_copy.default", f(5, 3), 0, torch.tensor([3, 1]), f(2, 3))
add("index_fill.int_Scalar", f(5, 3), 0, torch.tensor([3, 1]), 2.5)
add("index_fill.int_Tensor", f(5, 3), 0, torch.tensor([3, 1]), f())
add("masked_fill.Scalar", f(3, 5), b(5), -float("inf"))
add("masked_fill.Tensor", f(3, 5), b(3, 1), f())
add("masked_select.default", f(3, 5), b(3, 5))
add("masked_scatter.default", f(3, 5), b(3, 5), f(20))
add("take.default", f(3, 5), i(2, 3, low=0, high=15))
add("nonzero.default", b(3, 5))
add("bucketize.Tensor", f(3, 5), torch.tensor([-1.0, 0.0, 1.0]))
add("bucketize.Tensor", f(3), torch.tensor([-1.0, 0.0, 1.0]), out_int32=True, right=True)
add("searchsorted.Tensor", torch.tensor([-1.0, 0.0, 1.0]), f(3, 5), right=True)
add("searchsorted.Scalar", torch.tensor([-1.0, 0.0, 1.0]), 0.5)
add("bincount.default", i(9, low=0, high=4))
add("isin.Tensor_Tensor", i(3, 5), i(4))
add("isin.Tensor_Scalar", i(3, 5), 2)
add("repeat_interleave.self_int", f(3, 2), 2, 1)
add("repeat_interleave.self_Tensor", f(3, 2), torch.tensor([1, 0, 2]), 0)
add("one_hot.default", i(3, 2, low=0, high=4), 5)
_i = lambda *shape: i(*shape, low=-3, high=3)  # noqa: E731
for _places in (
    [_i(4)],
    [None, _i(2, 2)],
    [_i(4), _i(4)],
    [_i(2, 1), None, _i(3)],
    [None, _i(2), _i(2)],
    [b(3)],
    [b(3, 4)],
):
    add("index.Tensor", f(3, 4, 5), _places)
for _places, _shape in (
    ([torch.tensor([0, 2])], (2, 4, 5)),
    ([torch.tensor([0, 2])], (5,)),
    ([None, torch.tensor([1, -1])], (3, 2, 5)),
    ([torch.tensor([[0], [2]]), None, torch.tensor([1, 3, 4])], (2, 3, 4)),
):
    add("index_put.default _unsafe_index_put.default", f(3, 4, 5), _places, f(*_shape))
add("index_put.default", f(3, 4, 5), [torch.tensor([True, False, True])], f())
for _places, _shape in (
    ([_i(6)], (6, 4, 5)),
    ([_i(6), _i(6)], (6, 1)),
    ([None, _i(2, 3)], (3, 2, 3, 5)),
    ([None, _i(6), _i(6)], ()),
    ([_i(2, 1), None, _i(3)], (2, 3, 4)),
    ([torch.tensor([True, False, True])], (2, 4, 5)),
):
    add("index_put.default", f(3, 4, 5), _places, f(*_shape), True)
add("embedding.default", f(6, 3), i(2, 4, low=0))
add("embedding.default", f(6, 3), i(2, 4, low=0), 2)

# create
for _dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16):
    add("full.default", [2, 3], 1, dtype=_dtype)
    add("full_like.default", f(2, 3), 1, dtype=_dtype)
    add("zeros.default ones.default", [2, 3], dtype=_dtype)
    add("zeros_like.default ones_like.default", f(2, 3), dtype=_dtype)
    add("new_zeros.default new_ones.default", f(2, 3), [4], dtype=_dtype)
    add("new_full.default", f(2, 3), [4], 1, dtype=_dtype)
for _value in (2, 2.5, True):
    add("full.default", [0, 3], _value)
    add("full.default", [], _value, device=torch.device("cpu"), pin_memory=False)
    add("scalar_tensor.default", _value)
add("full_like.default", i(2, 3), 4)
add("new_full.default", i(2, 3), [4], 4)
add("new_zeros.default new_ones.default", i(2, 3), [])
add("zeros.default ones.default", [3])
add("zeros_like.default ones_like.default", i(2, 3))
add("fill.Scalar", f(2, 3), 1.5)
add("fill.Tensor", f(2, 3), f())
add("scalar_tensor.default", 3, dtype=torch.int64)
add("arange.default", 5)
add("arange.default", 2.5, dtype=torch.float64)
add("arange.start", 2, 5)
add("arange.start_step", 5, 0, -2)
add("arange.start_step", 0.5, 2.0, 0.5, dtype=torch.float32)
add("linspace.default", -1, 2.0, 5)
add("eye.default", 3)
add("eye.m", 3, 4, dtype=torch.int64)

# matrix
add("mm.default", f(3, 4), f(4, 5))
add("bmm.default", f(2, 3, 4), f(2, 4, 5))
add("mv.default", f(3, 4), f(4))
add("dot.default", f(4), f(4))
add("addmm.default", f(5), f(3, 4), f(4, 5))
add("addmm.default", f(3, 5), f(3, 4), f(4, 5), beta=0.5, alpha=2)
add("addmv.default", f(3), f(3, 4), f(4))
add("addr.default", f(3, 4), f(3), f(4))
add("addbmm.default", f(3, 5), f(2, 3, 4), f(2, 4, 5))
add("baddbmm.default", f(2, 3, 5), f(2, 3, 4), f(2, 4, 5), beta=0.5, alpha=2)
for _a, _b in (((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4,)), ((2, 1, 3, 4), (3, 4, 5))):
    add("matmul.default", f(*_a), f(*_b))
add("linear.default", f(2, 3, 4), f(5, 4))
add("linear.default", f(2, 4), f(5, 4), f(5))
add("bilinear.default", f(2, 3), f(2, 4), f(5, 3, 4), f(5))
add("einsum.default", "bij,bjk->bik", [f(2, 3, 4), f(2, 4, 5)])
add("einsum.default", "ij->ji", [f(2, 3)])
add("linalg_cross.default", f(2, 3), f(2, 3))
add("_pdist_forward.default", f(4, 3))
add("_cdist_forward.default", f(4, 3), f(5, 3), 2.0, None)
add("_cdist_forward.default", f(2, 4, 3), f(2, 5, 3), 1.0, None)
_heads = lambda length=4, heads=2: f(2, heads, length, 8)  # noqa: E731
add("scaled_dot_product_attention.default", _heads(), _heads(5), _heads(5))
add("scaled_dot_product_attention.default", _heads(), _heads(), _heads(), None, 0.0, True, scale=0.3)
add("scaled_dot_product_attention.default", _heads(), _heads(5), _heads(5), f(4, 5))
add("scaled_dot_product_attention.default", _heads(4, 4), _heads(), _heads(), enable_gqa=True)

# conv
for _rank, _transposed in itertools.product((1, 2, 3), (False, True)):
    _x, _ones, _twos = f(2, 4, *(7, 6, 5)[:_rank]), [1] * _rank, [2] * _rank
    _w = f(4, 3, *[3] * _rank) if _transposed else f(6, 2, *[3] * _rank)
    _bias, _groups = (f(3), 1) if _transposed else (f(6), 2)
    add("convolution.default", _x, _w, _bias, _twos, _ones, _ones, _transposed, [0] * _rank, _groups)
    add("convolution.default", _x, _w, None, _ones, [0] * _rank, _twos, _transposed, [0] * _rank, _groups)
    if _transposed:
        _full = f"conv_transpose{_rank}d.{'default' if _rank == 1 else 'input'}"
        add(_full, _x, _w, _bias, _twos, _ones, _ones, 1, _ones)
    else:
        add(f"conv{_rank}d.default", _x, _w, _bias, _twos, _ones, _ones, _groups)
        add(f"conv{_rank}d.padding", _x, _w, None, _ones, "same", _ones, _groups)

# pool and resize
for _rank in (1, 2, 3):
    _x = distinct(2, 3, *(7, 6, 5)[:_rank])
    add(f"max_pool{_rank}d.default", _x, [3] * _rank, [2] * _rank, [1] * _rank)
    add(f"max_pool{_rank}d.default", _x, [2] * _rank, [], [0] * _rank, [1] * _rank, True)
    add(f"max_pool{_rank}d_with_indices.default", _x, [2] * _rank, [1] * _rank, [1] * _rank, [2] * _rank)
    add(f"avg_pool{_rank}d.default", _x, [3] * _rank, [2] * _rank, [1] * _rank, False, False)
    add(f"avg_pool{_rank}d.default", _x, [2] * _rank)
    if _rank > 1:
        add(f"avg_pool{_rank}d.default", _x, [2] * _rank, [2] * _rank, [0] * _rank, True, True, 3)
        add(f"_adaptive_avg_pool{_rank}d.default", _x, [2] * _rank)
    add(f"adaptive_avg_pool{_rank}d.default adaptive_max_pool{_rank}d.default", _x, [3] * _rank)
    for _name in (f"upsample_nearest{_rank}d.vec", f"_upsample_nearest_exact{_rank}d.vec"):
        add(_name, _x, [9, 3, 4][:_rank], None)
        add(_name, _x, None, [2.0, 1.5, 0.7][:_rank])
for _name, _rank in (("linear1d", 1), ("bilinear2d", 2), ("trilinear3d", 3)):
    _x = f(2, 3, *(7, 6, 5)[:_rank])
    for _corners in (False, True):
        add(f"upsample_{_name}.vec", _x, [9, 3, 4][:_rank], _corners, None)
    add(f"upsample_{_name}.vec", _x, None, False, [2.0, 1.5, 0.7][:_rank])
for _mode, _padding in itertools.product((0, 1, 2), (0, 1, 2)):
    add("grid_sampler_2d.default grid_sampler.default", f(1, 2, 4, 5), f(1, 3, 3, 2), _mode, _padding, False)
add("grid_sampler_3d.default", f(1, 2, 3, 4, 5), f(1, 2, 2, 3, 3), 0, 0, True)
add("affine_grid_generator.default", f(2, 2, 3), [2, 1, 4, 5], False)

# norm
_w, _bias = f(4, low=0.5), f(4)
add("layer_norm.default", f(2, 3, 4), [4], _w, _bias)
add("layer_norm.default", f(2, 3, 4), [3, 4])
add("native_layer_norm.default", f(2, 3, 4), [4], _w, _bias, 1e-5)
add("native_layer_norm.default", f(2, 3, 4), [3, 4], None, None, 1e-3)
add("rms_norm.default", f(2, 3, 4), [4], _w, 1e-5)
add("_fused_rms_norm.default", f(2, 3, 4), [4], _w, 1e-5)
add("_fused_rms_norm.default", f(2, 3, 4), [4], _w, None)
add("group_norm.default", f(2, 4, 3), 2, _w, _bias)
add("native_group_norm.default", f(2, 4, 3, 2), _w, _bias, 2, 4, 6, 2, 1e-5)
add("native_group_norm.default", f(2, 4, 3), None, None, 2, 4, 3, 2, 1e-5)
_affine, _moments = (_w, _bias), (fixed(f(4)), fixed(f(4, low=0.5)))
add("_native_batch_norm_legit_no_training.default", f(2, 4, 3), *_affine, *_moments, 0.1, 1e-5)
for _training in (True, False):
    add(
        "_native_batch_norm_legit_functional.default",
        f(3, 4, 5), *_affine, *_moments, _training, 0.2, 1e-4,
    )  # fmt: skip
add("_native_batch_norm_legit.no_stats", f(3, 4, 5), _w, None, True, 0.2, 1e-4)
for _name in ("softmax", "log_softmax"):
    add(f"_{_name}.default", f(3, 4), -1, False)
    add(f"_{_name}.default", f(3, 4, 2), 1, False)
    add(f"{_name}.int", f(3, 4), 0)
    add(f"{_name}.int", f(3, 4, dtype=torch.float16), 1, torch.float32)
add("_safe_softmax.default", torch.tensor([[1.0, 2.0], [-float("inf")] * 2]), -1)

# recurrent: input, states, weights, biases, layers, dropout, train, both directions, batch first
for _name, _gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    _weights = []
    for _layer in range(2):
        for _direction in range(2):
            _size = 3 if _layer == 0 else 8
            _weights += [f(_gates * 4, _size), f(_gates * 4, 4), f(_gates * 4), f(_gates * 4)]
    _state = [f(4, 2, 4), f(4, 2, 4)] if _name == "lstm" else f(4, 2, 4)
    add(f"{_name}.input", f(5, 2, 3), _state, _weights, True, 2, 0.0, False, True, False)
    _state = [f(1, 2, 4), f(1, 2, 4)] if _name == "lstm" else f(1, 2, 4)
    add(f"{_name}.input", f(2, 5, 3), _state, _weights[:2], False, 1, 0.0, False, False, True)

_bags = f(6, 3), i(7, low=0), torch.tensor([0, 3, 5])
for _mode in (0, 1, 2):
    add("_embedding_bag.default _embedding_bag_forward_only.default", *_bags, False, _mode)
    add("embedding_bag.default", *_bags, False, _mode)
add("_embedding_bag.default", *_bags, False, 0, False, f(7))
add("embedding_bag.padding_idx", *_bags, False, 0, False, None, False, 2)
add("_scaled_dot_product_flash_attention_for_cpu.default", _heads(), _heads(5), _heads(5))
add("_scaled_dot_product_flash_attention_for_cpu.default", _heads(), _heads(), _heads(), 0.0, True, scale=0.3)
add("native_dropout.default dropout.default", f(3, 4), 0.5, False)
add("bernoulli.default", torch.tensor([0.0, 1.0, 1.0]))
add("bernoulli.p", f(3), 1.0)


# linear algebra
def definite(*shape):
    """Symmetric matrices whose eigenvalues are positive and lie apart."""
    a = f(*shape)
    return a @ a.mT + torch.diag(torch.arange(1.0, shape[-1] + 1))


for _shape in ((3, 3), (2, 4, 4)):
    _a, _b = definite(*_shape), f(*_shape[:-1], 2)
    for _name in (
        "linalg_inv linalg_inv_ex inverse linalg_det det logdet _linalg_det linalg_slogdet slogdet "
        "_linalg_slogdet linalg_svdvals linalg_eigvalsh linalg_cholesky linalg_cholesky_ex linalg_qr"
    ).split():
        add(f"{_name}.default", _a)
    add("linalg_solve.default _linalg_solve_ex.default", _a, _b)
    add("linalg_solve_triangular.default", _a.tril(), _b, upper=False)
    add("linalg_cholesky.default", _a, upper=True)
    # PyTorch gives gradients to the triangle that the result does not depend on.
    add("cholesky_solve.default", _b, fixed(torch.linalg.cholesky(_a)))
    add("cholesky_inverse.default", fixed(torch.linalg.cholesky(_a)))
    add("linalg_matrix_exp.default", f(*_shape, low=-0.5, high=0.5))
    add("linalg_pinv.default", f(*_shape[:-1], 2), 1e-6)
    add("_linalg_svd.default", fixed(definite(*_shape)), False, False)
    add("_linalg_eigh.default", fixed(definite(*_shape)), "L", False)

add("_unique2.default", i(9))
add("_unique2.default", i(9), True, True, True)
add("unique_dim.default", i(6, 2, low=0, high=2), 0, True, True, True)
add("mode.default", i(3, 9, low=0, high=3))
add("histc.default", f(20), 5, -1, 1)
add("index_reduce.default", distinct(5, 3), 0, torch.tensor([3, 1]), distinct(2, 3), "amax")
add("tril_indices.default triu_indices.default", 3, 4, 1)
add("tril_indices.default triu_indices.default", 2, 2)

# whose elements nobody knows before: shape and dtype
RANDOM: dict[str, list[tuple[tuple, dict]]] = {
    "aten.rand.default": [(([2, 3],), {}), (([0],), {"dtype": torch.float16})],
    "aten.randn.default": [(([2, 3],), {}), (([],), {"dtype": torch.float64})],
    "aten.rand_like.default": [((f(2, 3),), {})],
    "aten.randn_like.default": [((f(2, 3),), {"dtype": torch.float64})],
    "aten.randint.default": [((5, [2, 3]), {})],
    "aten.randint.low": [((2, 5, [2, 3]), {"dtype": torch.int32})],
    "aten.randperm.default": [((7,), {})],
    "aten.multinomial.default": [((f(2, 5, low=0.1), 3), {})],
    "aten.normal_functional.default": [((f(2, 3), 1.0, 2.0), {})],
    "aten.uniform.default": [((f(2, 3), 1.0, 2.0), {})],
    "aten.exponential.default": [((f(2, 3), 2.0), {})],
    "aten.empty.memory_format": [(([2, 3],), {"dtype": torch.int64})],
    "aten.empty_permuted.default": [(([2, 3], [1, 0]), {})],
    "aten.empty_strided.default": [(([2, 3], [3, 1]), {})],
    "aten.empty_like.default": [((f(2, 3),), {})],
    "aten.new_empty.default": [((f(2, 3), [4]), {})],
    "aten.new_empty_strided.default": [((f(2, 3), [4], [1]), {})],
}
