"""Whatever a Python class can do, one derived from a class of ours can: tests run with PyTorch too."""

import abc
import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import typing
import weakref
from typing import Generic, Protocol, TypeVar

import pytest

import ocl

T = TypeVar("T")
LAYERS = {
    "Module": (),
    "Linear": (2, 3),
    "Conv2d": (1, 2, 3),
    "BatchNorm1d": (2,),
    "LayerNorm": (2,),
    "Embedding": (3, 2),
    "LSTM": (2, 3),
    "GRUCell": (2, 3),
    "MultiheadAttention": (4, 2),
    "TransformerEncoderLayer": (4, 2, 8),
    "Dropout": (),
    "ReLU": (),
    "GELU": (),
    "Identity": (),
    "Flatten": (),
    "MSELoss": (),
    "CrossEntropyLoss": (),
    "Sequential": (),
    "ModuleList": (),
    "ModuleDict": (),
    "ParameterList": (),
    "ParameterDict": (),
}


class Meta(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.marked = True
        return made


class Named(Protocol):
    def title(self) -> str: ...


# --- metaclasses


@pytest.mark.parametrize("layer", LAYERS)
def test_any_metaclass(nn, layer):
    base = getattr(nn, layer)

    class Abstract(base, abc.ABC):
        @abc.abstractmethod
        def title(self): ...

    class Concrete(Abstract):
        def title(self):
            return "concrete"

    class Marked(base, metaclass=Meta):
        pass

    class Typed(base, Generic[T]):
        pass

    class Protocolled(base, Named):
        def title(self):
            return "protocolled"

    assert type(base) is type
    with pytest.raises(TypeError, match="abstract"):
        Abstract(*LAYERS[layer])
    for kind in (Concrete, Marked, Typed, Protocolled):
        made = kind(*LAYERS[layer])
        again = copy.deepcopy(made.eval())
        assert type(again) is kind and not again.training and isinstance(again, base)
        assert list(again.state_dict()) == list(made.state_dict()) == list(base(*LAYERS[layer]).state_dict())
    assert Marked(*LAYERS[layer]).marked
    assert isinstance(Concrete(*LAYERS[layer]), Abstract)
    assert type(Typed[int](*LAYERS[layer])) is Typed


def test_abcs_of_others(nn):
    class Sized(abc.ABC):  # noqa: B024
        @classmethod
        def __subclasshook__(cls, kind):
            return cls is Sized and hasattr(kind, "__len__") or NotImplemented

    class Registered(abc.ABC):  # noqa: B024
        pass

    Registered.register(nn.Linear)
    assert isinstance(nn.Sequential(), Sized) and not isinstance(nn.ReLU(), Sized)
    assert isinstance(nn.Linear(1, 1), Registered) and not isinstance(nn.ReLU(), Registered)


def test_optimizers_schedules_and_functions(library):
    class Abstract(library.optim.SGD, abc.ABC):
        @abc.abstractmethod
        def title(self): ...

    class Own(library.optim.Optimizer, metaclass=Meta):
        def __init__(self, parameters):
            super().__init__(parameters, {"lr": 1.0})

    class Constant(library.optim.lr_scheduler.LRScheduler, abc.ABC):
        def get_lr(self):
            return [0.5]

    parameters = [library.nn.Parameter(library.zeros(1))]
    with pytest.raises(TypeError, match="abstract"):
        Abstract(parameters, lr=0.1)
    own = Own(parameters)
    assert own.marked
    Constant(own)
    assert own.param_groups[0]["lr"] == 0.5


class AbstractTensor(ocl.Tensor, abc.ABC):
    @abc.abstractmethod
    def title(self): ...


class MarkedTensor(ocl.Tensor, metaclass=abc.ABCMeta):
    pass


class SilentTensor(ocl.Tensor):
    def __init_subclass__(cls, **options):
        """Tells nobody."""


class QuietTensor(SilentTensor):
    pass


class TypedTensor(ocl.Tensor, Generic[T]):
    pass


class AbcParameter(ocl.nn.Parameter, abc.ABC):
    pass


@pytest.mark.parametrize("kind", [MarkedTensor, QuietTensor, AbcParameter, TypedTensor[int]])
def test_tensors_of_any_metaclass(kind):
    with pytest.raises(TypeError, match="abstract"):
        AbstractTensor([1.0])
    tensor = kind(ocl.zeros(2)) if kind is AbcParameter else kind([1.0, 2.0])
    tensor.itself = tensor
    module = ocl.nn.Module()
    module.register_buffer("kept", tensor)
    number = id(tensor)
    del tensor
    gc.collect()
    assert id(module.kept) == number and module.kept.itself is module.kept  # kept with the tensor of C++
    gone = weakref.ref(module.kept)
    del module
    gc.collect()
    assert gone() is None


def test_a_tensor_may_change_its_class():
    class Own(SilentTensor):
        title = "own"

    tensor = ocl.ones(2)
    tensor.__class__ = Own
    assert tensor.title == "own" and type(tensor + 1) is Own
    module = ocl.nn.Module()
    module.register_buffer("kept", tensor)
    tensor.note = 5
    del tensor
    gc.collect()
    assert module.kept.note == 5
    module.kept.__class__ = ocl.Tensor
    assert type(module.kept) is ocl.Tensor
    with pytest.raises(TypeError):
        module.kept.__class__ = int


# --- before __init__


def test_plain_attributes_before_init(nn):
    class Net(nn.Module):
        def __init__(self):
            self.inplanes = 64
            self.training = False
            self.act = lambda x: x
            super().__init__()
            self.layer = nn.Linear(self.inplanes, 2)

    class Layer(nn.Linear):
        def __init__(self):
            self.in_features = 7
            assert self.in_features == 7 and not hasattr(self, "weight")
            self.note = "kept"
            super().__init__(2, 3)

    assert Net().inplanes == 64 and Net().training
    assert Layer().in_features == 2 and Layer().note == "kept"


def test_what_is_refused_before_init(library, nn):
    def set_early(make_value):
        class Net(nn.Module):
            def __init__(self):
                self.early = make_value()

        with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call") as error:
            Net()
        return str(error.value)

    assert set_early(lambda: nn.Linear(1, 1)) == "cannot assign module before Module.__init__() call"
    assert set_early(lambda: nn.Parameter(library.zeros(1))) == (
        "cannot assign parameters before Module.__init__() call"
    )
    assert "cannot assign buffer" in set_early(lambda: nn.Buffer(library.zeros(1)))


def test_objects_without_init(nn):
    class Net(nn.Module):
        def __init__(self):
            pass

    net = Net()
    net.plain = 1
    assert net.plain == 1 and not hasattr(net, "weight")
    for use in (lambda: net(1), net.state_dict, lambda: repr(net), net.train, lambda: list(net.parameters())):
        with pytest.raises((AttributeError, TypeError)):
            use()
    with pytest.raises(AttributeError):
        _ = net.missing


def test_a_forward_that_is_set_before_init(library, nn):
    class Net(nn.Module):
        def __init__(self):
            self.forward = lambda x: x + 1
            super().__init__()

    assert Net()(library.zeros(1)).item() == 1
    assert nn.Sequential(Net(), Net())(library.zeros(1)).item() == 2


# --- several bases, several __init__s


def test_bases_in_any_order(library, nn):
    class Base(nn.Module):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.tag = 1

    class First(Base, nn.Linear):
        pass

    class Last(nn.Linear, Base):
        pass

    class Chain(Base, nn.Sequential):
        pass

    for made in (First(2, 3), Chain(nn.Linear(2, 3), nn.ReLU())):
        assert made.tag == 1 and len(list(made.parameters())) == 2
        assert tuple(copy.deepcopy(made)(library.zeros(1, 2)).shape) == (1, 3)
    assert tuple(Last(2, 3)(library.zeros(1, 2)).shape) == (1, 3)


def test_module_init_alone(library, nn):
    class Own(nn.Linear):
        def __init__(self, size):
            nn.Module.__init__(self)
            assert list(self.parameters()) == []
            self.in_features = self.out_features = size
            self.weight = nn.Parameter(library.ones(size, size))
            self.register_parameter("bias", None)

    own = Own(2)
    assert own(library.ones(1, 2)).tolist() == [[2, 2]]
    assert list(own.state_dict()) == ["weight"] and "in_features=2" in repr(own)
    assert copy.deepcopy(own)(library.ones(1, 2)).tolist() == [[2, 2]]

    class Holder(nn.Sequential):
        def __init__(self):
            super(nn.Sequential, self).__init__()
            self.add_module("one", nn.ReLU())

    assert len(Holder()) == 1


@pytest.mark.parametrize("layer", LAYERS)
def test_module_init_alone_of_every_layer(nn, layer):
    class Own(getattr(nn, layer)):
        def __init__(self):
            nn.Module.__init__(self)

    assert list(Own().state_dict()) == [] and list(Own().children()) == []


def test_init_of_each_base(library, nn):
    class Base(nn.Module):
        def __init__(self):
            nn.Module.__init__(self)
            self.tag = 1

    class Layer(Base, nn.Linear):
        def __init__(self):
            Base.__init__(self)
            nn.Linear.__init__(self, 2, 3)

    assert tuple(Layer()(library.zeros(1, 2)).shape) == (1, 3) and Layer().tag == 1


@pytest.mark.parametrize("layer", LAYERS)
def test_init_again(nn, layer):
    module = getattr(nn, layer)(*LAYERS[layer])
    names = list(module.state_dict())
    module.register_forward_hook(lambda *given: None)
    module.extra = nn.Linear(1, 1)
    module.eval().plain = 1
    module.__init__(*LAYERS[layer])
    assert list(module.state_dict()) == names
    assert not hasattr(module, "extra") and not module._forward_hooks
    assert module.plain == 1 and module.training


def test_init_again_with_other_options(library, nn):
    layer = nn.Linear(2, 3)
    layer.__init__(4, 5, bias=False)
    assert layer.bias is None and tuple(layer(library.zeros(1, 4)).shape) == (1, 5)
    chain = nn.Sequential(nn.ReLU())
    chain.__init__(nn.Tanh(), nn.Tanh())
    assert len(chain) == 2


def test_two_layers_at_once_are_refused():
    class Both(ocl.nn.Linear, ocl.nn.Conv2d):
        pass

    with pytest.raises(TypeError, match="Linear.*Conv2d"):
        Both(1, 2, 3)


def test_call_super_init(nn):
    class Mixin:
        def __init__(self, size=1):
            self.size = size

    class Cooperative(nn.Module, Mixin):
        call_super_init = True

        def __init__(self, size):
            super().__init__(size=size)

    class Plain(nn.Module, Mixin):
        pass

    assert Cooperative(5).size == 5
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        Plain(size=3)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        Plain(3)


# --- what else classes do


def test_dataclasses(library, nn):
    @dataclasses.dataclass(eq=False)
    class Net(nn.Module):
        size: int
        name: str = "net"
        sizes: list = dataclasses.field(default_factory=list)

        def __post_init__(self):
            super().__init__()
            self.layer = nn.Linear(self.size, 1)

        def forward(self, x):
            return self.layer(x)

    net = copy.deepcopy(Net(3))
    assert net.size == 3 and net.sizes == [] and tuple(net(library.zeros(1, 3)).shape) == (1, 1)
    assert [field.name for field in dataclasses.fields(net)] == ["size", "name", "sizes"]


def test_slots_properties_and_descriptors(nn):
    class Doubled:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, module, owner=None):
            return self if module is None else getattr(module, self.name)

        def __set__(self, module, value):
            setattr(module, self.name, 2 * value)

    class Net(nn.Module):
        __slots__ = ("slot",)
        doubled = Doubled()
        registry = {}

        def __init_subclass__(cls, key=None, **options):
            super().__init_subclass__(**options)
            Net.registry[key] = cls

        def __class_getitem__(cls, key):
            return cls.registry[key]

        def __new__(cls, *args, **kwargs):
            made = super().__new__(cls)
            nn.Module.__init__(made)
            return made

        def __init__(self):
            self.doubled = 2
            self.slot = 3

        @property
        def tripled(self):
            return self._tripled

        @tripled.setter
        def tripled(self, value):
            self._tripled = 3 * value

        @functools.cached_property
        def cached(self):
            return object()

    class Derived(Net, key="derived"):
        pass

    net = Derived()
    net.tripled = 5
    assert (net.doubled, net.slot, net.tripled) == (4, 3, 15) and net.cached is net.cached
    assert Net["derived"] is Derived
    object.__setattr__(net, "raw", 1)
    net.__dict__["entry"] = 2
    assert (net.raw, net.entry) == (1, 2)


def test_getattr_and_setattr_of_ones_own(nn):
    class Wrapper(nn.Module):
        def __init__(self, wrapped):
            super().__init__()
            self.wrapped = wrapped

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.wrapped, name)

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            self.__dict__.setdefault("names", []).append(name)

    wrapper = Wrapper(nn.Linear(2, 3))
    assert wrapper.in_features == 2 and "wrapped" in wrapper.names
    with pytest.raises(AttributeError):
        _ = wrapper.missing


def test_functools(library, nn):
    class Net(nn.Module):
        def total(self, a, b):
            return a + b

        one_more = functools.partialmethod(total, 1)
        freeze = functools.partialmethod(nn.Module.requires_grad_, False)

        @functools.singledispatchmethod
        def kind(self, value):
            return "object"

        @kind.register
        def _(self, value: int):
            return "int"

    @functools.singledispatch
    def kind(value):
        return "object"

    kind.register(nn.Module)(lambda value: "module")
    kind.register(nn.Linear)(lambda value: "linear")
    kind.register(library.Tensor)(lambda value: "tensor")
    assert Net().one_more(2) == 3 and isinstance(Net().freeze(), Net)
    assert Net().kind(1) == "int" and Net().kind("") == "object"
    assert [kind(value) for value in (nn.ReLU(), nn.Linear(1, 1), library.zeros(1), 1)] == [
        "module",
        "linear",
        "tensor",
        "object",
    ]
    assert functools.partial(library.Tensor.add, library.ones(1))(1).item() == 2
    assert functools.wraps(nn.Linear.forward)(lambda self: None).__name__ == "forward"


def test_methods_are_values(library, nn):
    classes = [library.Tensor, nn.Module, nn.Linear, nn.LSTM, nn.Sequential, library.device]
    methods = [getattr(kind, name) for kind in classes for name in dir(kind)]
    for method in filter(callable, methods):
        assert hash(method) == hash(method) and method == method
    overrides = {library.Tensor.add: 1, library.Tensor.__add__: 2, nn.Linear.forward: 3}
    assert overrides[library.Tensor.add] == 1 and overrides[nn.Linear.forward] == 3
    assert library.Tensor.add is library.Tensor.add and library.Tensor.add != library.Tensor.mul
    tensor = library.ones(1)
    assert tensor.add == tensor.add and hash(tensor.add) == hash(tensor.add)
    for value in (library.Tensor.add, nn.Linear.forward, nn.Linear, library.Tensor, library.add):
        assert pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value
    assert library.Tensor.add.__name__ == "add" and nn.Linear.forward.__qualname__.endswith(".forward")
    assert library.Tensor.add.__doc__ and callable(nn.Module.__call__)
    assert list(inspect.signature(nn.Linear.forward).parameters) == ["self", "input"]
    assert list(inspect.signature(nn.Linear(1, 1).forward).parameters) == ["input"]
    assert inspect.isroutine(library.Tensor.add)
    weakref.ref(nn.Linear.forward), weakref.ref(nn.Linear(1, 1)), weakref.ref(nn.Linear)


def test_methods_bind_where_they_stand(library, nn):
    class Layer(nn.Linear):
        plain = nn.Linear.forward

        def forward(self, x):
            return self.plain(x) + 1

    nn.Linear.another_name = nn.Linear.forward
    try:
        assert tuple(nn.Linear(1, 2).another_name(library.zeros(1, 1)).shape) == (1, 2)
    finally:
        del nn.Linear.another_name
    assert tuple(Layer(1, 2)(library.zeros(1, 1)).shape) == (1, 2)


def test_type_hints(library, nn):
    class Net(nn.Module):
        size: int

        def forward(self, x: library.Tensor, scale: float = 1.0) -> library.Tensor:
            return x * scale

    assert typing.get_type_hints(Net)["size"] is int
    assert typing.get_type_hints(Net.forward)["return"] is library.Tensor
    assert str(inspect.signature(Net().forward)).startswith("(x: ")
    assert isinstance(typing.get_type_hints(nn.Linear.forward), dict)
