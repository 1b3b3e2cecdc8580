"""ocl.testing against torch.testing: what is close, what is not, and the numbers of make_tensor."""

import numpy as np
import pytest
import torch
import torch.testing

import ocl
import ocl.testing

PAIRS = [
    lambda lib: (lib.tensor([1.0, 2.0]), lib.tensor([1.0, 2.0 + 1e-6])),
    lambda lib: (lib.tensor([1.0, 2.0]), lib.tensor([1.0, 2.1])),
    lambda lib: (lib.tensor([1, 2]), lib.tensor([1, 2])),
    lambda lib: (lib.tensor([1, 2]), lib.tensor([1, 3])),
    lambda lib: (lib.tensor([1, 2]), lib.tensor([1.0, 2.0])),
    lambda lib: (lib.tensor([[1.0]]), lib.tensor([1.0])),
    lambda lib: (lib.tensor(float("nan")), lib.tensor(float("nan"))),
    lambda lib: (lib.tensor(float("inf")), lib.tensor(float("inf"))),
    lambda lib: (lib.tensor(float("inf")), lib.tensor(1.0)),
    lambda lib: (lib.tensor([True]), lib.tensor([True])),
    lambda lib: (lib.tensor([True]), lib.tensor([False])),
    lambda lib: (lib.zeros(0), lib.zeros(0)),
    lambda lib: (lib.ones(2).half(), lib.ones(2).half() + 0.0009),
    lambda lib: (1.0, 1.0 + 1e-9),
    lambda lib: (1.0, 1.01),
    lambda lib: (1, 2),
    lambda lib: (None, None),
    lambda lib: (None, 1),
    lambda lib: ([lib.ones(2), 1], [lib.ones(2), 1]),
    lambda lib: ([lib.ones(2)], [lib.ones(2), lib.ones(2)]),
    lambda lib: ({"a": lib.ones(2)}, {"a": lib.ones(2) * 2}),
    lambda lib: ({"a": lib.ones(2)}, {"b": lib.ones(2)}),
    lambda lib: (lib.ones(2), 1.0),
]
OPTIONS = [
    {},
    {"rtol": 0.1, "atol": 0.0},
    {"rtol": 0.0, "atol": 0.2},
    {"equal_nan": True},
    {"check_dtype": False},
    {"msg": "mine"},
]


def outcome(lib, pair, options):
    try:
        lib.testing.assert_close(*pair(lib), **options)
    except (AssertionError, TypeError) as error:
        return type(error), str(error).splitlines()[0]
    return None


@pytest.mark.parametrize("pair", range(len(PAIRS)))
@pytest.mark.parametrize("options", range(len(OPTIONS)))
def test_assert_close(pair, options):
    ours, theirs = (outcome(lib, PAIRS[pair], OPTIONS[options]) for lib in (ocl, torch))
    assert (ours is None) == (theirs is None), (ours, theirs)
    if ours is not None:
        assert issubclass(ours[0], theirs[0])
        if OPTIONS[options] or "not close" in theirs[1] or "not equal" in theirs[1]:
            assert ("mine" in ours[1]) == ("mine" in theirs[1])
            assert ours[1] == theirs[1].replace("torch.Tensor", "ocl._C.Tensor") or "not" in ours[1]


def test_the_places_of_differences():
    with pytest.raises(AssertionError) as ours:
        ocl.testing.assert_close({"w": [ocl.ones(2, 2)]}, {"w": [ocl.tensor([[1.0, 1.0], [1.0, 3.0]])]})
    text = str(ours.value)
    assert "Mismatched elements: 1 / 4 (25.0%)" in text and "index (1, 1)" in text and "['w'][0]" in text


def test_strides_and_tolerances():
    x = ocl.ones(2, 3)
    ocl.testing.assert_close(x.t().contiguous(), x.t())
    with pytest.raises(AssertionError, match="stride"):
        ocl.testing.assert_close(x.t().contiguous(), x.t(), check_stride=True)
    with pytest.raises(ValueError, match="both|Both"):
        ocl.testing.assert_close(x, x, rtol=1.0)
    with pytest.raises(AssertionError, match="seen: Tensor-likes"):
        ocl.testing.assert_close(x, x + 1, msg=lambda text: "seen: " + text)


@pytest.mark.parametrize("name", ["float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_make_tensor(name):
    dtype = getattr(ocl, name)
    made = ocl.testing.make_tensor(40, 30, dtype=dtype, exclude_zero=name.startswith("float"))
    theirs = torch.testing.make_tensor(40, 30, dtype=getattr(torch, name), device="cpu")
    assert made.shape == (40, 30) and made.dtype == dtype
    found = made.float().numpy()
    assert (
        abs(found.mean() - theirs.float().mean().item()) < 1
        and abs(found.std() - theirs.float().std().item()) < 1
    )
    assert found.min() >= theirs.float().min().item() - 1 and found.max() <= theirs.float().max().item() + 1


def test_options_of_make_tensor():
    made = ocl.testing.make_tensor(
        (3, 4), dtype=ocl.float32, low=2, high=3, requires_grad=True, noncontiguous=True
    )
    assert made.requires_grad and not made.is_contiguous() and made.shape == (3, 4)
    assert ((made >= 2) & (made <= 3)).all()
    assert set(
        np.unique(ocl.testing.make_tensor(99, dtype=ocl.int64, low=0, high=2, exclude_zero=True).numpy())
    ) == {1}
    for wrong in ({"low": 3, "high": 2}, {"low": float("nan")}):
        with pytest.raises(ValueError, match="low"):
            ocl.testing.make_tensor(2, dtype=ocl.float32, **wrong)
    with pytest.raises(ValueError, match="integral"):
        ocl.testing.make_tensor(2, dtype=ocl.int64, requires_grad=True)
