"""Sequential, ModuleList, ModuleDict and ParameterList behave like PyTorch's, step by step."""

from collections import OrderedDict

import numpy as np
import pytest
import torch
from support import expect_exact

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    """Plays the same story with both libraries; what it returns must be equal."""
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs
    return ours


def kinds(modules):
    return [type(m).__name__ for m in modules]


def described(container):
    return repr(container), list(container.state_dict()), [name for name, _ in container.named_children()]


def three(nn):
    return [nn.Linear(2, 3), nn.ReLU(), nn.Tanh()]


SEQUENCES = {
    "Sequential": lambda nn: nn.Sequential(*three(nn)),
    "ModuleList": lambda nn: nn.ModuleList(three(nn)),
}
each_sequence = pytest.mark.parametrize("build", SEQUENCES.values(), ids=SEQUENCES.keys())

CHANGES = {
    "append": lambda nn, c: c.append(nn.ELU()),
    "append twice": lambda nn, c: c.append(nn.ELU()).append(nn.Sigmoid()),
    "extend": lambda nn, c: c.extend([nn.ELU(), nn.Linear(1, 1)]),
    "insert first": lambda nn, c: c.insert(0, nn.ELU()),
    "insert middle": lambda nn, c: c.insert(2, nn.Linear(4, 1)),
    "insert last": lambda nn, c: c.insert(3, nn.ELU()),
    "set": lambda nn, c: c.__setitem__(1, nn.ELU()),
    "set from the back": lambda nn, c: c.__setitem__(-1, nn.ELU()),
    "delete": lambda nn, c: c.__delitem__(0),
    "delete from the back": lambda nn, c: c.__delitem__(-1),
    "delete slice": lambda nn, c: c.__delitem__(slice(0, 2)),
    "pop": lambda nn, c: c.pop(1),
}


@each_sequence
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_changes(build, change):
    def play(library):
        container = build(library.nn)
        change(library.nn, container)
        return described(container), kinds(container), len(container)

    alike(play)


@each_sequence
@pytest.mark.parametrize(
    "index", [slice(None), slice(1, None), slice(None, None, 2), slice(-1, None), slice(3, 9)], ids=str
)
def test_slices(build, index):
    def play(library):
        part = build(library.nn)[index]
        return type(part).__name__, described(part)

    alike(play)


@each_sequence
def test_indices(build):
    alike(lambda library: kinds(build(library.nn)[i] for i in (0, 2, -1, -3)))
    for library in LIBRARIES:
        for index in (3, -4):
            with pytest.raises(IndexError, match=f"index {index} is out of range"):
                build(library.nn)[index]


@each_sequence
def test_sums(build):
    def play(library):
        both = build(library.nn) + build(library.nn)
        grown = build(library.nn)
        grown += build(library.nn)
        return type(both).__name__, described(both), described(grown)

    alike(play)


@each_sequence
def test_membership(build):
    container = build(ocl.nn)
    assert container[1] in container and ocl.nn.ReLU() not in container


def test_sequential_of_names():
    def play(library):
        nn = library.nn
        net = nn.Sequential(
            OrderedDict([("hidden", nn.Linear(2, 3)), ("act", nn.ReLU()), ("out", nn.Linear(3, 1))])
        )
        del net[1]
        return (
            described(net),
            described(net[1:]),
            type(net.hidden).__name__ if hasattr(net, "hidden") else None,
        )

    alike(play)


def test_a_slice_of_a_sequential_shares_its_modules():
    net = ocl.nn.Sequential(*three(ocl.nn))
    part = net[:2]
    x = ocl.randn(4, 2)
    assert part[0] is net[0]
    expect_exact(net[2](part(x)), net(x))


def test_module_list_repr_folds_equal_neighbours():
    def play(library):
        nn = library.nn
        same = [nn.Linear(2, 2) for _ in range(4)]
        blocks = [nn.Sequential(nn.ReLU(), nn.Tanh()) for _ in range(2)]
        return repr(nn.ModuleList(same + [nn.ReLU()] + blocks)), repr(nn.ModuleList()), repr(nn.ModuleDict())

    alike(play)


def test_a_module_list_in_a_module():
    def net_class(library):
        class Net(library.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = library.nn.ModuleList(library.nn.Linear(3, 3) for _ in range(3))
                self.heads = library.nn.ModuleDict(
                    {"a": library.nn.Linear(3, 1), "b": library.nn.Linear(3, 2)}
                )
                self.scales = library.nn.ParameterList(library.ones(3) for _ in range(2))

            def forward(self, x, head):
                for layer in self.layers:
                    x = layer(x)
                return self.heads[head](x * self.scales[0] + self.scales[-1])

        return Net

    torch.manual_seed(0)
    theirs, ours = net_class(torch)(), net_class(ocl)()
    ours.load_state_dict(theirs.state_dict())
    assert list(ours.state_dict()) == list(theirs.state_dict())
    x = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    for head in "ab":
        a, b = ours(ocl.tensor(x), head), theirs(torch.tensor(x), head)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5, atol=1e-6)
        a.sum().backward()
        b.sum().backward()
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-5, err_msg=name)


def test_module_dict():
    def play(library):
        nn = library.nn
        d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 2)})
        d["c"] = nn.Tanh()
        d.update([["d", nn.ELU()], ["a", nn.Sigmoid()]])
        story = [
            list(d),
            list(d.keys()),
            kinds(d.values()),
            [k for k, _ in d.items()],
            len(d),
            "b" in d,
            "x" in d,
        ]
        story += [type(d.pop("c")).__name__, described(d), type(d["a"]).__name__]
        del d["d"]
        story.append(list(d))
        d.clear()
        return [*story, len(d)]

    alike(play)
    for library in LIBRARIES:
        for act in (lambda d: d["x"], lambda d: d.pop("x"), lambda d: d.__delitem__("x")):
            with pytest.raises(KeyError, match="x"):
                act(library.nn.ModuleDict())


def test_parameter_list():
    def play(library):
        nn = library.nn
        p = nn.ParameterList([nn.Parameter(library.ones(2)), library.zeros(3, 2)])
        p.append(library.ones(1)).extend([nn.Parameter(library.zeros(2))])
        p[1] = nn.Parameter(library.ones(5))
        p += [library.ones(())]
        shapes = [tuple(t.shape) for t in p]
        story = [shapes, list(p.state_dict()), len(p), all(t.requires_grad for t in p), tuple(p[-2].shape)]
        return [*story, [tuple(t.shape) for t in p[1:3]], repr(p).replace("torch.", "ocl.")]

    alike(play)
    with pytest.raises(IndexError, match="out of range"):
        ocl.nn.ParameterList([ocl.ones(1)])[1]


def test_what_python_added_survives_renumbering():
    class Marked(ocl.nn.Identity):
        def __init__(self, mark):
            super().__init__()
            self.mark = mark

    modules = ocl.nn.ModuleList(Marked(i) for i in range(3))
    modules.insert(1, Marked(9))
    del modules[0]
    assert [m.mark for m in modules] == [9, 1, 2]


def test_containers_without_forward_say_so():
    for container in (ocl.nn.ModuleList(), ocl.nn.ModuleDict(), ocl.nn.ParameterList()):
        with pytest.raises((TypeError, NotImplementedError), match="forward"):
            container(ocl.ones(1))
