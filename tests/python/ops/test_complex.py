"""Complex numbers beside PyTorch's: values, gradients of any order, doors and refusals."""

import itertools
import types

import numpy as np
import pytest
import torch

import ocl

REALS = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
COMPLEX = ("complex64", "complex128")


def numbers(shape=(3, 7), seed=0, scale=1.0, dtype="complex128"):
    draws = np.random.default_rng(seed)
    return (scale * (draws.standard_normal(shape) + 1j * draws.standard_normal(shape))).astype(dtype)


def reals(shape=(3, 7), seed=0, dtype="float64"):
    return np.random.default_rng(seed + 100).standard_normal(shape).astype(dtype)


def narrowed(array):
    return array.astype({"c": "complex64", "f": "float32"}.get(array.dtype.kind, array.dtype))


def run(lib, function, arrays, differentiate):
    inputs = [lib.tensor(array) for array in arrays]
    for tensor in inputs:
        if differentiate and (tensor.is_floating_point() or tensor.is_complex()):
            tensor.requires_grad_()
    result = function(lib, *inputs)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if not differentiate:
        return results
    total = 0
    for k, each in enumerate(results):
        weight = numbers(tuple(each.shape), 50 + k)
        # real() of a product with a weight: every part of the result has a gradient of its own.
        weight = lib.tensor(weight if each.is_complex() else weight.real).to(each.dtype)
        product = each * weight
        total = total + (product.real if each.is_complex() else product).sum()
    total.backward()
    return results + [tensor.grad for tensor in inputs if tensor.requires_grad and tensor.grad is not None]


def array_of(tensor):
    return (tensor.resolve_conj() if isinstance(tensor, torch.Tensor) else tensor).detach().numpy()


def check(function, *arrays, differentiate=True, slack=0):
    """Ours is as near to complex128's results as PyTorch's complex64 is, and in complex128 nearer. slack: how
    far PyTorch's complex128 is from the truth itself, in roundings of the largest element.
    """
    truth = [array_of(t) for t in run(torch, function, arrays, differentiate)]
    theirs = [array_of(t) for t in run(torch, function, [narrowed(a) for a in arrays], differentiate)]
    for ours, bound in (
        (run(ocl, function, [narrowed(a) for a in arrays], differentiate), theirs),
        (run(ocl, function, arrays, differentiate), truth),
    ):
        assert len(ours) == len(truth)
        for mine, exact, their, narrow in zip(ours, truth, bound, theirs, strict=True):
            mine = array_of(mine)
            assert mine.shape == exact.shape
            assert mine.dtype == their.dtype
            if exact.dtype.kind in "biu":
                np.testing.assert_array_equal(mine, exact)
                continue
            unit = np.finfo(mine.dtype).eps
            finite = np.isfinite(exact) & np.isfinite(their)
            np.testing.assert_array_equal(np.isfinite(mine), np.isfinite(their))
            error = np.abs(mine - exact)[finite]
            # complex128 may be as many units off as PyTorch's complex64 is.
            allowed = np.abs(narrow - exact)[finite].max(initial=0) * unit / np.finfo(narrow.dtype).eps
            largest = np.abs(exact)[finite].max(initial=0)
            scale = 8 * np.maximum(np.abs(exact)[finite], largest * 0.05) + slack * largest
            assert (error <= 4 * allowed + unit * scale + 1e-30).all(), (error.max(), allowed)


UNARY = (
    "neg exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal square sin cos tan asin acos atan sinh "
    "cosh tanh asinh acosh atanh sigmoid abs angle sgn conj isnan isinf isfinite logical_not isreal real imag"
).split()


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name, scale):
    predicate = name.startswith("is") or name == "logical_not"
    check(lambda lib, z: getattr(lib, name)(z), numbers(scale=scale), differentiate=not predicate)


@pytest.mark.parametrize(
    "name", ["exp", "sqrt", "log", "abs", "angle", "tanh", "sinh", "reciprocal", "square", "atan", "asin"]
)
def test_functions_at_special_numbers(name):
    """Along the axes, at large and small numbers: where PyTorch is finite, so is ours, and as near."""
    parts = [0.0, 1.0, -1.0, 0.5, -2.0, 1e-6, 3e4, -3e4]
    z = np.array([complex(a, b) for a in parts for b in parts])
    if name in ("exp", "sinh", "tanh"):
        z = z[np.abs(z.real) < 80]
        z = z[np.abs(z.imag) < 100]
    if name == "asin":  # on the cuts the sign of zero decides
        z = z[(z.imag != 0) | (np.abs(z.real) < 1)]
    if name == "atan":
        z = z[(z.real != 0) | (np.abs(z.imag) < 1)]
    if name == "reciprocal":
        z = z[z != 0]
    check(lambda lib, x: getattr(lib, name)(x), z, differentiate=False)


BINARY = {
    "add": lambda lib, a, b: a + b,
    "alpha": lambda lib, a, b: lib.add(a, b, alpha=2),
    "complex alpha": lambda lib, a, b: lib.sub(a, b, alpha=2 - 1j),
    "sub": lambda lib, a, b: a - b,
    "mul": lambda lib, a, b: a * b,
    "div": lambda lib, a, b: a / b,
    "pow": lambda lib, a, b: lib.pow(a, b),
    "lerp": lambda lib, a, b: lib.lerp(a, b, 0.25),
    "addcmul": lambda lib, a, b: lib.addcmul(a, a, b, value=0.5),
    "addcdiv": lambda lib, a, b: lib.addcdiv(a, a, b, value=0.5),
    "where": lambda lib, a, b: lib.where(lib.real(a) > 0, a, b),
    "polar": lambda lib, a, b: lib.polar(lib.abs(a), lib.angle(b)),
    "complex": lambda lib, a, b: lib.complex(lib.real(a), lib.imag(b)),
}


@pytest.mark.parametrize(
    "shapes", [((3, 7), (3, 7)), ((4, 1, 5), (3, 1)), ((2, 3), ()), ((0, 3), (3,))], ids=str
)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name, shapes):
    check(BINARY[name], numbers(shapes[0], 1), numbers(shapes[1], 2))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow"])
def test_real_numbers_beside_complex_ones(name):
    check(BINARY[name], numbers(), reals())
    check(BINARY[name], np.abs(reals()) + 0.1, numbers())


def test_where_of_real_and_complex_numbers():
    """PyTorch 2.13 cannot differentiate it."""
    z = ocl.tensor(numbers(), requires_grad=True)
    x = ocl.tensor(reals(), requires_grad=True)
    chosen = ocl.where(x > 0, z, x)
    np.testing.assert_array_equal(chosen.detach().numpy(), np.where(reals() > 0, numbers(), reals()))
    (chosen * (1 - 2j)).real.sum().backward()
    np.testing.assert_array_equal(z.grad.numpy(), np.where(reals() > 0, 1 + 2j, 0))
    np.testing.assert_array_equal(x.grad.numpy(), np.where(reals() > 0, 0, 1))


@pytest.mark.parametrize("number", [2, -0.5, 1j, 2.5 - 0.5j, 0, np.complex128(3j)], ids=repr)
def test_numbers_beside_tensors(number):
    for function in (
        lambda lib, z: z + number,
        lambda lib, z: number - z,
        lambda lib, z: number * z,
        lambda lib, z: number / z,
        lambda lib, z: z**number if not isinstance(number, np.generic) else z * number,
    ):
        check(function, numbers())
        check(function, np.abs(reals()) + 0.1)


def test_numbers_of_numpy_keep_their_imaginary_part():
    """PyTorch 2.13 leaves that of complex64 out beside its tensors."""
    x = ocl.tensor([0.5])
    for number in (np.complex64(1 + 2j), np.complex128(1 + 2j)):
        assert (x + number).tolist() == (number + x).tolist() == [1.5 + 2j]
        assert (number - x).tolist() == [0.5 + 2j] and (x * number).tolist() == [0.5 + 1j]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, 2.5, 1j])
def test_powers(exponent):
    check(lambda lib, z: z**exponent, numbers())


@pytest.mark.parametrize(("a", "b"), list(itertools.product(COMPLEX, REALS + COMPLEX)))
def test_promotion(a, b):
    ours, theirs = (
        lib.promote_types(getattr(lib, a), getattr(lib, "bool" if b == "bool" else b)) for lib in (ocl, torch)
    )
    assert str(ours).split(".")[1] == str(theirs).split(".")[1]
    mine, their = (
        lib.ones(2, dtype=getattr(lib, a)) * lib.ones(2, dtype=getattr(lib, b)) for lib in (ocl, torch)
    )
    assert str(mine.dtype).split(".")[1] == str(their.dtype).split(".")[1]


@pytest.mark.parametrize("dtype", [d for d in REALS if d not in ("float16",)])
def test_a_complex_number_beside_real_tensors(dtype):
    ours, theirs = (lib.ones(2, dtype=getattr(lib, dtype)) * 2j for lib in (ocl, torch))
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


REDUCTIONS = {
    "sum": lambda lib, z: z.sum(),
    "sum of dims": lambda lib, z: z.sum((0, 2)),
    "sum keepdim": lambda lib, z: z.sum(-1, keepdim=True),
    "mean": lambda lib, z: z.mean(1),
    "prod": lambda lib, z: z.prod(1),
    "prod of all": lambda lib, z: z.prod(),
    "cumsum": lambda lib, z: z.cumsum(1),
    "cumprod": lambda lib, z: z.cumprod(-1),
    "norm": lambda lib, z: lib.linalg.vector_norm(z, dim=1),
    "norm 1": lambda lib, z: lib.linalg.vector_norm(z, 1, dim=2),
    "var": lambda lib, z: z.var(1),
    "std": lambda lib, z: z.std(0, correction=0),
    "var_mean": lambda lib, z: lib.var_mean(z, dim=2),
    "diff": lambda lib, z: lib.diff(z),
    "trace": lambda lib, z: z[:, :, 0].trace(),
    "kron": lambda lib, z: lib.kron(z[0], z[1]),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    check(REDUCTIONS[name], numbers((3, 4, 5)))


def test_reductions_of_scalars_and_of_nothing():
    for function in (lambda lib, z: z.sum(), lambda lib, z: z.mean(), lambda lib, z: z.prod()):
        check(function, numbers(()))
    check(lambda lib, z: z.sum(0), numbers((0, 3)))
    check(lambda lib, z: z.prod(0), numbers((0, 3)), differentiate=False)
    check(lambda lib, z: z.cumsum(0), numbers(()))


@pytest.mark.parametrize("name", ["any", "all", "count_nonzero"])
def test_which_are_zero(name):
    z = numbers((4, 5))
    z[1, 2], z[3] = 0, 0
    z[0, 0], z[0, 1] = 1j, 1
    check(lambda lib, x: getattr(lib, name)(x), z, differentiate=False)
    check(lambda lib, x: getattr(lib, name)(x, dim=1), z, differentiate=False)


def test_comparisons():
    a, b = numbers(seed=1), numbers(seed=1)
    b[0] += 1j
    b[1, 3] = complex("nan")
    for name in ("eq", "ne", "isclose", "logical_and", "logical_or", "logical_xor"):
        check(lambda lib, x, y, name=name: getattr(lib, name)(x, y), a, b, differentiate=False)
    check(lambda lib, x, y: lib.isclose(x, y, equal_nan=True), b, b, differentiate=False)
    assert ocl.equal(ocl.tensor(a), ocl.tensor(a)) and not ocl.equal(ocl.tensor(a), ocl.tensor(b))
    assert ocl.allclose(ocl.tensor(a), ocl.tensor(a + 1e-9)) and not ocl.allclose(
        ocl.tensor(a), ocl.tensor(a + 1e-3)
    )


PRODUCTS = {
    "mm": (lambda lib, a, b: lib.mm(a, b), (4, 5), (5, 3)),
    "bmm": (lambda lib, a, b: lib.bmm(a, b), (2, 4, 5), (2, 5, 3)),
    "matmul": (lambda lib, a, b: a @ b, (2, 1, 4, 5), (3, 5, 3)),
    "mv": (lambda lib, a, b: a @ b, (4, 5), (5,)),
    "dot": (lambda lib, a, b: lib.dot(a, b), (6,), (6,)),
    "vdot": (lambda lib, a, b: lib.vdot(a, b), (6,), (6,)),
    "outer": (lambda lib, a, b: lib.outer(a, b), (6,), (3,)),
    "einsum": (lambda lib, a, b: lib.einsum("bix,iox->box", a, b), (2, 3, 4), (3, 5, 4)),
    "tensordot": (lambda lib, a, b: lib.tensordot(a, b, dims=2), (2, 3, 4), (3, 4, 5)),
    "linear": (lambda lib, a, b: lib.nn.functional.linear(a, b), (2, 6, 4), (5, 4)),
    "adjoint": (lambda lib, a, b: a.mH @ b, (4, 5), (4, 3)),
    "addmm": (lambda lib, a, b: lib.addmm(a[:1, :1] * b[:1], a, b, beta=0.5, alpha=2), (4, 5), (5, 3)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    function, a, b = PRODUCTS[name]
    check(function, numbers(a, 1), numbers(b, 2))


PLACES = np.array([[2, 0, 1], [1, 1, 2], [0, 2, 2]])
MOVES = {
    "contiguous": lambda lib, z: z.mT.contiguous(),
    "clone": lambda lib, z: z[:, ::2].clone(),
    "cat": lambda lib, z: lib.cat([z, z[:1] * 2]),
    "stack": lambda lib, z: lib.stack([z, -z], 1),
    "repeat": lambda lib, z: z.repeat(2, 1),
    "expand": lambda lib, z: z[:, :1].expand(3, 4) * z[:, :1],
    "flip": lambda lib, z: z.flip(1),
    "roll": lambda lib, z: z.roll(1, 0),
    "gather": lambda lib, z: z.gather(1, lib.tensor(PLACES)),
    "index_select": lambda lib, z: z.index_select(0, lib.tensor([2, 0, 2])),
    "index": lambda lib, z: z[lib.tensor([0, 2, 2]), lib.tensor([1, 1, 0])],
    "mask": lambda lib, z: z[z.real > 0],
    "masked_fill": lambda lib, z: z.masked_fill(z.real > 0, 1 - 2j),
    "scatter": lambda lib, z: lib.zeros_like(z).scatter(1, lib.tensor([[1, 0, 2]]), z[:1, :3]),
    "scatter_add": lambda lib, z: z.scatter_add(1, lib.tensor(PLACES), z[:, :3]),
    "index_add": lambda lib, z: z.index_add(0, lib.tensor([0, 0]), z[1:]),
    "take": lambda lib, z: z.take(lib.tensor([5, 0, 5])),
    "tril": lambda lib, z: z.tril(),
    "triu": lambda lib, z: z.triu(1),
    "diagonal": lambda lib, z: z.diagonal(),
    "diag": lambda lib, z: lib.diag(z[0]),
    "pad": lambda lib, z: lib.nn.functional.pad(z, (1, 2)),
    "unfold": lambda lib, z: z.unfold(1, 2, 1) * 1j,
    "view_as_real": lambda lib, z: lib.view_as_real(z),
    "there and back": lambda lib, z: lib.view_as_complex(lib.view_as_real(z.mT) * 2),
    "split": lambda lib, z: list(z.split(2, 1)),
    "H": lambda lib, z: z.H,
    "to": lambda lib, z: z.to(lib.complex128),
    "real part": lambda lib, z: z.real * z.imag,
    "chunks": lambda lib, z: z.chunk(2, 0)[0],
    "movedim": lambda lib, z: z.movedim(0, 1),
    "meshgrid": lambda lib, z: list(lib.meshgrid(z[0], z[1], indexing="ij")),
}


@pytest.mark.parametrize("name", MOVES)
def test_moved_elements(name):
    check(MOVES[name], numbers((3, 5)))


WRITES = {
    "add_": lambda lib, a, b: a.add_(b),
    "mul_": lambda lib, a, b: a.mul_(b),
    "mul_ number": lambda lib, a, b: a.mul_(2j).div_(3),
    "copy_": lambda lib, a, b: a.copy_(b),
    "slice": lambda lib, a, b: a.__setitem__((slice(None), 1), b[:, 0]),
    "number": lambda lib, a, b: a.__setitem__(0, 3 - 1j),
    "mask": lambda lib, a, b: a.masked_fill_(b.real > 0, 0),
    "index": lambda lib, a, b: a.__setitem__(lib.tensor([2, 0]), b[:2]),
    "index_add_": lambda lib, a, b: a.index_add_(0, lib.tensor([1, 1]), b[:2]),
    "zero_": lambda lib, a, b: a.zero_(),
    "exp_": lambda lib, a, b: a.exp_(),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_in_place(name):
    def written(lib, x, y):
        target = x * 1
        WRITES[name](lib, target, y)
        return target * 2

    check(written, numbers((3, 5), 1), numbers((3, 5), 2))


def test_writes_to_parts():
    for lib in (ocl, torch):
        z = lib.tensor(numbers((2, 2)))
        z.real = lib.zeros(2, 2, dtype=lib.float64)
        lib.view_as_real(z)[..., 1].fill_(3)
        z.imag[0] = 4.0
        np.testing.assert_array_equal(z.numpy(), [[4j, 4j], [3j, 3j]])
    z = ocl.ones(3, dtype=ocl.complex64, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="parts of complex numbers"):
        z.real.add_(1)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "abs", "reciprocal", "sgn", "angle", "atan"])
def test_second_derivatives(name):
    """The gradient of a real function of the gradient is PyTorch's."""

    def twice(lib, z):
        value = getattr(lib, name)(z)
        (first,) = lib.autograd.grad((value.abs() ** 2 + value.real).sum(), z, create_graph=True)
        return first

    check(twice, numbers(seed=3))


def test_gradients_of_products_of_any_order():
    def thrice(lib, a, b):
        (first,) = lib.autograd.grad(((a @ b) ** 3).real.sum(), a, create_graph=True)
        (second,) = lib.autograd.grad((first * first).imag.sum(), b, create_graph=True)
        return second

    check(thrice, numbers((3, 4), 1, 0.5), numbers((4, 2), 2, 0.5))


# --- Doors


@pytest.mark.parametrize("dtype", COMPLEX)
def test_arrays_come_in_and_go_out(dtype):
    strided = numbers((4, 6), dtype=dtype)[::2, ::-1]
    for array in (*(numbers(shape, dtype=dtype) for shape in ((3, 4), (), (0, 2))), strided):
        tensor = ocl.tensor(array)
        assert tensor.dtype == getattr(ocl, dtype) and tensor.is_complex() and not tensor.is_floating_point()
        np.testing.assert_array_equal(tensor.numpy(), array)
        np.testing.assert_array_equal(ocl.from_numpy(np.asarray(array)).numpy(), array)
        np.testing.assert_array_equal(np.asarray(tensor), array)
        assert tensor.tolist() == array.tolist()


SEQUENCES = (1j, [1j, 2], [[1, 2.5], [1j, True]], [np.complex64(1j), 2], 3 + 4j, (np.complex128(1j),))


@pytest.mark.parametrize("data", SEQUENCES, ids=repr)
def test_sequences(data):
    ours, theirs = ocl.tensor(data), torch.tensor(data)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    np.testing.assert_array_equal(
        ocl.tensor(data, dtype=ocl.complex128).numpy(), np.array(data, "complex128")
    )


def test_single_elements():
    z = ocl.tensor(3 + 4j)
    assert z.item() == 3 + 4j and complex(z) == 3 + 4j and bool(z) and not bool(z * 0)
    assert ocl.tensor(2.5).item() == 2.5 and complex(ocl.tensor(2.5)) == 2.5
    for convert in (float, int):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            convert(z)


PRINTED = ([1 + 2j, -0.5 - 1j], [1e-7 + 1j, 3], [1 + 0j, -2j], [complex("nan"), complex("inf")])


@pytest.mark.parametrize("values", PRINTED, ids=str)
def test_printed_as_pytorch_prints(values):
    theirs = repr(torch.tensor(values))
    assert repr(ocl.tensor(values)) == theirs[:-1] + ", device='ocl:0')"


def test_printed_with_other_dtypes_and_histories():
    for lib in (ocl, torch):
        place = ", device='ocl:0'" if lib is ocl else ""
        name = lib.__name__
        assert repr(lib.tensor(1 + 2j)) == f"tensor(1.+2.j{place})"
        assert repr(lib.tensor([1j], requires_grad=True)) == f"tensor([0.+1.j]{place}, requires_grad=True)"
        wide = lib.tensor([1j], dtype=lib.complex128)
        assert repr(wide) == f"tensor([0.+1.j]{place}, dtype={name}.complex128)"
        assert repr(lib.zeros(0, dtype=lib.complex64)) == f"tensor([]{place}, dtype={name}.complex64)"
        assert f"{lib.tensor([2j])}" == f"tensor([0.+2.j]{place})"


def test_creation():
    for lib in (ocl, torch):
        assert lib.zeros(2, dtype=lib.complex64).tolist() == [0, 0]
        assert lib.full((2,), 1 - 2j).tolist() == [1 - 2j] * 2
        assert lib.ones_like(lib.zeros(2, dtype=lib.cdouble)).tolist() == [1, 1]
        assert lib.eye(2, dtype=lib.cfloat).tolist() == [[1, 0], [0, 1]]
        assert lib.linspace(0, 1 + 1j, 3, dtype=lib.complex64).tolist() == [0, 0.5 + 0.5j, 1 + 1j]
        assert lib.empty(2, 3, dtype=lib.complex64).shape == (2, 3)
        assert lib.tensor([1.0, 2.0]).to(lib.complex64).tolist() == [1, 2]
        assert lib.tensor([1.0, 0.0]).cfloat().bool().tolist() == [True, False]
        assert lib.tensor([1j, 2.0]).to(lib.bool).tolist() == [True, True]
        assert lib.finfo(lib.complex64).eps == np.finfo("float32").eps


def test_random_numbers():
    ocl.manual_seed(0)
    z = ocl.randn(20000, dtype=ocl.complex64).numpy()
    assert abs(z.mean()) < 0.03 and abs(z.real.var() - 0.5) < 0.02 and abs(z.imag.var() - 0.5) < 0.02
    assert abs((z.real * z.imag).mean()) < 0.02
    z = ocl.rand(20000, dtype=ocl.complex64).numpy()
    assert 0 <= z.real.min() and z.imag.max() < 1 and abs(z.mean() - (0.5 + 0.5j)) < 0.02
    z = ocl.empty(20000, dtype=ocl.complex64).normal_(1, 2).numpy()
    assert abs(z.real.var() - 2) < 0.1 and abs(z.mean().real - 1) < 0.06


def test_files(tmp_path):
    z = {"a": ocl.tensor(numbers(dtype="complex64")), "b": ocl.tensor(numbers())}
    ocl.save(z, tmp_path / "z.pt")
    for name, value in ocl.load(tmp_path / "z.pt").items():
        np.testing.assert_array_equal(value.numpy(), z[name].numpy())
    torch.save({"a": torch.tensor(numbers(dtype="complex64"))}, tmp_path / "t.pt")
    np.testing.assert_array_equal(ocl.load(tmp_path / "t.pt")["a"].numpy(), numbers(dtype="complex64"))


def test_pytorchs_tensors():
    theirs = torch.tensor(numbers())
    np.testing.assert_array_equal(ocl.tensor(theirs).numpy(), theirs.numpy())
    np.testing.assert_array_equal(np.from_dlpack(ocl.tensor(numbers())), theirs.numpy())
    np.testing.assert_array_equal(ocl.from_dlpack(theirs).numpy(), theirs.numpy())


# --- Refusals

REFUSED = {
    "relu": lambda z: z.relu(),
    "lt": lambda z: z < z,
    "maximum": lambda z: ocl.maximum(z, z),
    "floor": lambda z: z.floor(),
    "max": lambda z: z.max(),
    "max of dim": lambda z: z.max(0),
    "argmax": lambda z: z.argmax(),
    "amax": lambda z: z.amax(),
    "sort": lambda z: z.sort(),
    "topk": lambda z: z.topk(1),
    "median": lambda z: z.median(),
    "unique": lambda z: z.unique(),
    "softmax": lambda z: z.softmax(0),
    "logsumexp": lambda z: z.logsumexp(0),
    "pool": lambda z: ocl.nn.functional.max_pool1d(z.reshape(1, 1, -1), 2),
    "norm": lambda z: ocl.nn.functional.layer_norm(z, z.shape),
    "cross_entropy": lambda z: ocl.nn.functional.cross_entropy(z.reshape(1, -1), ocl.tensor([0])),
    "and": lambda z: z & z,
    "remainder": lambda z: z % 2,
    "clamp": lambda z: z.clamp(0, 1),
    "searchsorted": lambda z: ocl.searchsorted(z, z),
    "cummax": lambda z: z.cummax(0),
    "histc": lambda z: z.histc(),
    "random": lambda z: z.uniform_(),
    "imag of real numbers": lambda z: z.real.imag,
    "view_as_real of real numbers": lambda z: ocl.view_as_real(z.real),
    "complex of integers": lambda z: ocl.complex(ocl.ones(2, dtype=ocl.int64), ocl.ones(2, dtype=ocl.int64)),
    "in place into real numbers": lambda z: z.real.contiguous().mul_(1j),
    "interpolate": lambda z: ocl.nn.functional.interpolate(z.reshape(1, 1, -1), scale_factor=2),
    "gelu": lambda z: ocl.nn.functional.gelu(z),
    "dropout": lambda z: ocl.nn.functional.embedding_bag(ocl.tensor([[0]]), z.reshape(1, -1)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    z = ocl.tensor(numbers((4,), dtype="complex64"))
    with pytest.raises((TypeError, NotImplementedError, ValueError), match="complex|dtype|cast|expected"):
        REFUSED[name](z)
        ocl.synchronize()


def test_other_refusals():
    with pytest.raises(ValueError, match="last dimension of size 2"):
        ocl.view_as_complex(ocl.zeros(3))
    with pytest.raises(ValueError, match="even"):
        ocl.view_as_complex(ocl.zeros(7)[1:].reshape(3, 2))
    with pytest.raises(RuntimeError, match="real scalar"):
        ocl.ones(1, dtype=ocl.complex64, requires_grad=True).sum().backward()
    with pytest.raises((TypeError, ValueError), match="cannot be converted|complex"):
        ocl.full((2,), 1j, dtype=ocl.float32)
    with pytest.raises((TypeError, ValueError), match="cannot be converted|complex"):
        ocl.zeros(2).fill_(1j)


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.1},
    "AdamW": {"lr": 0.1, "amsgrad": True},
    "Adagrad": {"lr": 0.1},
    "RMSprop": {"lr": 0.1, "momentum": 0.5},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_the_parts(name):
    """The steps are PyTorch's, also from a state that was saved after three of them."""

    def trained(lib):
        weight = lib.tensor(numbers((5,), 3), requires_grad=True)
        real = lib.tensor(reals((5,), 4), requires_grad=True)
        optimizer = getattr(lib.optim, name)([weight, real], **OPTIMIZERS[name])
        for step in range(6):
            if step == 3:
                state = optimizer.state_dict()
                optimizer = getattr(lib.optim, name)([weight, real], **OPTIMIZERS[name])
                optimizer.load_state_dict(state)
            optimizer.zero_grad()
            ((weight * real).abs() ** 2 + (weight * (1 - 2j)).real).sum().backward()
            optimizer.step()
        return [weight.detach().numpy(), real.detach().numpy()]

    for mine, theirs in zip(trained(ocl), trained(torch), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_every_method_is_given_its_tensor():
    assert [
        name for name, member in vars(ocl.Tensor).items() if isinstance(member, types.BuiltinFunctionType)
    ] == []
    np.testing.assert_array_equal(ocl.tensor([1 + 2j]).conj_physical().numpy(), [1 - 2j])


# --- complex numbers in the place of real ones

COMPLEX_PARAMETERS = {
    "leaky_relu": lambda x: ocl.nn.functional.leaky_relu(x, 1j),
    "elu": lambda x: ocl.nn.functional.elu(x, alpha=2 - 1j),
    "softplus": lambda x: ocl.nn.functional.softplus(x, beta=1j),
    "hardshrink": lambda x: ocl.nn.functional.hardshrink(x, 1j),
    "threshold": lambda x: ocl.nn.functional.threshold(x, 1j, 0.0),
    "alpha": lambda x: ocl.add(x, x, alpha=1j),
    "value": lambda x: ocl.addcmul(x, x, x, value=1j),
    "whole alpha": lambda x: ocl.add(x.long(), x.long(), alpha=1j),
    "in place": lambda x: x.add_(x, alpha=1j),
    "bound": lambda x: ocl.clamp(x, min=1j),
    "bound in place": lambda x: x.clamp_(max=1j),
}


@pytest.mark.parametrize("call", COMPLEX_PARAMETERS.values(), ids=COMPLEX_PARAMETERS)
def test_no_imaginary_part_is_dropped(call):
    x = ocl.ones(3)
    with pytest.raises(
        (ValueError, TypeError), match=r"j cannot be converted to|not implemented for complex"
    ):
        call(x)
    assert x.tolist() == [1, 1, 1]
    assert ocl.nn.functional.leaky_relu(-x, 2 + 0j).tolist() == [-2, -2, -2]
