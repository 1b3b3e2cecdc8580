"""Errors of arguments name the wrong one in one line, and never look at what tensors hold."""

import inspect

import pytest

import ocl
from ocl import nn
from ocl.nn import functional as F  # noqa: N812

X = ocl.ones(2, 3)

CASES = [
    (lambda: ocl.sum(X, axes=1), "sum() got an unexpected keyword argument 'axes'"),
    (lambda: X.sum(axes=1), "sum() got an unexpected keyword argument 'axes'"),
    (lambda: F.linear([1], X), "linear(): argument 'input' (position 1) must be Tensor, not list"),
    (lambda: F.linear(X, weight=[1]), "linear(): argument 'weight' must be Tensor, not list"),
    (lambda: F.linear(X), "linear() missing 1 required positional argument: 'weight'"),
    (lambda: ocl.matmul(), "matmul() missing 2 required positional arguments: 'input' and 'other'"),
    (lambda: ocl.relu(X, X, X), "relu() takes 1 positional argument but 3 were given"),
    (lambda: X.relu(1), "relu() takes 0 positional arguments but 1 was given"),
    (lambda: ocl.relu(X, input=X), "relu() got multiple values for argument 'input'"),
    (lambda: ocl.cat([X, 1]), "cat(): argument 'tensors' (position 1) must be tuple of Tensors, "
                              "but found element of type int at pos 1"),
    (lambda: ocl.cat([X, X], dim="a"), "cat(): argument 'dim' must be int, not str"),
    (lambda: X.sum("a"), "sum(): argument 'dim' (position 1) must be int or tuple of ints, not str"),
    (lambda: ocl.add(X, "a"), "add(): argument 'other' (position 2) must be Tensor or Number, not str"),
    (lambda: ocl.zeros(2, dtype="float32"), "zeros(): argument 'dtype' must be dtype, not str"),
    (lambda: nn.Linear(3), "Linear.__init__() missing 1 required positional argument: 'out_features'"),
    (lambda: nn.Linear(3, 4, biass=True), "Linear.__init__() got an unexpected keyword argument 'biass'"),
    (lambda: nn.Linear(3, []), "Linear.__init__(): argument 'out_features' (position 2) must be int, "
                               "not list"),
    (lambda: ocl.Tensor.sum(3), "descriptor 'sum' for 'Tensor' objects doesn't apply to a 'int' object"),
    (lambda: setattr(X, "grad", 5), "attribute 'grad' must be Tensor, not int"),
    (lambda: ocl.device(1.5), "device.__init__(): argument 'name' (position 1) must be str, device or int, "
                              "not float"),
    (lambda: ocl.conv2d(X, X, stride=(1, 2, 3)), "conv2d(): argument 'stride' must be int or tuple of 2 "
                                                 "ints, not tuple of 3"),
    (lambda: nn.Linear(10**20, 1), f"Linear.__init__(): argument 'in_features' is out of range: {10**20}"),
    (lambda: ocl.zeros(X), "expected sizes as ints, got Tensor"),
    (lambda: ocl.einsum("ij->i", None), "expected tensors, got NoneType"),
    (lambda: ocl.einsum("i,j->i", [X, 3]), "expected tensors, got int"),
    (lambda: ocl.meshgrid(X, None), "expected tensors, got NoneType"),
    (lambda: ocl.block_diag(X, "a"), "expected tensors, got str"),
    (lambda: ocl.cartesian_prod(X, None), "expected tensors, got NoneType"),
    (lambda: nn.utils.clip_grad_norm_([X, None], 1.0), "expected tensors, got NoneType"),
    (lambda: nn.LSTM(2, 2)(None), "expected tensors, got NoneType"),
    (lambda: ocl.zeros(2, device=[X]), "zeros(): argument 'device' must be device, str or int, not list"),
]  # fmt: skip


@pytest.fixture
def no_reading(monkeypatch):
    """Whoever prints a tensor fails."""

    def refuse(self):
        raise AssertionError("a tensor was printed")

    monkeypatch.setattr(ocl.Tensor, "__repr__", refuse)


@pytest.mark.parametrize(("call", "message"), CASES)
def test_the_wrong_argument_is_named(call, message, no_reading):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == message


def test_every_function_refuses_in_one_line(no_reading):
    """All that is bound, called with one argument too many that nothing takes."""
    called = 0
    for scope in (ocl._C, ocl._C._nn, ocl._C._optim, ocl.Tensor):
        for name, function in vars(scope).items():
            if inspect.isclass(function) or not callable(function) or name.startswith("__"):
                continue
            with pytest.raises(Exception) as error:  # noqa: PT011
                function(X, no_such_argument=X)
            assert "Invoked with" not in str(error.value), name
            assert "incompatible" not in str(error.value), name
            called += "unexpected keyword argument 'no_such_argument'" in str(error.value)
    assert called > 300


def test_operators_still_ask_the_other_side():
    class Other:
        def __radd__(self, left):
            return "mine"

    assert X + Other() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        X + "a"
    assert (X == "a") is False


def test_signatures():
    def parameters(function):
        return {name: p.default for name, p in inspect.signature(function).parameters.items()}

    empty = inspect.Parameter.empty
    assert parameters(ocl.cat) == {"tensors": empty, "dim": 0}
    assert parameters(ocl.Tensor.sum) == {"self": empty, "dim": None, "keepdim": False, "dtype": None}
    assert parameters(X.sum) == {"dim": None, "keepdim": False, "dtype": None}
    assert parameters(nn.functional.linear) == {"input": empty, "weight": empty, "bias": None}
    assert list(parameters(nn.Linear))[:3] == ["in_features", "out_features", "bias"]
    assert list(parameters(nn.Linear.__init__))[:3] == ["self", "in_features", "out_features"]
    assert parameters(nn.Parameter) == {"data": None, "requires_grad": True}


def test_everything_bound_has_a_signature():
    method = type(vars(ocl.Tensor)["sum"])
    checked = 0
    for scope in (ocl._C, ocl._C._nn, ocl._C._optim, ocl._C._data, ocl.Tensor):
        for function in vars(scope).values():
            has_constructor = inspect.isclass(function) and isinstance(vars(function).get("__init__"), method)
            if inspect.isbuiltin(function) or isinstance(function, method) or has_constructor:
                inspect.signature(function)
                checked += 1
    assert checked > 500


def test_documentation_stays():
    assert "Tensors joined along dim." in ocl.cat.__doc__
