"""Methods of modules that set submodules and convert, beside PyTorch's."""

import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def test_set_submodule():
    def play(library):
        nn = library.nn
        net = nn.Sequential(nn.Linear(2, 2), nn.ModuleDict({"a": nn.ReLU()}))
        net.set_submodule("0", nn.Identity())
        net.set_submodule("1.a", nn.Tanh(), strict=True)
        net.set_submodule("1.b", nn.Sigmoid())
        return [type(m).__name__ for m in net.modules()], net._get_name()

    alike(play)


@pytest.mark.parametrize("library", LIBRARIES, ids=["ocl", "torch"])
def test_set_submodule_refuses(library):
    net = library.nn.Sequential(library.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", library.nn.ReLU())
    with pytest.raises(ValueError, match="not an nn.Module"):
        net.set_submodule("0", 3)
    with pytest.raises(AttributeError, match="no attribute `x`"):
        net.set_submodule("0.x", library.nn.ReLU(), strict=True)
    with pytest.raises(AttributeError, match="`weight` is not an nn.Module"):
        net.set_submodule("0.weight", library.nn.ReLU())


def test_types_and_empty_memory():
    def play(library):
        net = library.nn.BatchNorm1d(3)
        found = [str(t.dtype).split(".")[1] for t in net.type(library.float64).state_dict().values()]
        weight = net.weight
        assert net.to_empty(device="cpu") is net and net.weight is weight
        shapes = {k: tuple(t.shape) for k, t in net.state_dict().items()}
        return found, shapes, net.compile(), net.share_memory() is net

    alike(play)


def test_lists_of_dimensions_of_einsum():
    def play(library):
        a, b = library.arange(6.0).reshape(2, 3), library.arange(12.0).reshape(3, 4)
        c = library.arange(24.0).reshape(2, 3, 4)
        return [
            library.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist(),
            library.einsum(a, [0, 1], b, [1, 2]).tolist(),
            library.einsum(c, [..., 51], [51, ...]).tolist(),
            library.einsum(a, [30, 2]).tolist(),
            library.einsum("ij,jk", [a, b]).tolist(),
        ]

    alike(play)
    for library in LIBRARIES:
        with pytest.raises(ValueError, match="not within the valid range"):
            library.einsum(library.ones(2), [52])
        with pytest.raises(TypeError):
            library.einsum(library.ones(2), library.ones(2))


@pytest.mark.parametrize("library", LIBRARIES, ids=["ocl", "torch"])
def test_names_of_buffers_that_are_not_persistent(library):
    module = library.nn.BatchNorm1d(2)
    assert module._non_persistent_buffers_set == set()
    module.register_buffer("kept", library.ones(1))
    module.register_buffer("left", library.ones(1), persistent=False)
    module.register_buffer("later", None, persistent=False)
    assert module._non_persistent_buffers_set == {"left", "later"}
