"""Methods, classes and forwards that are put on objects and classes which are there already."""

import abc
import gc
import types
import weakref
from typing import Generic, TypeVar

import pytest

import ocl

T = TypeVar("T")


def test_a_class_may_be_changed(library, nn, monkeypatch):
    class Layer(nn.Linear):
        pass

    layer, chain = Layer(1, 1), nn.Sequential(Layer(1, 1))
    monkeypatch.setattr(Layer, "forward", lambda self, x: x + 5)
    assert layer(library.zeros(1)).item() == chain(library.zeros(1)).item() == 5
    monkeypatch.setattr(nn.Module, "title", lambda self: "title", raising=False)
    assert layer.title() == "title"


def test_an_object_may_change_its_class(library, nn):
    class Seven(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 0 + 7

    chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    chain[0].__class__ = Seven
    assert type(chain[0]) is Seven and chain(library.zeros(1, 2)).tolist() == [[7, 7]]
    chain[0].__class__ = nn.Linear
    assert chain(library.zeros(1, 2)).tolist() != [[7, 7]]


def test_an_object_cannot_become_one_of_another_half():
    with pytest.raises(TypeError, match="cannot become"):
        ocl.nn.Linear(1, 1).__class__ = ocl.nn.ReLU
    with pytest.raises(TypeError):
        ocl.nn.Linear(1, 1).__class__ = int


@pytest.mark.parametrize("net", ["resnet18", "mobilenet_v2", "vit_b_16", "densenet121", "convnext_tiny"])
def test_replaced_methods_count_where_cpp_calls(net):
    """A forward of an object's own, and a class that an object was given, in nets that C++ runs."""
    model = getattr(ocl.models, net)(num_classes=3).eval()
    size = 224 if net == "vit_b_16" else 64
    x = ocl.zeros(1, 3, size, size)
    called, replaced = [], []

    def watch(name, module):
        plain = module.forward
        module.register_forward_hook(lambda *given: called.append(name))

        def forward(*args, **kwargs):
            replaced.append(name)
            return plain(*args, **kwargs)

        module.forward = forward

    expected = model(x)
    for name, module in model.named_modules():
        watch(name, module)
    assert ocl.allclose(model(x), expected, atol=1e-5)
    assert replaced and sorted(replaced) == sorted(called)


def test_the_collector_meets_objects_half_made():
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for base in (ocl.nn.Module, ocl.nn.Linear, ocl.nn.Sequential):
            for _ in range(5):

                class Early(base, abc.ABC):
                    def __init__(self):
                        self.early = [self]
                        ocl.nn.Module.__init__(self)
                        self.itself = [self]
                        self.layer = ocl.nn.ReLU()

                class Tensor(ocl.Tensor, Generic[T]):
                    pass

                gone = weakref.ref(Early()), weakref.ref(Tensor([1.0]))
                gc.collect()
                assert [reference() for reference in gone] == [None, None]
    finally:
        gc.set_threshold(*threshold)


def test_bound_methods_put_on_objects(library, nn):
    layer = nn.Linear(1, 1)
    layer.forward = types.MethodType(lambda self, x: x + self.in_features, layer)
    assert layer(library.zeros(1)).item() == nn.Sequential(layer)(library.zeros(1)).item() == 1
    del layer.forward
    assert tuple(layer(library.zeros(2, 1)).shape) == (2, 1)
