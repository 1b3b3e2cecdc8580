"""NumPy arrays and scalars beside a tensor, on either side of every operator, and NumPy's own functions."""

import operator

import numpy as np
import pytest
import torch
from support import assert_same, skip_without

import ocl

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
DIFFERENTIABLE = ("add", "sub", "mul", "truediv", "pow")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BITWISE = ("and_", "or_", "xor")
DTYPES = ("float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
X = np.array([[1.0, 2.0, 3.0], [4.0, 0.5, 2.5]], np.float32)
Y = np.array([2.0, 1.0, 3.0], np.float32)


def check(name, ours, array):
    """The operator with the array on the right and on the left gives what two tensors of PyTorch's give."""
    function = getattr(operator, name)
    theirs, other = torch.tensor(ours.detach().numpy()), torch.tensor(array.copy())
    for actual, expected in (
        (function(ours, array), function(theirs, other)),
        (function(array, ours), function(other, theirs)),
    ):
        if name == "pow" and expected.is_floating_point():  # which GPUs round otherwise
            np.testing.assert_array_max_ulp(actual.numpy(), expected.numpy(), 4)
            actual = ocl.tensor(expected.numpy())
        assert_same(actual, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_values_and_dtypes(name, dtype):
    if (name, dtype) == ("sub", "bool"):  # which PyTorch refuses
        return
    for array in (Y.astype(dtype), Y[1:2].astype(dtype), np.array(1, dtype), X.astype(dtype)[:, ::-1]):
        check(name, ocl.tensor(X), array)


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_float64_arrays_promote_and_numbers_do_not(name):
    skip_without("float64")
    function, x = getattr(operator, name), ocl.tensor(X)
    check(name, x, Y.astype(np.float64))
    numbers = (np.float64(2), np.float32(2), np.float16(2), np.int64(2), np.uint8(2), np.bool_(True))
    for number in (*numbers, np.longdouble(2)):
        plain = float(number) if isinstance(number, np.longdouble) else number.item()
        for ours, theirs in (
            (function(x, number), function(x, plain)),
            (function(number, x), function(plain, x)),
        ):
            assert type(ours) is ocl.Tensor and ours.dtype == theirs.dtype
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", BITWISE)
def test_bits(name):
    check(name, ocl.tensor([[5, 6, 12]]), np.array([3, 9, 7]))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("array", [Y, np.array(2.0, np.float32), np.float64(2), np.int64(2)], ids=repr)
def test_gradients(name, array):
    function = getattr(operator, name)
    other = torch.tensor(array) if isinstance(array, np.ndarray) else array.item()
    for left in (False, True):
        x, t = ocl.tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
        ours = function(array, x) if left else function(x, array)
        theirs = function(other, t) if left else function(t, other)
        assert ours.requires_grad
        ours.sum().backward()
        theirs.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), rtol=1e-6)


def test_products_of_matrices():
    x, w = ocl.tensor(X, requires_grad=True), np.ones((3, 2), np.float32)
    for product, gradient in ((x @ w, 2.0), (np.ones((4, 2), np.float32) @ x, 4.0)):
        x.grad = None
        product.sum().backward()
        assert x.grad.tolist() == [[gradient] * 3] * 2


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
def test_a_tensor_in_place(name):
    function = getattr(operator, name)
    for array in (Y, Y[:1], np.array(2.0, np.float32), np.array([2, 1, 3]), np.float64(2)):
        leaf = ocl.tensor(X, requires_grad=True)
        x = leaf * 1
        result = function(x, array)
        expected = function(torch.tensor(X), torch.tensor(array))
        assert result is x and x.requires_grad
        np.testing.assert_allclose(x.detach().numpy(), expected.numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="broadcast shape"):
        function(ocl.tensor(Y), X)
    with pytest.raises(RuntimeError, match="leaf"):
        function(ocl.tensor(X, requires_grad=True), Y)


@pytest.mark.parametrize("name", ["iand", "ior", "ixor"])
def test_bits_in_place(name):
    x = ocl.tensor([5, 6])
    result = getattr(operator, name)(x, np.array([3, 9]))
    assert result is x
    assert x.tolist() == getattr(operator, name)(np.array([5, 6]), np.array([3, 9])).tolist()


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_an_array_in_place_stays_an_array(name):
    array = Y.copy()
    result = getattr(operator, name)(array, ocl.tensor(Y))
    assert result is array
    np.testing.assert_array_equal(array, getattr(operator, name)(Y.copy(), Y))
    with pytest.raises(RuntimeError, match=r"Use tensor.detach\(\).numpy\(\)"):
        getattr(operator, name)(array, ocl.tensor(Y, requires_grad=True))


def test_it_lies_on_the_device_of_the_tensor(device):
    x = ocl.tensor(X, device=device)
    for result in (x + Y, Y + x, x == Y, np.sin(x)):
        assert result.device == x.device


@pytest.mark.parametrize("dtype", ["clongdouble", "object", "U1", "datetime64[s]"])
@pytest.mark.parametrize("function", [operator.add, operator.mul, operator.eq, operator.lt])
def test_dtypes_that_there_are_not(function, dtype):
    array, x = np.zeros(3).astype(dtype), ocl.tensor(Y)
    with pytest.raises(TypeError, match=array.dtype.name[:6]):
        function(x, array)
    with pytest.raises(TypeError, match=array.dtype.name[:6]):
        function(array, x)


def test_arrays_of_the_other_byte_order_and_of_negative_strides():
    x = ocl.tensor(Y)
    assert (x + Y.astype(">f4")).tolist() == (Y + Y).tolist()
    assert (Y[::-1] - x).tolist() == (Y[::-1] - Y).tolist()


def test_empty_arrays():
    assert (ocl.ones(0, 3) + np.ones((0, 3), np.float32)).shape == (0, 3)
    assert (np.ones((0, 3), np.float32) * ocl.ones(3)).shape == (0, 3)


def test_subclasses_and_parameters():
    p = ocl.nn.Parameter(ocl.tensor(Y))
    (Y * p).sum().backward()
    assert p.grad.tolist() == Y.tolist()

    class Named(ocl.Tensor):
        pass

    assert type(Y * Named([1.0, 2.0, 3.0])) is Named


# --- what NumPy asks a tensor for


def test_universal_functions_give_tensors():
    x = ocl.tensor(Y)
    for function in (np.sin, np.exp, np.sqrt, np.negative, np.isnan):
        result = function(x)
        assert type(result) is ocl.Tensor
        np.testing.assert_array_equal(result.numpy(), function(Y))
    for result in (np.add(Y, x), np.add(x, Y), np.add(x, x), np.add(2.0, x), np.add([1.0, 2.0, 3.0], x)):
        assert type(result) is ocl.Tensor
    assert np.maximum(x, 2).tolist() == [2, 2, 3] and np.add.reduce(x).item() == Y.sum()
    assert [part.tolist() for part in np.modf(x)] == [part.tolist() for part in np.modf(Y)]
    with pytest.raises(TypeError, match="out"):
        np.add(Y, Y, out=x)


REFUSED = r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.numpy(),
        lambda t: (t * 2).numpy(),
        lambda t: t.numpy(out=np.empty(3, np.float32)),
        lambda t: np.asarray(t),
        lambda t: np.array(t),
        lambda t: np.asarray(t, np.float64),
        lambda t: t.__array__(),
        lambda t: np.sin(t),
        lambda t: np.maximum(t, 0),
        lambda t: np.testing.assert_allclose(t, Y),
        lambda t: np.concatenate([t, t]),
        lambda t: np.zeros(3).__setitem__(slice(None), t),
    ],
)
def test_tensors_that_require_gradients_are_refused(call):
    t = ocl.tensor(Y, requires_grad=True)
    with pytest.raises(RuntimeError, match=REFUSED):
        call(t)
    call(t.detach())
    with ocl.no_grad():
        call(t)


def test_what_may_be_read_of_a_tensor_that_requires_gradients():
    t = ocl.tensor(Y, requires_grad=True)
    assert t.numpy(force=True).tolist() == t.tolist() == Y.tolist() and t[0].item() == Y[0]
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(t)
