"""Switching the recording of gradients on and off."""

import threading

import pytest
from support import leaf

import ocl


def recorded():
    """Whether an operation on a leaf is recorded now; the two ways to ask must agree."""
    result = (leaf([1.0]) * 2).requires_grad
    assert ocl.autograd.is_grad_enabled() == result
    return result


@pytest.fixture(autouse=True)
def recording_is_on_again():
    yield
    left_on = ocl.is_grad_enabled()
    ocl.set_grad_enabled(True)
    assert left_on


def test_recording_is_on_at_first():
    assert recorded()


@pytest.mark.parametrize("mode, inside", [(ocl.no_grad, False), (ocl.enable_grad, True)])
def test_as_context(mode, inside):
    with mode():
        assert recorded() == inside
    assert recorded()


@pytest.mark.parametrize("on", [True, False])
def test_set_grad_enabled_as_context(on):
    with ocl.set_grad_enabled(on):
        assert recorded() == on
    assert recorded()


def test_set_grad_enabled_as_a_call():
    ocl.set_grad_enabled(False)
    assert not recorded()
    ocl.set_grad_enabled(True)
    assert recorded()


@pytest.mark.parametrize(
    "decorator, inside", [(ocl.no_grad(), False), (ocl.enable_grad(), True), (ocl.no_grad, False)]
)
def test_as_decorator(decorator, inside):
    @decorator
    def function(a, *, b):
        """Its words."""
        return recorded(), a, b

    assert function(1, b=2) == (inside, 1, 2)
    assert function.__name__ == "function" and function.__doc__ == "Its words."
    with ocl.no_grad():
        assert function(1, b=2)[0] == inside
    assert recorded()


@pytest.mark.parametrize("on", [True, False])
def test_set_grad_enabled_as_decorator(on):
    @ocl.set_grad_enabled(on)
    def function():
        return recorded()

    assert recorded()  # decorating changes nothing
    assert function() == on
    assert recorded()


def test_modes_nest():
    with ocl.no_grad():
        with ocl.enable_grad():
            assert recorded()
            with ocl.set_grad_enabled(False):
                assert not recorded()
            assert recorded()
        assert not recorded()


@pytest.mark.parametrize("mode", [ocl.no_grad, lambda: ocl.set_grad_enabled(False)])
def test_an_exception_restores_the_mode(mode):
    with pytest.raises(KeyError), mode():
        raise KeyError
    assert recorded()


def test_the_mode_is_each_threads_own():
    seen = []
    with ocl.no_grad():
        thread = threading.Thread(target=lambda: seen.append(recorded()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_backward_inside_no_grad_still_walks_what_was_recorded():
    x = leaf([3.0])
    y = (x * x).sum()
    with ocl.no_grad():
        y.backward()
    assert x.grad.item() == 6
    assert not x.grad.requires_grad
