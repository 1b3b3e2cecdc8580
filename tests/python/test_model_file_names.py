"""Names that files of other people's models ask for, and that do little here."""

import importlib
import typing

import numpy as np
import pytest
import torch
from support import to_numpy

import ocl
from ocl import nn


def test_decorators_for_a_compiler_leave_functions_alone():
    def function():
        return 7

    assert ocl.jit.ignore(function) is function
    assert ocl.jit.ignore()(function) is function
    assert ocl.jit.ignore(drop=True)(function) is function
    assert ocl.jit.annotate(list[int], [3]) == [3]
    for name in ("Dict", "List", "Optional", "Tuple", "Union"):
        assert getattr(importlib.import_module("ocl.jit.annotations"), name) is getattr(typing, name)
    assert ocl.jit.annotations.BroadcastingList2[int] is None

    class Net(nn.Module):
        count: ocl.jit.Final[int]

        def __init__(self):
            super().__init__()
            self.count = 3

    assert Net().count == 3


def test_shapes_are_sizes():
    assert isinstance(ocl.ones(2, 3).shape, ocl.Size)
    assert ocl.Size((2, 3)) == ocl.ones(2, 3).size()


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2), (8, 3, 5, 7)])
def test_fans(shape):
    expected = torch.nn.init._calculate_fan_in_and_fan_out(torch.zeros(shape))
    assert nn.init._calculate_fan_in_and_fan_out(ocl.zeros(shape)) == expected
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init._calculate_fan_in_and_fan_out(ocl.zeros(3))


def test_sync_batch_norm_is_batch_norm_of_one_process(rng):
    x = rng.standard_normal((4, 3, 5, 5)).astype(np.float32)
    synced, plain = nn.SyncBatchNorm(3, momentum=0.3), nn.BatchNorm2d(3, momentum=0.3)
    assert isinstance(synced, nn.BatchNorm2d)
    assert list(synced.state_dict()) == list(plain.state_dict())
    np.testing.assert_array_equal(to_numpy(synced(ocl.tensor(x))), to_numpy(plain(ocl.tensor(x))))
    np.testing.assert_array_equal(to_numpy(synced.running_var), to_numpy(plain.running_var))
    volume = ocl.tensor(rng.standard_normal((2, 3, 4, 5, 2)).astype(np.float32))
    np.testing.assert_array_equal(to_numpy(nn.SyncBatchNorm(3)(volume)), to_numpy(nn.BatchNorm3d(3)(volume)))
    with pytest.raises(ValueError, match="at least 2D"):
        synced(ocl.ones(3))
