"""Finding, removing and converting what a module holds, as PyTorch does it."""

import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def net_class(library):
    nn = library.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
            self.again = self.body
            self.tied = nn.Linear(2, 3)
            self.tied.weight = self.body[0].weight
            self.scale = nn.Parameter(library.ones(3))
            self.register_parameter("nothing", None)
            self.register_buffer("kept", library.zeros(1))
            self.register_buffer("scratch", library.zeros(2), persistent=False)

        def forward(self, x):
            return self.body(x) * self.scale

    return Net


def alike(play):
    ours, theirs = (play(net_class(library)()) for library in LIBRARIES)
    assert ours == theirs


def names(pairs):
    return [name for name, _ in pairs]


WALKS = {
    "named_parameters": [
        {},
        {"prefix": "net"},
        {"recurse": False},
        {"remove_duplicate": False},
        {"prefix": "a.b", "recurse": False},
    ],
    "named_buffers": [{}, {"prefix": "net"}, {"recurse": False}, {"remove_duplicate": False}],
    "named_modules": [{}, {"prefix": "net"}, {"remove_duplicate": False}],
    "named_children": [{}],
}


@pytest.mark.parametrize(
    "walk, arguments", [(w, a) for w, lists in WALKS.items() for a in lists], ids=lambda v: str(v)
)
def test_names(walk, arguments):
    alike(lambda net: names(getattr(net, walk)(**arguments)))


def test_counts():
    alike(lambda net: [len(list(net.parameters())), len(list(net.parameters(recurse=False)))])
    alike(lambda net: [len(list(net.buffers())), len(list(net.modules())), len(list(net.children()))])
    alike(lambda net: [list(net._modules), list(net.body._modules), list(net._buffers)])


def test_a_buffer_that_is_not_persistent_stays_out_of_the_state_dict():
    alike(lambda net: list(net.state_dict()))
    alike(lambda net: list(net.state_dict(prefix="model.")))


def test_dotted_targets():
    alike(lambda net: type(net.get_submodule("body.0")).__name__)
    alike(lambda net: net.get_submodule("") is net)
    alike(lambda net: tuple(net.get_parameter("body.0.weight").shape))
    alike(lambda net: tuple(net.get_buffer("scratch").shape))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda net: net.get_submodule("body.7"), "Sequential has no attribute `7`"),
        (lambda net: net.get_parameter("body.0.wait"), "`wait`"),
        (lambda net: net.get_buffer("gone.kept"), "`gone`"),
    ],
)
def test_targets_that_are_not_there(call, message):
    for library in LIBRARIES:
        with pytest.raises(AttributeError, match=message):
            call(net_class(library)())


@pytest.mark.parametrize("name", ["body", "scale", "kept", "tied"])
def test_deletion(name):
    def play(net):
        delattr(net, name)
        return hasattr(net, name), list(net.state_dict()), names(net.named_modules())

    alike(play)


def test_deletion_of_plain_attributes():
    net = net_class(ocl)()
    net.mark = 1
    del net.mark
    with pytest.raises(AttributeError, match="mark"):
        del net.mark


def test_a_subclass_may_override_train():
    def play(library):
        class Frozen(library.nn.Sequential):
            def train(self, mode=True):
                return super().train(False)

        net = library.nn.Sequential(Frozen(library.nn.ReLU()), library.nn.ReLU())
        net.train()
        return [m.training for m in net.modules()]

    assert play(ocl) == play(torch)


def test_training_can_be_set_alone():
    def play(net):
        net.training = False
        return [m.training for m in net.modules()]

    alike(play)


@pytest.mark.parametrize(
    "convert",
    [
        lambda lib, net: net.half(),
        lambda lib, net: net.bfloat16(),
        lambda lib, net: net.half().float(),
        lambda lib, net: net.to(lib.float16),
        lambda lib, net: net.to(dtype=lib.bfloat16),
        lambda lib, net: net.to("cpu", lib.float16),
        lambda lib, net: net.to(device="cpu", dtype=lib.float16, non_blocking=True),
        lambda lib, net: net.to(lib.zeros(1, dtype=lib.bfloat16)),
    ],
)
def test_conversion(convert):
    def play(library):
        net = net_class(library)()
        if library is ocl:
            here = str(net.scale.device)
            to = net.to
            net.__dict__["to"] = lambda *a, **k: to(
                *[here if x == "cpu" else x for x in a],
                **{n: here if v == "cpu" else v for n, v in k.items()},
            )
        assert convert(library, net) is net
        return [str(t.dtype).split(".")[1] for t in net.state_dict().values()]

    assert play(ocl) == play(torch)


# --- load_state_dict's other arguments


def test_what_load_state_dict_returns():
    def play(library):
        net = net_class(library)()
        state = net.state_dict()
        whole = net.load_state_dict(state)
        del state["scale"]
        state["more"] = library.zeros(1)
        partly = net.load_state_dict(state, strict=False)
        missing, unexpected = partly
        return repr(whole), repr(partly), partly.missing_keys, partly.unexpected_keys, missing, unexpected

    assert play(ocl) == play(torch)


def test_assign_takes_the_tensors_themselves():
    def play(library):
        net = library.nn.Linear(2, 2)
        old = net.weight
        state = {"weight": library.ones(2, 2), "bias": library.zeros(2)}
        net.load_state_dict(state, assign=True)
        with library.no_grad():
            state["bias"].fill_(7)
        result = net(library.ones(1, 2))
        return net.weight is old, net.weight.requires_grad, net.bias.tolist(), result.tolist()

    assert play(ocl) == play(torch)


def frozen_class(library):
    class Frozen(library.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = library.nn.BatchNorm1d(2)
            self.applied = 0

        def train(self, mode=True):
            return super().train(False)

        def apply(self, fn):
            self.applied += 1
            return super().apply(fn)

        def __repr__(self):
            return "<frozen " + super().__repr__().splitlines()[0]

        def extra_repr(self):
            return "extra"

    return Frozen


def test_walks_go_by_what_a_subclass_makes_of_them():
    def play(library):
        frozen = frozen_class(library)()
        net = library.nn.Sequential(library.nn.ReLU(), frozen)
        net.train()
        names = []
        net.apply(lambda module: names.append(type(module).__name__))
        return [m.training for m in net.modules()], names, frozen.applied, repr(net)

    assert play(ocl) == play(torch)


def test_a_walk_in_a_walk():
    """A train() that starts another walk, over a circle, does not end the first."""

    class Odd(ocl.nn.Module):
        def train(self, mode=True):
            circle = ocl.nn.Sequential(ocl.nn.ReLU())
            circle[0].parent = circle
            with pytest.raises(RecursionError):
                repr(circle)
            return super().train(mode)

    net = ocl.nn.Sequential(Odd(), ocl.nn.ReLU())
    net.eval()
    assert not any(m.training for m in net.modules())
