"""Submodules that are replaced, deleted or hooked while their module lives on: also those that C++ made."""

import gc

import pytest
import torch
from processes import run
from support import to_numpy

import ocl
from ocl import nn


def attend(attention, lib):
    x = lib.ones(3, 2, 8) * 0.5
    return attention(x, x, x)[0]


def test_the_output_layer_of_attention_can_be_replaced():
    def build(lib, weight):
        attention = lib.nn.MultiheadAttention(8, 2)
        old = attention.out_proj
        attention.out_proj = lib.nn.Linear(8, 8)
        del old
        gc.collect()
        values = {key: lib.full(tuple(v.shape), weight) for key, v in attention.state_dict().items()}
        attention.load_state_dict(values)
        return attend(attention, lib)

    expected = build(torch, 0.25)
    actual = build(ocl, 0.25)
    assert abs(to_numpy(actual) - to_numpy(expected.detach())).max() < 1e-5


def test_any_module_may_stand_in_its_place():
    class Twice(nn.Module):
        def forward(self, x):
            return x * 2

    attention = nn.MultiheadAttention(8, 2)
    attention.out_proj = nn.Identity()
    once = attend(attention, ocl)
    attention.out_proj = Twice()
    gc.collect()
    assert abs((attend(attention, ocl) - once * 2).detach().numpy()).max() < 1e-6


def test_a_deleted_one_is_missed_by_name_and_may_come_back():
    attention = nn.MultiheadAttention(8, 2)
    del attention.out_proj
    gc.collect()
    with pytest.raises(ValueError, match="out_proj"):
        attend(attention, ocl)
    assert "out_proj" not in dict(attention.named_children())
    attention.out_proj = nn.Linear(8, 8)
    assert attend(attention, ocl).shape == (3, 2, 8)


def test_what_is_added_to_a_child_that_cpp_made_stays():
    attention = nn.MultiheadAttention(8, 2)
    calls = []
    attention.out_proj.note = "kept"
    attention.out_proj.register_forward_hook(lambda *_: calls.append(1))
    gc.collect()
    assert attention.out_proj.note == "kept"
    assert attention.out_proj is attention.out_proj
    assert list(attention.modules())[1] is attention.out_proj
    attention.out_proj(ocl.ones(1, 8))
    assert calls == [1]


def test_a_hook_may_change_the_children_of_what_is_walked():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))

    def shrink(module, args, output):
        while len(net) > 1:
            del net[-1]
        gc.collect()

    net[0].register_forward_hook(shrink)
    assert net(ocl.ones(1, 2)).shape == (1, 2)
    assert len(net) == 1
    grown = nn.Sequential(nn.ReLU())
    grown.apply(lambda module: grown.append(nn.ReLU()) if len(grown) < 50 else None)
    assert len(grown) == 3


def test_only_modules_are_submodules():
    def action(lib):
        lib.nn.Sequential().add_module("a", 3)

    for lib in (ocl, torch):
        with pytest.raises(TypeError):
            action(lib)


THREADS = """
import threading, time
import ocl
from ocl import nn
attention, net = nn.MultiheadAttention(8, 2), nn.Sequential(nn.Linear(8, 8), nn.ReLU())
x = ocl.ones(3, 2, 8)
attention(x, x, x), net(x)
end = time.monotonic() + 2
errors = []
def repeat(action):
    def loop():
        while time.monotonic() < end:
            try:
                action()
            except (ValueError, AttributeError, IndexError, KeyError, TypeError, RuntimeError):
                pass  # what another thread has just taken away
            except BaseException as error:
                errors.append(repr(error))
    return threading.Thread(target=loop)
def replace():
    attention.out_proj = nn.Linear(8, 8)
def remove():
    del attention.out_proj
def swap_weights():
    net[0].weight = nn.Parameter(ocl.ones(8, 8))
    net[0].bias = None
def renumber():
    net.insert(0, nn.Linear(8, 8))
    del net[-1]
def walk():
    dict(attention.named_modules()), net.state_dict(), repr(net), net.train(), list(net.parameters())
def hook():
    handle = net.register_forward_hook(lambda *_: None)
    net.zero_grad()
    handle.remove()
threads = [repeat(a) for a in (lambda: attention(x, x, x), lambda: net(x).sum().backward(), replace, remove,
                               swap_weights, renumber, walk, hook)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not errors, errors[:3]
print("done")
"""


def test_threads_change_and_call_one_module():
    output, _ = run(THREADS)
    assert output.split() == ["done"]
