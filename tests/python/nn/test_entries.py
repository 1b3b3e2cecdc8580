"""_modules, _parameters and _buffers are the module's own, as in PyTorch; names without a value."""

import copy
import gc
import pickle
import weakref

import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def norm(library):
    return library.nn.Sequential(library.nn.Linear(2, 3, bias=False), library.nn.BatchNorm1d(3))


KINDS = ("_modules", "_parameters", "_buffers")


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_there(kind):
    def play(library):
        net = norm(library)
        return [
            (list(entries), [type(v).__name__ for v in entries.values()], len(entries), "bias" in entries)
            for entries in (getattr(module, kind) for module in net.modules())
        ]

    alike(play)


def test_changes_reach_the_module():
    def play(library):
        nn = library.nn
        net = norm(library)
        net._modules["2"] = nn.ReLU()
        net._modules["0"] = nn.Linear(2, 5)
        removed = net._modules.pop("1")
        linear = net[0]
        linear._parameters["weight"] = nn.Parameter(library.ones(3, 2))
        linear._parameters["scale"] = nn.Parameter(library.ones(1))
        del removed._parameters["bias"]
        removed._buffers["running_mean"] = library.ones(3)
        removed._buffers["more"] = library.ones(1)
        return (
            repr(net),
            list(net.state_dict()),
            linear.weight.sum().item(),
            hasattr(removed, "bias"),
            removed.running_mean.tolist(),
            list(removed.state_dict()),
        )

    alike(play)


def test_values_are_the_very_objects():
    net = norm(ocl)
    assert net._modules["0"] is net[0]
    assert net[0]._parameters["weight"] is net[0].weight
    assert net[1]._buffers["running_var"] is net[1].running_var
    net._modules["0"].note = 1
    assert net[0].note == 1


def test_what_is_not_there():
    net = norm(ocl)
    for kind in KINDS:
        entries = getattr(net, kind)
        with pytest.raises(KeyError):
            entries["none"]
        with pytest.raises(KeyError):
            del entries["none"]
        assert entries.get("none") is None
        assert repr(entries) == repr(dict(entries))
    with pytest.raises(TypeError, match="Linear is not a Module subclass|int is not a Module subclass"):
        net._modules["0"] = 3


def with_nothing(library):
    net = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.ReLU())
    net.head = library.nn.Linear(1, 1)
    net.head = None
    return net


def test_a_child_may_be_none():
    def play(library):
        net = with_nothing(library)
        states = [
            repr(net),
            net.head,
            list(net._modules),
            [name for name, _ in net.named_children()],
            list(net.state_dict()),
        ]
        net.head = library.nn.ReLU()
        return states, repr(net)

    alike(play)
    for library in LIBRARIES:
        with pytest.raises(TypeError, match="cannot assign 'int' as child module 'head'"):
            with_nothing(library).head = 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_keep_a_child_that_is_none(copied):
    net = copied(with_nothing(ocl))
    assert net.head is None
    assert repr(net) == repr(with_nothing(ocl))


def test_a_replaced_child_lets_go_of_its_python_half():
    net = norm(ocl)
    gone = weakref.ref(net[1])
    net[1] = ocl.nn.ReLU()
    gc.collect()
    assert gone() is None


def test_python_halves_survive_renumbering():
    class Noted(ocl.nn.ReLU):
        pass

    net = ocl.nn.Sequential(Noted(), ocl.nn.Tanh())
    net[0].note = "kept"
    net.insert(0, ocl.nn.Tanh())
    del net[2]
    assert type(net[1]) is Noted
    assert net[1].note == "kept"
    layers = ocl.nn.ModuleList([Noted() for _ in range(4)])
    notes = [id(layer) for layer in layers]
    del layers[1::2]
    assert [id(layer) for layer in layers] == notes[::2]


def test_parameter_dict():
    def play(library):
        nn = library.nn
        named = nn.ParameterDict({"a": library.ones(2), "b": nn.Parameter(library.zeros(2, 3))})
        named["c"] = library.ones(1)
        popped = named.pop("a")
        return (
            list(named.state_dict()),
            len(named),
            "c" in named,
            popped.requires_grad,
            sorted(named.keys()),
            named["b"].shape == (2, 3),
        )

    alike(play)
