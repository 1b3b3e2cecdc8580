"""detect_anomaly: which operator's gradient is not finite, and where the program called it."""

import threading

import pytest
import torch

import ocl


def broken(lib, x):
    return lib.sqrt(x).sum()  # the line to be found


def test_names_the_operator_and_the_line():
    x = ocl.zeros(3, requires_grad=True)
    with (
        ocl.autograd.detect_anomaly(),
        pytest.raises(RuntimeError, match=r"'sqrt' returned infinite values in its 0th output") as caught,
    ):
        broken(ocl, x).backward()
    assert "operator sqrt" in str(caught.value)
    assert "# the line to be found" in str(caught.value)


def test_nan_as_pytorch():
    def run(lib):
        x = lib.zeros(3, requires_grad=True)
        with lib.autograd.detect_anomaly():
            (lib.sqrt(x) * 0).sum().backward()

    for lib in (torch, ocl):
        with pytest.raises(RuntimeError, match="returned nan values in its 0th output"):
            run(lib)


def test_names_the_module():
    class Broken(ocl.nn.Module):
        def forward(self, x):
            return x.log()

    x = ocl.zeros(2, requires_grad=True)
    with ocl.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="operator log, module Broken"):
        Broken()(x).sum().backward()
    with ocl.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=r"module 1 \(Broken\)"):
        ocl.nn.Sequential(ocl.nn.Identity(), Broken())(x).sum().backward()


def test_finite_gradients_pass():
    x = ocl.ones(3, requires_grad=True)
    with ocl.autograd.detect_anomaly():
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [0.5] * 3


def test_without_checks_only_notes():
    x = ocl.zeros(3, requires_grad=True)
    with ocl.autograd.detect_anomaly(check_nan=False):
        assert ocl.is_anomaly_enabled() and not ocl.is_anomaly_check_nan_enabled()
        broken(ocl, x).backward()
    assert not ocl.is_anomaly_enabled()


def test_a_call_outside_of_the_mode_is_named_without_a_line():
    x = ocl.zeros(3, requires_grad=True)
    loss = broken(ocl, x)
    with ocl.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="was not under anomaly mode"):
        loss.backward()


def test_set_detect_anomaly():
    ocl.autograd.set_detect_anomaly(True)
    try:
        assert ocl.is_anomaly_enabled()
        with ocl.autograd.set_detect_anomaly(False):
            assert not ocl.is_anomaly_enabled()
        assert ocl.is_anomaly_enabled()
    finally:
        ocl.autograd.set_detect_anomaly(False)


def test_threads():
    errors = []

    def work():
        x = ocl.zeros(3, requires_grad=True)
        try:
            broken(ocl, x).backward()
        except RuntimeError as error:
            errors.append(str(error))

    with ocl.autograd.detect_anomaly():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(errors) == 4 and all("# the line to be found" in e for e in errors)
