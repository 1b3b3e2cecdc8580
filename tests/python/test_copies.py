"""copy and pickle of tensors, parameters, generators, devices and dtypes, beside PyTorch's."""

import copy
import pickle

import pytest
import torch
from support import skip_without

import ocl
from ocl import nn

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


class Noted(ocl.Tensor):
    __slots__ = ("slot",)


class Scaled(nn.Parameter):
    pass


def by_pickle(x):
    return pickle.loads(pickle.dumps(x))


COPIES = pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, by_pickle])


@COPIES
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(made, dtype):
    skip_without(dtype)
    x = ocl.tensor([[0, 1, 2], [3, 1, 0]]).to(getattr(ocl, dtype))
    y = made(x)
    assert y is not x
    assert y.dtype == x.dtype
    assert y.device == x.device
    assert y.tolist() == x.tolist()


@COPIES
@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.T, lambda x: x[1:, ::2], lambda x: x[0, :0], lambda x: x[1, 1]]
)
def test_strides_are_kept(made, view):
    theirs, ours = (made(view(lib.arange(12.0).reshape(3, 4))) for lib in (torch, ocl))
    assert ours.shape == tuple(theirs.shape)
    assert ours.stride() == theirs.stride()
    assert ours.tolist() == theirs.tolist()


@COPIES
def test_gradients(made):
    for lib in (torch, ocl):
        x = lib.ones(3, requires_grad=True)
        x.grad = lib.ones(3)
        y = made(x)
        assert y.requires_grad
        assert y.is_leaf
        assert (y.grad is not None) == (made is copy.deepcopy)
        parameter = lib.nn.Parameter(lib.ones(2))
        parameter.grad = lib.ones(2)
        assert made(parameter).grad is None
        assert not made(lib.nn.Parameter(lib.ones(2), requires_grad=False)).requires_grad
        if made is copy.deepcopy:
            with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
                made(x * 2)


@COPIES
def test_memory(made):
    x = ocl.ones(3)
    y = made(x)
    y.add_(1)
    assert x.tolist() == ([2.0] * 3 if made is copy.copy else [1.0] * 3)


def test_what_shared_memory_shares_the_copy():
    for lib in (torch, ocl):
        x = lib.arange(6.0)
        parts = {"whole": x, "view": x[2:].view(2, 2), "again": x}
        copied = copy.deepcopy(parts)
        copied["view"].add_(1)
        assert copied["whole"].tolist() == [0.0, 1.0, 3.0, 4.0, 5.0, 6.0]
        assert copied["again"] is copied["whole"]
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@COPIES
def test_classes_and_attributes(made):
    x = ocl.ones(2).as_subclass(Noted)
    x.note, x.slot = {"a": [1]}, "s"
    y = made(x)
    assert type(y) is Noted
    assert (y.note, y.slot) == ({"a": [1]}, "s")
    assert (y.note is x.note) == (made is copy.copy)
    p = Scaled(ocl.ones(2))
    p.no_decay = True
    q = made(p)
    assert type(q) is Scaled
    assert q.no_decay
    assert type(made(nn.Parameter(ocl.ones(2)))) is nn.Parameter
    buffer = made(nn.Buffer(ocl.ones(2), persistent=False))
    assert isinstance(buffer, nn.Buffer)
    assert not buffer.persistent


def test_an_attribute_that_leads_back():
    x = ocl.ones(2)
    x.itself = x
    y = copy.deepcopy(x)
    assert y.itself is y


@COPIES
def test_generators(made):
    generator = ocl.Generator()
    generator.manual_seed(5)
    ocl.rand(3, generator=generator)
    other = made(generator)
    assert other.initial_seed() == 5
    assert ocl.rand(3, generator=other).tolist() == ocl.rand(3, generator=generator).tolist()


@COPIES
def test_devices_and_dtypes(made):
    assert made(ocl.device("ocl:0")) == ocl.device("ocl:0")
    for name in DTYPES:
        assert made(getattr(ocl, name)) == getattr(ocl, name)
    assert made(ocl.ones(2, 3).shape) == (2, 3)
