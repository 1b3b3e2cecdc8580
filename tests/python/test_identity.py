"""One tensor is one Python object, as in PyTorch: identity, attributes, classes and weak references hold."""

import copy
import gc
import threading
import weakref

import pytest

import ocl
from ocl import nn


class Tagged(ocl.Tensor):
    deleted = []

    def __del__(self):
        self.deleted.append(tuple(self.shape))


class Slotted(ocl.Tensor):
    __slots__ = ("note",)


class Scaled(nn.Parameter):
    def __new__(cls, data, scale=1.0):
        self = super().__new__(cls, data)
        self.scale = scale
        return self


def test_a_tensor_is_one_object():
    net = nn.Linear(3, 2)
    assert net.weight is net.weight
    assert net.weight is dict(net.named_parameters())["weight"]
    assert list(net.parameters())[1] is net.bias
    x = ocl.zeros(2, 3)
    assert x.to(x.device) is x
    assert x.to(ocl.float32) is x
    assert x.contiguous() is x
    assert x.requires_grad_() is x
    y = ocl.zeros(2)
    before = y
    y += 1
    assert y is before
    assert y.add_(1) is y
    net(x).sum().backward()
    assert net.weight.grad is net.weight.grad
    assert x.grad is x.grad


def test_picking_parameters_by_identity():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
            self.fc = nn.Linear(3, 2)

    net = Net()
    ids = {id(p) for p in net.fc.parameters()}
    rest = [name for name, p in net.named_parameters() if id(p) not in ids]
    assert rest == ["body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias"]
    assert {p: 1 for p in net.parameters()}[net.fc.bias] == 1
    assert net.fc.weight in set(net.parameters())
    assert net.body[2].weight in list(net.body[2].parameters())
    assert hash(net.fc.weight) == hash(net.fc.weight)


def test_attributes_stay_while_cpp_holds_the_tensor():
    net = nn.Linear(3, 2)
    net.weight.no_decay = True
    where = id(net.weight)
    gc.collect()
    assert net.weight.no_decay
    assert id(net.weight) == where
    net.weight.grad = ocl.ones(2, 3)
    net.weight.grad.tag = "g"
    gc.collect()
    assert net.weight.grad.tag == "g"
    del net.weight.no_decay
    assert not hasattr(net.weight, "no_decay")


def test_attributes_go_with_the_tensor():
    class Witness:
        pass

    net = nn.Linear(3, 2)
    net.weight.witness = Witness()
    seen = weakref.ref(net.weight.witness)
    assert seen() is not None
    del net
    assert seen() is None


def test_memory_goes_with_the_last_holder():
    ocl.synchronize()
    before = ocl.memory_allocated()
    net = nn.Linear(256, 256)
    weight = net.weight
    weight.tag = 1
    del net
    assert ocl.memory_allocated() >= before + weight.nbytes
    del weight
    assert ocl.memory_allocated() == before


def test_weak_references():
    net = nn.Linear(3, 2)
    weak = weakref.ref(net.weight)
    assert weak() is net.weight
    held = weak()
    del net
    assert held.shape == (2, 3)  # the object took the tensor over
    assert weak() is held
    del held
    assert weak() is None

    calls = []
    x = ocl.zeros(3)
    alive = weakref.ref(x, calls.append)
    del x
    assert calls == [alive]
    net = nn.Linear(3, 2)
    ends = weakref.finalize(net.bias, calls.append, "bias")
    gc.collect()
    assert ends.alive
    del net
    assert calls == [alive, "bias"]


def test_a_weak_reference_followed_as_the_tensor_goes():
    net = nn.Linear(3, 2)
    loss = net(ocl.ones(1, 3)).sum()
    weak = weakref.ref(net.weight)
    held = weak()  # C++ still holds the tensor: nothing has used the object yet
    net.weight = nn.Parameter(ocl.zeros(2, 3))
    loss.backward()
    assert held.grad.tolist() == [[1.0] * 3] * 2


def test_subclasses_survive_in_cpp():
    net = nn.Linear(3, 2)
    net.weight = Scaled(ocl.zeros(2, 3), scale=2.0)
    gc.collect()
    assert type(net.weight) is Scaled
    assert net.weight.scale == 2.0
    assert isinstance(net.weight, nn.Parameter)
    net.register_buffer("slotted", ocl.zeros(2).as_subclass(Slotted))
    net.slotted.note = [1]
    assert net.slotted.note == [1]
    assert type(net.slotted) is Slotted


def test_finalizers_see_their_tensor_once():
    Tagged.deleted.clear()
    x = ocl.zeros(4).as_subclass(Tagged)
    net = nn.Linear(3, 2)
    net.register_buffer("tagged", x)
    del x
    assert Tagged.deleted == []
    del net
    assert Tagged.deleted == [(4,)]

    kept = []

    class Lazarus(ocl.Tensor):
        def __del__(self):
            kept.append(self)

    x = ocl.ones(3).as_subclass(Lazarus)
    del x
    assert kept[0].tolist() == [1.0, 1.0, 1.0]
    kept.clear()
    assert kept == []


def test_a_slot_is_emptied():
    class Witness:
        pass

    x = ocl.zeros(2).as_subclass(Slotted)
    x.note = Witness()
    seen = weakref.ref(x.note)
    del x
    assert seen() is None


def test_cycles_through_attributes_are_collected():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 2)

    net = Net()
    net.fc.weight.owner = net
    net.fc.bias.owner = net.fc.bias
    weak = weakref.ref(net)
    parameter = weakref.ref(net.fc.weight)
    gc.collect()
    assert weak() is not None
    del net
    gc.collect()
    assert weak() is None
    assert parameter() is None

    x = ocl.zeros(3, requires_grad=True)
    x.grad = ocl.zeros(3)
    x.grad.owner = x
    weak = weakref.ref(x)
    del x
    gc.collect()
    assert weak() is None


def test_the_collector_spares_what_cpp_holds():
    """A cycle of garbage that refers to a parameter must not empty it."""

    class Trainer:
        pass

    net = nn.Linear(3, 2)
    net.weight.notes = {"tag": [1]}
    net.weight.notes["itself"] = net.weight.notes
    trainer = Trainer()
    trainer.itself, trainer.parameters = trainer, list(net.parameters())
    del trainer
    gc.collect()
    assert net.weight.notes["tag"] == [1]


def test_a_long_chain_of_attributes():
    first = tensor = ocl.zeros(1)
    for _ in range(20000):
        tensor.next = tensor.detach()
        tensor = tensor.next
    del tensor, first
    slotted = [ocl.zeros(1).as_subclass(Slotted)]
    for _ in range(20000):
        following = slotted[0].detach().as_subclass(Slotted)
        following.note = slotted[0]
        slotted[0] = following
    del following
    slotted.clear()


def test_parameter_and_buffer_are_types():
    net = nn.BatchNorm1d(3)
    assert type(net.weight) is nn.Parameter
    assert isinstance(net.weight, nn.Parameter)
    assert issubclass(nn.Parameter, ocl.Tensor)
    assert not isinstance(net.running_mean, nn.Parameter)
    data = ocl.ones(3)
    parameter = nn.Parameter(data)
    assert parameter is not data
    assert parameter.requires_grad
    assert not data.requires_grad
    data.add_(1)
    assert parameter.tolist() == [2.0, 2.0, 2.0]
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert nn.Parameter().shape == (0,)
    assert repr(parameter).startswith("Parameter containing:\ntensor([2., 2., 2.]")

    buffer = nn.Buffer(data, persistent=False)
    assert isinstance(buffer, nn.Buffer)
    assert not isinstance(data, nn.Buffer)
    module = nn.Module()
    module.kept = nn.Buffer(data)
    module.passing = buffer
    assert [name for name, _ in module.named_buffers()] == ["kept", "passing"]
    assert list(module.state_dict()) == ["kept"]
    assert module.passing is buffer
    assert list(module.parameters()) == []


def test_constructing_subclasses():
    class Plain(ocl.Tensor):
        pass

    x = Plain([1, 2, 3])
    assert type(x) is Plain
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert ocl.Tensor(2, 3).shape == (2, 3)
    assert ocl.Tensor().shape == (0,)
    y = ocl.ones(3, requires_grad=True)
    z = y.as_subclass(Plain)
    (z * 2).sum().backward()
    assert y.grad.tolist() == [2.0, 2.0, 2.0]
    made = ocl.Tensor._make_subclass(Plain, y, True)
    assert made.is_leaf
    assert made.requires_grad
    module = nn.Module()
    module.made = ocl.Tensor._make_subclass(nn.Parameter, y)
    assert list(module.parameters())[0] is module.made
    with pytest.raises(TypeError, match="expected a subclass of Tensor"):
        y.as_subclass(int)

    class Labelled(nn.Parameter):
        def __init__(self, data, label="none"):
            super().__init__()
            self.label = label

        def __new__(cls, data, label="none"):
            return super().__new__(cls, data, requires_grad=False)

    assert Labelled(ocl.ones(2), label="a").label == "a"


def test_subclasses_survive_operators():
    class Plain(ocl.Tensor):
        pass

    class Deeper(Plain):
        pass

    x, deeper = ocl.ones(3).as_subclass(Plain), ocl.ones(3).as_subclass(Deeper)
    plain = ocl.ones(3)
    for result in (x + 1, 1 + x, plain + x, ocl.exp(x), x.sum(), ocl.zeros_like(x), x[0], x.T, x.detach()):
        assert type(result) is Plain
    assert type(x + deeper) is Deeper
    assert all(type(part) is Plain for part in x.split(1))
    assert type(x.max(0).values) is Plain
    assert type(x.add_(1)) is Plain
    assert type(plain + plain) is ocl.Tensor
    assert type(x.as_subclass(ocl.Tensor)) is ocl.Tensor
    assert type(nn.Parameter(plain) + 1) is ocl.Tensor
    assert type(Scaled(plain) + 1) is ocl.Tensor
    assert plain.add_(x) is plain


def test_saved_tensors_are_themselves():
    class Cube(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x**3
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            seen.append(x is given)
            assert y.shape == x.shape
            return 3 * x**2 * grad

    seen = []
    given = ocl.ones(2, requires_grad=True)
    given.name = "x"
    result = Cube.apply(given)
    weak = weakref.ref(result)
    result.sum().backward()
    assert seen == [True]
    del result
    assert weak() is None


def test_threads_share_objects():
    net = nn.Linear(4, 4)
    net.weight.tag = "w"
    errors = []

    def work():
        try:
            for i in range(150):
                assert net.weight.tag == "w"
                net.bias.seen = i
                net.weight.grad = ocl.zeros(4, 4)
                net.weight.grad.note = i
                x = ocl.zeros(1).as_subclass(Slotted)
                x.note = x
                bias = net.bias  # held: another thread may replace it
                weak = weakref.ref(bias)
                assert weak() is bias
                net(ocl.ones(1, 4)).sum().backward()
                if i % 20 == 0:
                    net.bias = nn.Parameter(ocl.zeros(4))
                    gc.collect()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert net.weight.tag == "w"


def test_copies_have_objects_of_their_own():
    x = ocl.ones(2)
    x.tag = "x"
    assert copy.deepcopy(x) is not x
    assert x.detach() is not x
    assert not hasattr(x.detach(), "tag")
