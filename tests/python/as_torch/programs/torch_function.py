"""The classes of PyTorch's page "Extending PyTorch", and other users of `__torch_function__`."""

import functools

import torch
import torch.nn.functional as F
from torch import overrides

HANDLED_FUNCTIONS = {}
NAMES_FROM_BEFORE = {torch.relu: "relu", torch.zeros: "zeros", torch.Tensor.exp: "exp"}


def show(*values):
    text = " ".join(f"{v.tolist()}" if type(v) is torch.Tensor else str(v) for v in values)
    print("SEEN", text.replace("ocl._C.", "torch.").replace("ocl.", "torch."))


def refused(function, *args):
    try:
        function(*args)
    except TypeError:
        show("refused")
    else:
        show("taken")


def implements(torch_function):
    def decorator(func):
        functools.update_wrapper(func, torch_function)
        HANDLED_FUNCTIONS[torch_function] = func
        return func

    return decorator


class ScalarTensor:
    """No tensor, and made before anything has asked."""

    def __init__(self, N, value):
        self._N, self._value = N, value

    def __repr__(self):
        return f"ScalarTensor(N={self._N}, value={self._value})"

    def tensor(self):
        return self._value * torch.eye(self._N)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None:
            kwargs = {}
        if func not in HANDLED_FUNCTIONS or not all(
            issubclass(t, (torch.Tensor, ScalarTensor)) for t in types
        ):
            return NotImplemented
        return HANDLED_FUNCTIONS[func](*args, **kwargs)


@implements(torch.mean)
def mean(input):
    return float(input._value) / input._N


def ensure_tensor(data):
    return data.tensor() if isinstance(data, ScalarTensor) else torch.as_tensor(data)


@implements(torch.add)
def add(input, other):
    try:
        if input._N == other._N:
            return ScalarTensor(input._N, input._value + other._value)
        raise ValueError("Shape mismatch!")
    except AttributeError:
        return torch.add(ensure_tensor(input), ensure_tensor(other))


d = ScalarTensor(5, 2)
show(torch.mean(d))
s = ScalarTensor(2, 2)
show(torch.add(s, s), torch.add(s, torch.tensor([[1.0, 1], [1, 1]])))
refused(torch.mul, s, 3)
refused(torch.stack, [s, s])
refused(F.relu, s)
refused(lambda: torch.ones(2) + s)
show(overrides.is_tensor_like(s), overrides.is_tensor_like(torch.ones(1)), overrides.is_tensor_like(1))
show(overrides.has_torch_function((s,)), overrides.has_torch_function((torch.ones(1), 2)))
show(overrides.has_torch_function((torch.nn.Parameter(torch.ones(1)),)))


class Noting:
    """An object that answers each function with its name and arguments."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "noted", func.__name__, len(types), len(args), sorted(kwargs or {})


n, t = Noting(), torch.ones(2)
show(
    torch.add(n, 1, alpha=3),
    torch.cat([t, n]),
    t[n],
    t.add(n),
    t.add_(n),
    torch.where(n, 1, 2),
    torch.sum(n, dim=0),
)
show(
    t + n, t * n, t @ n, F.softmax(n, dim=0)[:3], torch.linalg.inv(n), torch.fft.fft(n), torch.special.erf(n)
)
show(
    F.linear(t, n),
    F.conv2d(n, t),
    torch.einsum("i->", n)[:3],
    torch.matmul(t, n),
    torch.stack((n, n)),
    torch.max(n),
)


class MetadataTensor:
    def __init__(self, data, metadata=None, **kwargs):
        self._t, self._metadata = torch.as_tensor(data, **kwargs), metadata

    def __repr__(self):
        return f"Metadata:\n{self._metadata}\n\ndata:\n{self._t.tolist()}"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None:
            kwargs = {}
        metadatas = tuple(a._metadata for a in args if hasattr(a, "_metadata"))
        args = [getattr(a, "_t", a) for a in args]
        assert len(metadatas) > 0
        ret = func(*args, **kwargs)
        return MetadataTensor(ret, metadata=metadatas[0])


metadata = {"owner": "Ministry of Silly Walks"}
m = MetadataTensor([[1, 2], [3, 4]], metadata=metadata)
show(torch.add(m, torch.tensor([[1, 2], [1, 2]])), torch.mul(m, torch.tensor([[6.0, 7]])))


class LoggingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is not torch.Tensor.__repr__:
            show(
                "func:", func.__name__, len(args), sorted(t.__name__ for t in types if t is not torch.Tensor)
            )
        if kwargs is None:
            kwargs = {}
        return super().__torch_function__(func, types, args, kwargs)


class SubLogging(LoggingTensor):
    pass


def classes(value):
    return [classes(v) for v in value] if isinstance(value, (tuple, list)) else type(value).__name__


x = torch.tensor([[1.0, -2.0], [3.0, 4.0]]).as_subclass(LoggingTensor)
sub = torch.ones(2, 2).as_subclass(SubLogging)
OPERATORS = """x+1|1+x|x-1|1-x|x*2|2*x|x/2|x//2|2//x|x%2|2%x|x**2|2**x|x@x
-x|+x|abs(x)|x==1|x!=1|x<1|x>=1|x[0]
len(x)|x.bool()&True|~x.bool()|x.int()<<1|1 in x|bool(x[0,0])|int(x[0,0])|float(x[0,0])|x.shape|x.dtype|x.T
x.data|x.grad|x.is_leaf|x.requires_grad|x.ndim|x.size()|x.dim()|x.numel()|x.tolist()|x.clone()|x.detach()
x.contiguous()|x.sum()
torch.zeros_like(x)|torch.stack([x,x])|torch.split(x,1)|torch.max(x,0)|x.topk(1)|torch.equal(x,x)
torch.where(x>0,x,0*x)
F.relu(x)|F.softmax(x,dim=1)|F.linear(x,x)|F.mse_loss(x,torch.ones(2,2))
x+sub|sub+x|torch.add(torch.ones(2,2),sub)
x.to(torch.float64)|x.reshape(4)|x.view(-1)
torch.cat([x,sub])|torch.linalg.det(x)
torch.is_tensor(x)|hash(x)==id(x)
x.new_zeros(2)|x.exp()|torch.numel(x)|torch.result_type(x,x)|torch.is_floating_point(x)"""
for line in OPERATORS.replace("\n", "|").split("|"):
    show(line, classes(eval(line)))
for line in (
    "x+=1",
    "x-=1",
    "x*=2",
    "x/=2",
    "x//=2",
    "x[0]=1",
    "x.grad=None",
    "x.mul_(2)",
    "x.requires_grad=True",
):
    names = {"x": torch.ones(2, 2).as_subclass(LoggingTensor), "torch": torch}
    exec(line, names)
    show(line, classes(names["x"]))
show(repr(x.add(0.5)).split(", device")[0].rstrip(")"))
leaf = torch.tensor([1.0, 2.0], requires_grad=True)
y = (leaf.as_subclass(LoggingTensor) * 3).sum()
y.backward()
show(leaf.grad)

with torch._C.DisableTorchFunctionSubclass():
    show(classes(x + 1), classes(torch.split(x, 1)), classes(x.add_(0)), overrides.has_torch_function((x,)))


class Disabled(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


off = torch.ones(2).as_subclass(Disabled)
show(
    classes(off + 1),
    classes(off.add_(1)),
    overrides.has_torch_function((off,)),
    classes(torch.stack([off, off])),
)


class Refusing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


refusing = torch.ones(2, 2).as_subclass(Refusing)
refused(torch.add, refusing, 1)
refused(lambda: refusing + 1)


class FunctionLog(overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        show("mode", overrides.resolve_name(func), NAMES_FROM_BEFORE.get(func))
        return func(*args, **(kwargs or {}))


with FunctionLog():
    a = torch.zeros(3, device="cpu")
    b = torch.relu(a + 1).exp()
    torch.get_default_dtype(), torch.is_grad_enabled(), torch.tensor([1.0]).shape


class Doubling(overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is torch.ones else result


with Doubling(), Doubling():
    show(torch.ones(2))
with Doubling() as outer:
    show(
        overrides._get_current_function_mode() is outer,
        overrides.has_torch_function((1,)),
        overrides.has_torch_function(()),
    )
    with torch._C.DisableTorchFunction():
        show(torch.ones(1))
show(torch.ones(1), overrides.has_torch_function((1,)))


class Filling(overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented if func is torch.sub else func(*args, **(kwargs or {}))


with Filling():
    refused(torch.sub, torch.ones(1), 1)
    show(torch.sub(n, 1))


def own_function(input, other=None):
    if overrides.has_torch_function((input, other)):
        return overrides.handle_torch_function(own_function, (input, other), input, other=other)
    return "plain"


show(own_function(torch.ones(1)), own_function(n), own_function(torch.ones(1), n))
refused(own_function, refusing)


@overrides.wrap_torch_function(lambda input: (input,))
def wrapped(input):
    return "plain"


show(wrapped(1), wrapped(n))
show(overrides.resolve_name(torch.add), overrides.resolve_name(torch.Tensor.add), overrides.resolve_name(len))
show(overrides.resolve_name(torch.Tensor.shape.__get__), overrides.resolve_name(torch.nn.functional.relu))
show(
    overrides.is_tensor_method_or_property(torch.Tensor.add),
    overrides.is_tensor_method_or_property(torch.add),
)
show(overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__))
functions = overrides.get_overridable_functions()
show(
    torch.add in functions[torch],
    torch.Tensor.add in functions[torch.Tensor],
    torch.zeros in functions[torch],
)
show(torch.zeros in overrides.get_ignored_functions(), torch.add in overrides.get_ignored_functions())
