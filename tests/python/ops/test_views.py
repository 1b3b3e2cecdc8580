"""Views, copies, indexing and what is written in place."""

import numpy as np
import pytest
import torch
from support import assert_same, check_like_torch, of_dtype, skip_without

import ocl

X = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)

# name: (what both libraries do, whether the result shares the input's memory)
VIEWS = {
    "view": (lambda t: t.view(6, 4), True),
    "view -1": (lambda t: t.view(-1, 2), True),
    "view of a tuple": (lambda t: t.view((4, 6)), True),
    "view with ones": (lambda t: t.view(1, 2, 1, 12, 1), True),
    "view of a transposed one": (lambda t: t.transpose(0, 1).view(3, 2, 2, 2), True),
    "reshape": (lambda t: t.reshape(3, 8), True),
    "reshape of a transposed one": (lambda t: t.transpose(0, 2).reshape(4, 6), False),
    "reshape of a slice": (lambda t: t[:, :, ::2].reshape(6, 2), True),
    "reshape of a slice, merged": (lambda t: t[:, :, 1:].reshape(-1), False),
    "flatten": (lambda t: t.flatten(), True),
    "flatten 1": (lambda t: t.flatten(1), True),
    "flatten 0 1": (lambda t: t.flatten(0, 1), True),
    "flatten -2": (lambda t: t.flatten(-2, -1), True),
    "transpose": (lambda t: t.transpose(0, 2), True),
    "transpose -1": (lambda t: t.transpose(-1, 1), True),
    "permute": (lambda t: t.permute(2, 0, 1), True),
    "permute negative": (lambda t: t.permute(-1, 0, 1), True),
    "t": (lambda t: t[0].t(), True),
    "T": (lambda t: t[1].T, True),
    "squeeze": (lambda t: t.view(2, 1, 12, 1).squeeze(), True),
    "squeeze 1": (lambda t: t.view(2, 1, 12, 1).squeeze(1), True),
    "squeeze of no one": (lambda t: t.squeeze(0), True),
    "unsqueeze": (lambda t: t.unsqueeze(1), True),
    "unsqueeze -1": (lambda t: t.unsqueeze(-1), True),
    "unsqueeze of a transposed one": (lambda t: t.transpose(0, 1).unsqueeze(1), True),
    "expand": (lambda t: t[:, :1].expand(2, 5, 4), True),
    "expand -1": (lambda t: t[:, :1].expand(-1, 3, -1), True),
    "expand leading": (lambda t: t.expand(3, 2, 3, 4), True),
    "narrow": (lambda t: t.narrow(2, 1, 2), True),
    "narrow from the end": (lambda t: t.narrow(1, -2, 2), True),
    "narrow to nothing": (lambda t: t.narrow(1, 3, 0), True),
    "select": (lambda t: t.select(1, 2), True),
    "select -1": (lambda t: t.select(-1, -1), True),
    "[0]": (lambda t: t[0], True),
    "[-1]": (lambda t: t[-1], True),
    "[1, 2, 3]": (lambda t: t[1, 2, 3], True),
    "[1:]": (lambda t: t[1:], True),
    "[:, ::2]": (lambda t: t[:, ::2], True),
    "[..., 1]": (lambda t: t[..., 1], True),
    "[None]": (lambda t: t[None], True),
    "[1:, ::2, None, ..., 2]": (lambda t: t[1:, ::2, None, ..., 2], True),
    "[:, -2:, 5:]": (lambda t: t[:, -2:, 5:], True),
    "[..., None, 1:3]": (lambda t: t[..., None, 1:3], True),
    "[()]": (lambda t: t[()], True),
    "[...]": (lambda t: t[...], True),
    "[3:1]": (lambda t: t[:, 3:1], True),
    "[np.int64(1)]": (lambda t: t[np.int64(1)], True),
    "detach": (lambda t: t.detach(), True),
    "contiguous": (lambda t: t.contiguous(), True),
    "contiguous of a transposed one": (lambda t: t.transpose(0, 2).contiguous(), False),
    "clone": (lambda t: t.clone(), False),
    "clone of a transposed one": (lambda t: t.transpose(0, 1).clone(), False),
    "to its own dtype": (lambda t: t.float(), True),
    "chain": (lambda t: t.permute(2, 0, 1)[1:, :, ::2].reshape(-1, 2).t(), False),
}


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", VIEWS)
def test_values_and_gradients(name):
    function, _ = VIEWS[name]
    assert_same(function(ocl.tensor(X)), function(torch.tensor(X)))
    if name != "detach":
        check_like_torch(lambda lib, x: function(x) * 2, X)


@pytest.mark.parametrize("name", VIEWS)
def test_shared_memory(name):
    function, shares = VIEWS[name]
    base = ocl.tensor(X)
    result = function(base)
    base.fill_(-1)
    if result.numel():
        assert (result.numpy() == -1).all() == shares


@pytest.mark.parametrize("name", [n for n, (_, shares) in VIEWS.items() if shares and "contiguous" not in n])
def test_strides(name):
    function, _ = VIEWS[name]
    ours, theirs = function(ocl.tensor(X)), function(torch.tensor(X))
    assert ours.is_contiguous() == theirs.is_contiguous()
    significant = [d for d in range(ours.ndim) if ours.shape[d] > 1]
    if ours.numel():
        assert [ours.stride()[d] for d in significant] == [theirs.stride()[d] for d in significant]


def test_functions_are_methods_too():
    x, t = ocl.tensor(X), torch.tensor(X)
    pairs = [
        (ocl.reshape(x, (4, 6)), torch.reshape(t, (4, 6))),
        (ocl.permute(x, (2, 0, 1)), torch.permute(t, (2, 0, 1))),
        (ocl.flatten(x, 1), torch.flatten(t, 1)),
        (ocl.transpose(x, 0, 1), torch.transpose(t, 0, 1)),
        (ocl.squeeze(x[:1]), torch.squeeze(t[:1])),
        (ocl.unsqueeze(x, 0), torch.unsqueeze(t, 0)),
        (ocl.narrow(x, 0, 1, 1), torch.narrow(t, 0, 1, 1)),
        (ocl.select(x, 0, 1), torch.select(t, 0, 1)),
        (ocl.t(x[0]), torch.t(t[0])),
        (ocl.clone(x), torch.clone(t)),
    ]
    for ours, theirs in pairs:
        assert_same(ours, theirs)


def test_random_chains_of_views(rng):
    """Reshapes decide between view and copy by strides: chains of them keep every element in its place."""
    for _ in range(60):
        ours, theirs = ocl.tensor(X), torch.tensor(X)
        for step in rng.integers(0, 4, 4):
            if step == 0:
                dims = rng.permutation(ours.ndim).tolist()
                ours, theirs = ours.permute(*dims), theirs.permute(*dims)
            elif step == 1:
                shape = (
                    [(-1,), (2, -1), (-1, 2), (1, -1, 1, 2)][rng.integers(4)]
                    if ours.numel() % 2 == 0
                    else (-1,)
                )
                ours, theirs = ours.reshape(*shape), theirs.reshape(*shape)
            elif step == 2:
                d = int(rng.integers(ours.ndim))
                index = (slice(None),) * d + (
                    slice(None, None, 2) if ours.shape[d] % 4 == 0 else slice(None),
                )
                ours, theirs = ours[index], theirs[index]
            else:
                d = int(rng.integers(ours.ndim + 1))
                ours, theirs = ours.unsqueeze(d), theirs.unsqueeze(d)
            if ours.ndim > 4:
                ours, theirs = ours.squeeze(), theirs.squeeze()
        assert_same(ours, theirs)


def test_view_where_the_strides_allow_none():
    with pytest.raises(ValueError, match=r"view: size \[12\] is not compatible.*Use .reshape"):
        ocl.tensor(X)[0].t().view(12)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x.view(5, 5), ValueError, r"view: shape \[5, 5\] is invalid for input of size 24"),
        (lambda x: x.view(-1, -1), ValueError, "only one dimension can be inferred"),
        (lambda x: x.reshape(-1, 5), ValueError, r"reshape: shape \[-1, 5\] is invalid"),
        (lambda x: x.reshape(-2, 12), ValueError, "invalid shape dimension -2"),
        (lambda x: x[:0].reshape(-1, 0), ValueError, "is invalid for input of size 0"),
        (lambda x: x.transpose(0, 3), IndexError, "transpose: dimension out of range"),
        (lambda x: x.permute(0, 1), ValueError, "permute: 2 dims for a tensor of 3"),
        (lambda x: x.permute(0, 1, 1), ValueError, "permute: repeated dim 1"),
        (lambda x: x.t(), ValueError, "t: expected a tensor of at most 2 dimensions"),
        (lambda x: x.squeeze(3), IndexError, "squeeze: dimension out of range"),
        (lambda x: x.unsqueeze(4), IndexError, "unsqueeze: dimension out of range"),
        (lambda x: x.expand(2, 3, 5), ValueError, "expanded size 5 must match the existing size 4"),
        (lambda x: x.expand(3, 4), ValueError, "fewer dimensions"),
        (lambda x: x.expand(-1, 2, 3, 4), ValueError, "-1 is not allowed in a leading"),
        (lambda x: x.narrow(1, 2, 2), IndexError, r"narrow: start \(2\) \+ length \(2\) exceeds"),
        (lambda x: x.select(1, 3), IndexError, "index 3 is out of bounds for dimension 1 with size 3"),
        (lambda x: x[2], IndexError, "index 2 is out of bounds"),
        (lambda x: x[0, 0, 0, 0], IndexError, "too many indices for tensor of dimension 3"),
        (lambda x: x[0, 0, 0][0], IndexError, "too many indices"),
        (lambda x: x[::-1], ValueError, "step must be greater than zero"),
        (lambda x: x[1.5], IndexError, "tensor index: expected ints"),
        (lambda x: x["a"], TypeError, "tensor index: expected ints"),
        (lambda x: x.flatten(2, 1), ValueError, "start_dim 2 comes after end_dim 1"),
        (lambda x: x.size(3), IndexError, "size: dimension out of range"),
        (lambda x: len(x[0, 0, 0]), TypeError, "len\\(\\) of a 0-d tensor"),
        (lambda x: x.item(), ValueError, "a Tensor with 24 elements cannot be converted"),
        (lambda x: bool(x), ValueError, "ambiguous"),
        (lambda x: ocl.empty(*[1] * 9), ValueError, "at most 8 dimensions"),
        (lambda x: ocl.empty(-1), ValueError, "negative size"),
    ],
)
def test_errors(function, error, message):
    with pytest.raises(error, match=message):
        function(ocl.tensor(X))


# --- cat


@pytest.mark.oclgrind
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat(dim, rng):
    shapes = [[3, 4, 5] for _ in range(3)]
    for shape, size in zip(shapes, (2, 0, 5), strict=True):
        shape[dim] = size
    parts = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    check_like_torch(lambda lib, *parts: lib.cat(parts, dim) * 3, *parts)
    check_like_torch(lambda lib, *parts: lib.cat([p.transpose(0, 2) for p in parts], [2, 1, 0][dim]), *parts)


def test_cat_of_dtypes(rng):
    skip_without("float64")
    a, b = np.arange(3), rng.uniform(size=3).astype(np.float32)
    assert_same(ocl.cat([ocl.tensor(a), ocl.tensor(b)]), torch.cat([torch.tensor(a), torch.tensor(b)]))
    x, y = ocl.ones(2, requires_grad=True), ocl.ones(3, dtype=ocl.float64, requires_grad=True)
    ocl.cat([x, y]).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (ocl.float32, ocl.float64)


def test_cat_of_one_tensor_twice():
    x = ocl.ones(2, requires_grad=True)
    (ocl.cat([x, x, x]) * ocl.tensor([1.0, 2, 3, 4, 5, 6])).sum().backward()
    assert x.grad.tolist() == [9, 12]


def test_cat_errors():
    with pytest.raises(ValueError, match="non-empty list"):
        ocl.cat([])
    with pytest.raises(ValueError, match="sizes must match except in dimension 0"):
        ocl.cat([ocl.ones(2, 3), ocl.ones(2, 4)])
    with pytest.raises(ValueError, match="zero-dimensional"):
        ocl.cat([ocl.tensor(1.0), ocl.tensor(2.0)])
    with pytest.raises(IndexError, match="cat: dimension out of range"):
        ocl.cat([ocl.ones(2)], 1)


# --- conversions

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")


@pytest.mark.parametrize("source", DTYPES)
def test_conversions(source):
    """Between all dtypes, of values that fit all of them."""
    values = np.array([0, 1, 2, 3, 100, 0, 7])
    for target in DTYPES:
        if "float64" in (source, target):
            skip_without("float64")
        ours = ocl.tensor(values).to(of_dtype(source)[0]).to(of_dtype(target)[0])
        assert_same(ours, torch.tensor(values).to(of_dtype(source)[1]).to(of_dtype(target)[1]))
        if source != target and not ours.dtype.is_floating_point and target != "bool":
            fractions = ocl.tensor([1.9, -1.9, 0.5]).to(ocl.int32)
            assert fractions.tolist() == [1, -1, 0]


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_rounding_to_half(target, rng):
    values = np.concatenate(
        [
            rng.uniform(-1e4, 1e4, 3000),
            rng.uniform(-1e-6, 1e-6, 100),
            [65519, 65520, 1e9, -1e9, 0.0, -0.0, np.inf, np.nan],
        ]
    )
    ours, theirs = of_dtype(target)
    x = values.astype(np.float32)
    assert_same(ocl.tensor(x).to(ours), torch.tensor(x).to(theirs))


def test_conversion_of_views_and_gradients():
    skip_without("float64")
    check_like_torch(lambda lib, x: x.transpose(0, 2).to(lib.float64).to(lib.float32) * 2, X)
    assert_same(ocl.tensor(X)[:, ::2].int(), torch.tensor(X)[:, ::2].int())
    assert ocl.tensor(X).to(dtype=ocl.int32).dtype == ocl.int32
    assert ocl.tensor(X).to(ocl.ones(1, dtype=ocl.int64)).dtype == ocl.int64


WAYS_TO = {
    "dtype, non_blocking, copy": lambda lib, x, d, t: x.to(t, False, True),
    "dtype, format": lambda lib, x, d, t: x.to(t, memory_format=lib.preserve_format),
    "dtype=, copy=": lambda lib, x, d, t: x.to(dtype=t, copy=True),
    "device": lambda lib, x, d, t: x.to(d),
    "device, dtype": lambda lib, x, d, t: x.to(d, t),
    "device, dtype, non_blocking, copy": lambda lib, x, d, t: x.to(d, t, False, True),
    "all": lambda lib, x, d, t: x.to(d, t, False, True, memory_format=lib.contiguous_format),
    "device=": lambda lib, x, d, t: x.to(device=d, non_blocking=True),
    "None, dtype": lambda lib, x, d, t: x.to(None, t),
    "nothing": lambda lib, x, d, t: x.to(),
    "None": lambda lib, x, d, t: x.to(None),
    "other": lambda lib, x, d, t: x.to(x.to(t)),
    "other, non_blocking, copy": lambda lib, x, d, t: x.to(x.to(t), False, True),
    "format": lambda lib, x, d, t: x.to(memory_format=lib.channels_last),
    "format kept": lambda lib, x, d, t: x.to(memory_format=lib.preserve_format),
    "clone": lambda lib, x, d, t: x.clone(memory_format=lib.contiguous_format),
    "clone kept": lambda lib, x, d, t: lib.clone(x, memory_format=lib.preserve_format),
    "contiguous": lambda lib, x, d, t: x.contiguous(memory_format=lib.contiguous_format),
    "contiguous last": lambda lib, x, d, t: x.contiguous(memory_format=lib.channels_last),
    "half": lambda lib, x, d, t: x.half(memory_format=lib.preserve_format),
}


@pytest.mark.parametrize("way", WAYS_TO)
def test_ways_to_another_dtype_and_format(way, rng):
    array = rng.uniform(-1, 1, (2, 3, 4, 5)).astype(np.float32)
    results = []
    for lib, device in ((ocl, str(ocl.get_default_device())), (torch, "cpu")):
        x = lib.tensor(array).transpose(1, 2)
        y = WAYS_TO[way](lib, x, device, lib.float16)
        results.append((y, y.stride(), y is x))
    (ours, *how), (theirs, *expected) = results
    assert how == expected
    assert_same(ours, theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x, d: x.to(lib.float16, d),
        lambda lib, x, d: x.to(x, lib.float16),
        lambda lib, x, d: x.to(d, d),
        lambda lib, x, d: x.to(lib.float16, True, True, True),
        lambda lib, x, d: x.to(lib.channels_last),
        lambda lib, x, d: x.clone(lib.contiguous_format),
        lambda lib, x, d: x.contiguous(lib.contiguous_format),
    ],
)
def test_ways_that_there_are_not(call):
    for lib, device in ((ocl, str(ocl.get_default_device())), (torch, "cpu")):
        with pytest.raises(TypeError):
            call(lib, lib.ones(2), device)


def test_to_the_same_device_is_the_tensor(device):
    x = ocl.tensor(X)
    assert x.to(device).device == device
    x.to(device).zero_()
    assert not x.numpy().any()


def test_creation_from_lists_and_arrays():
    assert ocl.tensor([1, 2]).dtype == ocl.int64
    assert ocl.tensor([1.0]).dtype == ocl.float32
    assert ocl.tensor([True]).dtype == ocl.bool
    assert ocl.tensor(3.5).shape == ()
    assert ocl.tensor([[1, 2], [3, 4]], dtype=ocl.float32).tolist() == [[1, 2], [3, 4]]
    assert ocl.tensor(X[::-1, :, ::2]).tolist() == X[::-1, :, ::2].tolist()
    assert ocl.tensor(torch.arange(3)).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="uint16 has no dtype here"):
        ocl.tensor(np.zeros(2, np.uint16))
    with pytest.raises(ValueError):
        ocl.tensor([[1], [2, 3]])


def test_creation_functions():
    for ours, theirs in [
        (ocl.zeros(2, 3), torch.zeros(2, 3)),
        (ocl.ones((2, 0)), torch.ones((2, 0))),
        (ocl.full((2,), 7), torch.full((2,), 7)),
        (ocl.full((), 2.5), torch.full((), 2.5)),
        (ocl.full((2,), True), torch.full((2,), True)),
        (ocl.ones(3, dtype=ocl.uint8), torch.ones(3, dtype=torch.uint8)),
        (ocl.zeros_like(ocl.ones(2, dtype=ocl.int32)), torch.zeros(2, dtype=torch.int32)),
        (ocl.ones_like(ocl.tensor(X).transpose(0, 1)), torch.ones(3, 2, 4)),
    ]:
        assert_same(ours, theirs)


# --- in place


@pytest.mark.oclgrind
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_in_place_values(dtype):
    values = (X % 7).astype(dtype)
    ours, theirs = ocl.tensor(values), torch.tensor(values)
    for change in (
        lambda t: t.add_(2),
        lambda t: t.sub_(1),
        lambda t: t.mul_(3),
        lambda t: t[1].add_(t[0]),
        lambda t: t.transpose(0, 2)[1:].mul_(2),
        lambda t: t[:, :, ::2].add_(t[:, :, 1::2]),
        lambda t: t[:, 0].sub_(t[:, 1]),
        lambda t: t[0].fill_(5),
        lambda t: t[..., 1:2].zero_(),
        lambda t: t.add_(t),
        lambda t: t[:, :, :1].copy_(t[:, :, 3:]),
    ):
        change(ours), change(theirs)
        assert_same(ours, theirs)


def test_in_place_returns_the_tensor_itself():
    x = ocl.ones(3)
    assert x.add_(1) is x or x.add_(0).tolist() == x.tolist()
    y = x
    y += 1
    y *= 2
    y -= 1
    assert x.tolist() == y.tolist()
    x.add_(ocl.tensor([1.0, 2, 3]), alpha=2)
    assert x.tolist() == y.tolist()


def test_assignment():
    ours, theirs = ocl.tensor(X), torch.tensor(X)
    for tensor, lib in ((ours, ocl), (theirs, torch)):
        tensor[0] = 7
        tensor[1, 1:, ::2] = lib.tensor([[1.0, 2], [3, 4]])
        tensor[..., 3] = lib.tensor([9.0])
        tensor[:, 0] = tensor[:, 1]
        tensor[1, 0, 0] = lib.tensor(5)
        tensor[:, :, 1] = True
    assert_same(ours, theirs)
    ours[0, 0] = np.array([4.0, 3, 2, 1], np.float32)
    assert ours[0, 0].tolist() == [4, 3, 2, 1]


def test_copy_converts_and_broadcasts():
    x = ocl.zeros(2, 3, dtype=ocl.int32)
    x.copy_(ocl.tensor([1.9, -2.9, 3.0]))
    assert x.tolist() == [[1, -2, 3]] * 2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda x: x.copy_(ocl.ones(5)), ValueError, "copy_|broadcast"),
        (lambda x: x[0].add_(ocl.ones(2, 3, 4)), ValueError, "doesn't match the broadcast shape"),
        (
            lambda x: x.int().add_(1.5),
            TypeError,
            "result type float32 can't be cast to the desired output type int32",
        ),
        (
            lambda x: x[:1].expand(2, 3, 4).add_(1),
            ValueError,
            "more than one element of the written-to tensor",
        ),
        (
            lambda x: x[0].add_(x[0, :1]),
            ValueError,
            "some elements of the input tensor and the written-to tensor",
        ),
        (
            lambda x: x.view(24)[1:].add_(x.view(24)[:-1]),
            ValueError,
            "some elements of the input tensor and the",
        ),
        (
            lambda x: x.view(24)[1:].copy_(x.view(24)[:-1]),
            ValueError,
            "some elements of the input tensor and the",
        ),
        (
            lambda x: x[0, :3, :3].add_(x[0, :3, :3].t()),
            ValueError,
            "some elements of the input tensor and the",
        ),
        (
            lambda x: x.view(24)[::3].add_(x.view(24)[1:9]),
            ValueError,
            "some elements of the input tensor and the",
        ),
        (lambda x: x.__setitem__(0, [1.0, 2, 3, 4]), TypeError, "can't assign a list"),
        (lambda x: x.__setitem__(0, "a"), TypeError, "can't assign a str"),
    ],
)
def test_in_place_errors(change, error, message):
    x = ocl.tensor(X)
    with pytest.raises(error, match=message):
        change(x)
    assert x.tolist() == X.tolist()


def test_leaf_written_in_place():
    x = ocl.ones(3, requires_grad=True)
    for change in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.copy_(ocl.ones(3)),
        lambda: x[:2].fill_(1),
    ):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad|view of a tensor"):
            change()
    with ocl.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 2, 2]


def test_saved_tensor_written_in_place():
    x = ocl.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*version 1; expected version 0"):
        z.sum().backward()


def test_write_through_a_view_is_seen():
    x = ocl.ones(4, requires_grad=True)
    saved = ocl.tensor([1.0, 2, 3, 4])
    y = x * saved
    saved[1:].zero_()
    assert saved._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_gradients_through_in_place():
    def function(lib, x, w):
        y = x * 2
        y.add_(w)
        y.mul_(w)
        y.sub_(1)
        return y

    check_like_torch(function, X, X + 1)


def test_gradient_of_a_filled_and_a_copied_tensor():
    def function(lib, x):
        y = x * 2
        z = x * 3
        y.fill_(1)
        z.copy_(x)
        return y + z

    check_like_torch(function, X)


# --- reading


def test_iteration_and_reading():
    x = ocl.tensor(X)
    assert [row.tolist() for row in x] == X.tolist()
    assert len(x) == 2
    assert float(x[0, 0, 1]) == 1.0 and int(x[1, 0, 0]) == 12 and bool(x[0, 0, 1])
    assert x[1, 2, 3].item() == 23.0
    assert ocl.tensor(5).item() == 5 and ocl.tensor(True).item() is True
    np.testing.assert_array_equal(np.asarray(x.transpose(0, 1)), X.transpose(1, 0, 2))
    assert ocl.empty(0, 3).numpy().shape == (0, 3)
    with pytest.raises(TypeError, match="NumPy has no bfloat16"):
        x.bfloat16().numpy()


def test_unflatten_of_nothing_infers_no_size():
    for lib in (torch, ocl):
        with pytest.raises((ValueError, RuntimeError), match="-1"):
            lib.ones(1, 0, 2).unflatten(1, (-1, 0))
    assert ocl.ones(1, 0, 2).unflatten(1, (-1, 3)).shape == (1, 0, 3, 2)
