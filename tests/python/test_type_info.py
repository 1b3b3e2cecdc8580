"""ocl.finfo and ocl.iinfo against torch's."""

import pytest
import torch

import ocl

FLOATING = ["float32", "float64", "float16", "bfloat16"]
WHOLE = ["int64", "int32", "int16", "int8", "uint8"]


@pytest.mark.parametrize("name", FLOATING)
def test_finfo(name):
    ours, theirs = ocl.finfo(getattr(ocl, name)), torch.finfo(getattr(torch, name))
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, field) == getattr(theirs, field), field
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", WHOLE)
def test_iinfo(name):
    ours, theirs = ocl.iinfo(getattr(ocl, name)), torch.iinfo(getattr(torch, name))
    for field in ("bits", "max", "min", "dtype"):
        assert getattr(ours, field) == getattr(theirs, field), field


def test_the_wrong_kind():
    assert ocl.finfo().dtype == "float32"
    with pytest.raises(TypeError, match="floating point"):
        ocl.finfo(ocl.int32)
    with pytest.raises(TypeError, match="integer"):
        ocl.iinfo(ocl.float32)
    with pytest.raises(TypeError, match="bool"):
        ocl.iinfo(ocl.bool)
