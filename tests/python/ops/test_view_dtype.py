"""Tensor.view(dtype): the same memory as elements of another dtype, beside PyTorch's."""

import numpy as np
import pytest
import torch
from support import skip_without

import ocl

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64".split()
LAYOUTS = {
    "whole": lambda t: t,
    "rows": lambda t: t[1:, ::2],
    "part of the columns": lambda t: t[:, :, 8:16],
    "an odd offset": lambda t: t[:, :, 1:9],
    "transposed": lambda t: t.transpose(1, 2),
    "transposed rows": lambda t: t.transpose(0, 1),
    "steps": lambda t: t[..., ::2],
    "a vector": lambda t: t.flatten()[8:24],
    "a number": lambda t: t[1, 1, 0],
    "one column": lambda t: t[..., :1],
    "nothing": lambda t: t[:0],
    "no columns": lambda t: t[..., :0],
    "odd lines": lambda t: t.flatten()[:57].view(3, 19)[:, :16],
    "backwards in vain": lambda t: t.expand(2, 3, 4, 16),
}


def memory_of(lib, dtype):
    """[3, 4, 16] elements whose bytes are finite as every dtype, and 0 or 1."""
    content = np.random.default_rng(7).integers(0, 2, 3 * 4 * 16 * 16, dtype=np.uint8)
    if lib is torch:
        memory = torch.from_numpy(content)
        return memory.view(getattr(torch, dtype))[: 3 * 4 * 16].view(3, 4, 16)
    return ocl.tensor(content).view(getattr(ocl, dtype))[: 3 * 4 * 16].view(3, 4, 16)


def bits(lib, t):
    as_bytes = t.contiguous().flatten().view(lib.uint8)
    return as_bytes.numpy().tolist() if lib is ocl else as_bytes.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("source", DTYPES)
def test_every_pair(source, layout):
    skip_without(source)
    ours, theirs = (LAYOUTS[layout](memory_of(lib, source)) for lib in (ocl, torch))
    for target in DTYPES:
        try:
            expected = theirs.view(getattr(torch, target))
        except RuntimeError:
            with pytest.raises(
                (RuntimeError, ValueError), match=f"view: {source} of shape .* as {target}: exp"
            ):
                ours.view(getattr(ocl, target))
            continue
        got = ours.view(dtype=getattr(ocl, target))
        assert str(got.dtype).endswith(target)
        assert got.shape == expected.shape and got.storage_offset() == expected.storage_offset()
        assert got.stride() == expected.stride()
        assert bits(ocl, got) == bits(torch, expected)


@pytest.mark.parametrize("fuses", [True, False])
def test_writes_through_both_are_in_order(fuses, rng):
    """Pointwise work that waits for more knows that both are one memory."""
    x = rng.standard_normal(1000).astype(np.float32)

    def run(lib, t):
        results = []
        for _ in range(20):  # more often than a chain is met before it is built
            t.mul_(2)
            whole = t.view(lib.int32)
            whole &= 0x7FFFFFFF
            t.add_(1)
            results.append(whole + 1)
            t.view(lib.int16)[::2].zero_()
            results.append(t * 3)
            t.view(lib.int64)[:3] = 5
            results.append(t + 1)
            t.div_(64)
        return [bits(lib, r) for r in results]

    was = ocl.get_fusion()
    ocl.set_fusion(fuses)
    try:
        assert run(ocl, ocl.tensor(x)) == run(torch, torch.tensor(x))
    finally:
        ocl.set_fusion(was)


def test_it_has_no_history():
    x = ocl.ones(3, 4, requires_grad=True)
    for dtype in (ocl.int32, ocl.float32, ocl.complex64):
        viewed = x.view(dtype)
        assert not viewed.requires_grad and viewed.grad_fn is None and viewed.data_ptr() == x.data_ptr()
    y = x * 2
    z = y * y
    y.view(ocl.int32).zero_()
    with pytest.raises(RuntimeError, match="in.?place"):
        z.sum().backward()


def test_vmap():
    x = ocl.randn(5, 4, 6)
    got = ocl.vmap(lambda t: t.view(ocl.int16) + 1)(x)
    assert got.tolist() == (x.view(ocl.int16) + 1).tolist()
    with pytest.raises(
        ValueError, match="view: float32 of shape .* as int16: expected at least one dimension"
    ):
        ocl.vmap(lambda t: t.view(ocl.int16))(x[0, 0])


def test_shapes_only_and_programs():
    x = ocl.randn(4, 6)
    program = ocl.export(lambda t: ((t + 1).view(ocl.int32) >> 23) & 255, (x,))
    assert ocl.runtime.prepare(program)(x).tolist() == (((x + 1).view(ocl.int32) >> 23) & 255).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.view("int32"),
        lambda t: t.view(ocl.int32, 3),
        lambda t: t.view(dtype=3),
        lambda t: t.view(dtype=None),
        lambda t: t.view(np.int32),
        lambda t: t.view(torch.int32),
    ],
)
def test_what_is_no_dtype(call):
    with pytest.raises(TypeError, match="view|expected sizes as ints"):
        call(ocl.ones(2, 3))
