"""Operators that programs define by torch.library, and the names that refuse to be used."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import ocl
from ocl import absent, library

PROGRAM = """
import ocl
torch = ocl.as_torch()
import torch.distributed as dist
import tempfile
import torch.distributed.checkpoint as dcp
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.nn.attention.flex_attention import flex_attention
assert not isinstance(torch.ones(2), DTensor) and Shard(1) == Shard(1) != Shard(0) and Shard(1).is_shard(1)
assert Shard.local_shard_size_and_offset(10, 4, 3) == (1, 9) and Replicate().is_replicate()
with tempfile.TemporaryDirectory() as folder:
    dcp.save({"a": torch.ones(3), "n": 7}, checkpoint_id=folder)
    loaded = {"a": torch.zeros(3), "n": 0}
    dcp.load(loaded, checkpoint_id=folder)
    assert loaded["a"].tolist() == [1.0] * 3 and loaded["n"] == 7
assert dist.checkpoint.save is dcp.save
unusable = (DTensor, FullyShardedDataParallel, flex_attention, torch.cuda.CUDAGraph, dcp.FileSystemWriter)
for refused in unusable:
    try:
        refused(1)
    except NotImplementedError as error:
        assert refused.__name__ in str(error) and "is not there" in str(error), error
    else:
        raise AssertionError(refused)
assert torch.finfo(torch.float8_e4m3fn).max == 448 and torch.device("meta").type == "meta"
assert torch.iinfo(torch.uint16).max == 65535 and torch.float8_e5m2 != torch.float32
try:
    torch.ones(2).to(torch.float8_e4m3fn)
except TypeError:
    pass
else:
    raise AssertionError("float8")
try:
    torch.ops.load_library("/nowhere/other.so")
except OSError as error:
    assert "compiled for PyTorch" in str(error)
lib = torch.library.Library("mine", "DEF")
lib.define("twice(Tensor x, float by=2.0) -> Tensor")
lib.impl("twice", lambda x, by: x * by, "CompositeImplicitAutograd")
x = torch.ones(3, requires_grad=True)
torch.ops.mine.twice(x).sum().backward()
assert x.grad.tolist() == [2.0] * 3 and torch.ops.mine.twice.default(x, by=3.0).tolist() == [3.0] * 3
print("ALL HELD")
"""


def test_names_under_as_torch():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.stdout.endswith("ALL HELD\n"), done.stderr


def test_limits_of_dtypes_that_no_tensor_has():
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"):
        ours, theirs = ocl.finfo(absent.dtypes[name]), torch.finfo(getattr(torch, name))
        for limit in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            assert getattr(ours, limit) == pytest.approx(getattr(theirs, limit), rel=1e-6), (name, limit)
        assert ours.dtype == theirs.dtype


def program(lib):
    """A custom operator of that library's, its result and gradients."""

    def square(x: lib.Tensor, factor: float = 2.0, *, shift: int = 1) -> lib.Tensor:
        return x * x * factor + shift

    operator = lib.library.custom_op("tests_of_ocl::square", square, mutates_args=())
    x = lib.tensor([1.0, -2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered|does not require grad"):
        operator(x).sum().backward()

    def keep(ctx, inputs, keyword_only_inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.factor = inputs[1] + 0 * keyword_only_inputs["shift"]

    operator.register_autograd(
        lambda ctx, g: (2 * ctx.saved_tensors[0] * ctx.factor * g, None), setup_context=keep
    )
    y = operator(x, 3.0, shift=5)
    y.sum().backward()
    schema = lib.library.infer_schema(square, mutates_args=("x",))
    return y.detach().numpy(), x.grad.numpy(), schema


def test_custom_operator_like_pytorchs():
    ours, theirs = program(ocl), program(torch)
    np.testing.assert_allclose(ours[0], theirs[0])
    np.testing.assert_allclose(ours[1], theirs[1])
    assert ours[2] == theirs[2]


def test_operators_refuse_what_does_not_fit():
    library.define("tests_of_ocl::add", "(Tensor x, Tensor? y=None, *, int[] sizes=[1, 2]) -> Tensor")
    operator = library.operators.ops.tests_of_ocl.add
    x = ocl.ones(2)
    with pytest.raises(NotImplementedError, match="no kernel"):
        operator(x)
    library.register_kernel("tests_of_ocl::add", "cpu", lambda x, y, sizes: x * sum(sizes))
    assert operator(x).tolist() == [3.0, 3.0] and operator(x, sizes=[4]).tolist() == [4.0, 4.0]
    for given in ((), (x, x, [1])):
        with pytest.raises(TypeError, match="argument"):
            operator(*given)
    with pytest.raises(TypeError, match="unexpected"):
        operator(x, other=1)
    with pytest.raises(RuntimeError, match="does not exist"):
        library.register_fake("tests_of_ocl::missing", lambda x: x)
    with pytest.raises(RuntimeError, match="there already"):
        library.define("tests_of_ocl::add", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="expected a schema"):
        library.define("tests_of_ocl::other", "Tensor x")
    library.register_fake("tests_of_ocl::add", lambda x, y, sizes: x.new_empty(7))
    with ocl.shapes_only():
        assert operator(ocl.empty(3)).shape == (7,)


def test_init_draws_from_a_generator():
    """The numbers of the method that it stands for, and the stream of the devices goes on as it was."""
    ocl.manual_seed(3)
    expected = ocl.rand(4).tolist()
    for name in ("normal_", "uniform_", "trunc_normal_", "xavier_uniform_", "kaiming_normal_"):
        fill = getattr(ocl.nn.init, name)
        ocl.manual_seed(3)
        drawn = [fill(ocl.empty(5, 4), generator=ocl.Generator().manual_seed(7)).tolist() for _ in range(2)]
        assert drawn[0] == drawn[1] and ocl.rand(4).tolist() == expected, name
    generator = ocl.Generator().manual_seed(7)
    first = ocl.nn.init.normal_(ocl.empty(5), generator=generator)
    again = ocl.nn.init.normal_(ocl.empty(5), generator=generator)
    assert first.tolist() != again.tolist()
    assert first.tolist() == ocl.empty(5).normal_(generator=ocl.Generator().manual_seed(7)).tolist()
