"""Programs in the corners of modules: overridden walks, names that change kind, hooks that change the net."""

import gc
import weakref
from collections import OrderedDict

import pytest
import torch
from processes import run

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def test_what_a_walk_meets_outlives_it():
    net = ocl.nn.Sequential(ocl.nn.ReLU(), ocl.nn.Module())
    saved = []

    def grow(module):
        if type(module) is ocl.nn.ReLU:
            net[1].layer = ocl.nn.TransformerEncoderLayer(8, 2, 8)
        module.note = len(saved)
        saved.append(module)

    net.apply(grow)
    assert all(m.note is not None for m in net.modules())
    dropout = next(m for m in saved if type(m) is ocl.nn.Dropout)
    assert dropout is net[1].layer.dropout1 or dropout is net[1].layer.dropout
    net = saved = None
    gc.collect()
    assert dropout.p == 0.1


def test_the_function_of_a_walk_is_itself():
    def play(library):
        seen = []

        class Own(library.nn.Module):
            def apply(self, fn):
                seen.append(fn)
                return super().apply(fn)

        def function(module):
            pass

        library.nn.Sequential(Own()).apply(function)
        seen[0](library.nn.ReLU())
        return seen[0] is function

    alike(play)


@pytest.mark.parametrize(
    "use",
    [
        "self.append(nn.ReLU())",
        "self.extend([nn.ReLU()])",
        "self.train()",
        "list(self.parameters())",
        "self.state_dict()",
        "self.register_buffer('x', ocl.ones(1))",
        "self.x = nn.ReLU()",
        "len(self)",
        "repr(self)",
        "self._modules['a'] = nn.ReLU()",
        "self.insert(0, nn.ReLU())",
        "self(ocl.ones(1))",
    ],
)
def test_before_init(use):
    program = f"""
import ocl
from ocl import nn
for base in (nn.ModuleList, nn.Sequential):
    class Late(base):
        def __init__(self):
            {use}
    try:
        Late()
        print("made")
    except AttributeError as error:  # as PyTorch's
        print("before Module.__init__()" in str(error))
"""
    assert run(program)[0].split() == ["True", "True"]


CHANGES = {
    "buffer to parameter": lambda nn, m, t: (m.register_buffer("x", t), setattr(m, "x", nn.Parameter(t + 1))),
    "buffer to module": lambda nn, m, t: (m.register_buffer("x", t), setattr(m, "x", nn.ReLU())),
    "parameter to module": lambda nn, m, t: (setattr(m, "x", nn.Parameter(t)), setattr(m, "x", nn.ReLU())),
    "module to parameter": lambda nn, m, t: (setattr(m, "x", nn.ReLU()), setattr(m, "x", nn.Parameter(t))),
    "module to None": lambda nn, m, t: (setattr(m, "x", nn.ReLU()), setattr(m, "x", None)),
    "plain to buffer": lambda nn, m, t: (setattr(m, "x", 3), m.register_buffer("x", t)),
    "plain to parameter": lambda nn, m, t: (setattr(m, "x", 3), m.register_parameter("x", nn.Parameter(t))),
    "plain to module": lambda nn, m, t: (setattr(m, "x", 3), m.add_module("x", nn.ReLU())),
    "method to buffer": lambda nn, m, t: m.register_buffer("forward", t),
    "module again": lambda nn, m, t: (m.add_module("x", nn.ReLU()), m.add_module("x", nn.Tanh())),
    "buffer again": lambda nn, m, t: (m.register_buffer("x", t), m.register_buffer("x", t + 1)),
    "no parameter": lambda nn, m, t: m.register_parameter("x", t),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_names_that_change_kind(change):
    def play(library):
        module = library.nn.Module()
        try:
            change(library.nn, module, library.zeros(1))
            error = None
        except (KeyError, TypeError) as raised:
            error = KeyError if isinstance(raised, KeyError) else TypeError
        return (
            error,
            list(module._parameters),
            list(module._buffers),
            list(module._modules),
            {name: value.tolist() for name, value in module.state_dict().items()},
            type(getattr(module, "x", None)).__name__,
        )

    alike(play)


def test_none_in_sequences():
    def play(library):
        nn = library.nn
        several = nn.ModuleList([None, nn.ReLU()])
        first = len(several), several[0], type(several[1]).__name__, repr(several)
        several = nn.ModuleList([nn.ReLU(), nn.Tanh()])
        several[0] = None
        several.append(None)
        several.append(nn.ELU())
        return first, len(several), [type(m).__name__ for m in several], list(several._modules)

    alike(play)


def test_methods_of_one_object():
    def play(library):
        nn = library.nn
        net = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(), nn.ReLU())
        net.train()
        net[0].train = lambda mode=True: net[0]  # frozen
        net[2].extra_repr = lambda: "own"
        net.eval()
        return net[0].training, net[1].training, repr(net[2])

    alike(play)


def test_a_class_that_changes_later():
    def play(library):
        class Late(library.nn.Module):
            pass

        net = library.nn.Sequential(Late())
        net.train()
        Late.train = lambda self, mode=True: setattr(self, "seen", mode)
        net.eval()
        return net[0].seen

    alike(play)


def test_children_that_stand_twice():
    def play(library):
        calls = []

        class Counted(library.nn.Module):
            def train(self, mode=True):
                calls.append("train")
                return super().train(mode)

        shared = Counted()
        net = library.nn.Sequential(shared, shared)
        net.train()
        net.apply(lambda m: calls.append(type(m).__name__))
        for _ in range(40):
            net = library.nn.Sequential(net, net)
        net.train()
        return calls

    alike(play)


@pytest.mark.filterwarnings("ignore")
def test_custom_decoders_get_names():
    def play(library):
        class Decoder(library.nn.Module):
            def forward(self, tgt, memory, **named):
                self.seen = sorted(named)
                return tgt

        decoder = Decoder()
        net = library.nn.Transformer(8, 2, 1, 1, 16, custom_decoder=decoder)
        net(library.ones(3, 1, 8), library.ones(2, 1, 8))
        return decoder.seen

    alike(play)


def test_handles_do_not_keep_modules():
    class Own(ocl.nn.Module):
        def method(self, *_):
            pass

    module = Own()
    module.handle = module.register_forward_hook(module.method)
    gone = weakref.ref(module)
    handle = module.handle
    del module
    gc.collect()
    assert gone() is None
    handle.remove()


def test_a_dict_of_hooks_may_be_assigned():
    def play(library):
        net, seen = library.nn.ReLU(), []
        net._forward_hooks = OrderedDict()
        net.register_forward_hook(lambda *_: seen.append(1))
        net(library.ones(1))
        return seen

    alike(play)


def test_a_pre_hook_may_make_modules():
    def play(library):
        class Lazy(library.nn.Module):
            pass

        def make(module, *_):
            module.layer = library.nn.Linear(1, 1)

        state = {"layer.weight": library.full((1, 1), 3.0), "layer.bias": library.ones(1)}
        net = Lazy()
        net.register_load_state_dict_pre_hook(make)
        net.load_state_dict(state)
        return net.layer.weight.item()

    alike(play)


def test_entries_that_are_no_tensors_are_for_hooks():
    def play(library):
        net = library.nn.Linear(1, 1)
        net.register_load_state_dict_pre_hook(lambda module, state, *_: state.pop("epoch", None))
        return str(net.load_state_dict({**net.state_dict(), "epoch": {"a": "text"}}))

    alike(play)


def test_a_failed_registration_keeps_nothing():
    for wrong in (
        lambda net, m: net.__setitem__(9, m),
        lambda net, m: net.insert(9, m),
        lambda net, m: net.add_module("a.b", m),
    ):
        net, module = ocl.nn.Sequential(ocl.nn.ReLU()), ocl.nn.Tanh()
        with pytest.raises((IndexError, ValueError, KeyError)):
            wrong(net, module)
        gone = weakref.ref(module)
        del module
        gc.collect()
        assert gone() is None


def test_the_callers_tensor_stays_what_it_is():
    def play(library):
        nn, x = library.nn, library.zeros(1)
        several, named = nn.ParameterList([x]), nn.ParameterDict({"a": x})
        y = library.ones(1, requires_grad=True) * 2
        several.append(y)
        return (
            x.requires_grad,
            several[0].requires_grad,
            named["a"].requires_grad,
            several[1].is_leaf,
            type(several[1]).__name__,
        )

    alike(play)


def test_arithmetic_of_sequentials():
    def play(library):
        nn = library.nn
        net = nn.Sequential(nn.ReLU(), nn.Tanh())
        texts = [repr(net * 2), repr(2 * net), repr(net + nn.Sequential(nn.ELU()))]
        net *= 2
        texts.append(repr(net))
        texts.append(repr(nn.Sequential(nn.ModuleDict({"a": nn.ReLU()}))))
        several = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.ELU()])
        texts += [repr(several.insert(9, nn.SELU())), repr(several), repr(several.pop(slice(0, 2)))]
        with pytest.raises(ValueError, match="supports only objects of Sequential"):
            net + [nn.ReLU()]
        return texts

    alike(play)


def test_dir_names_what_a_module_holds():
    net = ocl.nn.Sequential(ocl.nn.BatchNorm1d(2))
    assert {"0", "forward"} <= set(dir(net))
    assert {"weight", "running_mean", "eps"} <= set(dir(net[0]))


def test_small_slips_raise():
    for call in (
        lambda: ocl.nn.Unflatten(-1, (-1, 2))(ocl.tensor(1.0)),
        lambda: ocl.nn.Unflatten(0, (1,))(ocl.tensor(1.0)),
        lambda: ocl.nn.TransformerDecoder(None, 1)(ocl.ones(2, 3, 4), ocl.ones(2, 3, 4)),
        lambda: ocl.nn.TransformerEncoder(None, 1)(ocl.ones(2, 3, 4)),
    ):
        with pytest.raises((ValueError, TypeError, IndexError)):
            call()
