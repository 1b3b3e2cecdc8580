"""ocl.fft beside torch.fft: lengths, dimensions, scales, gradients, windows of signals."""

import numpy as np
import pytest
import torch
from comparisons import not_compared
from support import has_float64
from test_complex import array_of, check, numbers, reals

import ocl

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 17, 30, 31, 64, 97, 100, 128, 210, 243, 257, 1000, 1024, 1009)
OF_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OF_SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
OF_REAL = ("rfft", "ihfft", "rfftn", "ihfftn", "rfft2", "ihfft2")


def signal(name, shape, seed=0):
    return reals(shape, seed) if name in OF_REAL else numbers(shape, seed)


def options_of(name, length):
    return {"n": 1} if length == 1 and name in ("irfft", "hfft") else {}


def units_of_error(lib, name, x):
    """How far a transform in float64 is from long double's, in roundings of the largest element."""
    x = np.asarray(x)
    x = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    options = options_of(name, x.shape[-1])
    wide = x.astype(np.clongdouble if np.iscomplexobj(x) else np.longdouble)
    exact = getattr(np.fft, name)(wide, **options)
    error = np.abs(getattr(lib.fft, name)(lib.tensor(x), **options).resolve_conj().numpy() - exact).max()
    return float(error / (np.finfo(np.float64).eps * np.abs(exact).max()))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", OF_ONE)
def test_lengths(name, length):
    """Where MKL transforms with AVX-512, PyTorch's float64 is some 35 roundings off itself."""
    x = signal(name, (3, length))
    slack = 2 * units_of_error(torch, name, x)
    check(lambda lib, x: getattr(lib.fft, name)(x, **options_of(name, length)), x, slack=slack)


@pytest.mark.skipif(not has_float64(), reason=not_compared("transforms in float64", "float64 on this device"))
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", OF_ONE)
def test_float64_beside_long_double(name, length):
    """The measure of our float64, since PyTorch's has errors of this size itself."""
    x = signal(name, (3, length))
    ours, theirs = (units_of_error(lib, name, x) for lib in (ocl, torch))
    assert ours <= 4 * min(theirs, 1) + 4, (ours, theirs)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", OF_ONE)
def test_sizes_dims_and_norms(name, norm):
    x = signal(name, (4, 9, 3))
    for dim, n in ((0, None), (1, 5), (-2, 12), (2, 8)):
        check(lambda lib, a, dim=dim, n=n: getattr(lib.fft, name)(a, n, dim, norm), x)


@pytest.mark.parametrize("name", OF_ONE)
def test_every_layout(name):
    x = signal(name, (6, 8, 5))
    check(lambda lib, a: getattr(lib.fft, name)(a.permute(2, 0, 1)[:, ::2], dim=1), x)
    check(lambda lib, a: getattr(lib.fft, name)(a[:, 1:, 1].T), x)
    assert getattr(ocl.fft, name)(ocl.tensor(x)[:0]).shape[:2] == (0, 8)  # MKL refuses no lines
    check(lambda lib, a: getattr(lib.fft, name)(a[0, :, 0].expand(3, 8)), x)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", OF_SEVERAL)
def test_several_dimensions(name, norm):
    x = signal(name, (4, 6, 5))
    for s, dim in (
        (None, None),
        (None, (0, 2)),
        ((3, 8), None),
        ((7, 4), (2, 0)),
        ((-1, 3), (1, 2)),
        (None, (1,)),
    ):
        check(lambda lib, a, s=s, dim=dim: getattr(lib.fft, name)(a, s, dim, norm), x)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"])
def test_two_dimensions(name):
    check(lambda lib, a: getattr(lib.fft, name)(a), signal(name, (3, 12, 10)))
    check(lambda lib, a: getattr(lib.fft, name)(a, s=(8, 9), norm="ortho"), signal(name, (3, 12, 10)))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "uint8"])
def test_real_numbers_are_taken_as_complex_ones(dtype):
    x = (np.random.default_rng(0).random((3, 9)) * 3).astype(dtype)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "rfftn"):
        ours, theirs = (getattr(lib.fft, name)(lib.tensor(x)) for lib in (ocl, torch))
        assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
        np.testing.assert_allclose(array_of(ours), array_of(theirs), rtol=1e-5, atol=1e-5)


def test_large_lengths():
    for length in (4096, 10007, 65536, 3 * 2**15, 2**18, 2**20):
        z = numbers((1, length), dtype="complex64")
        truth = np.fft.fft(z.astype("complex128"))
        ours, theirs = ocl.fft.fft(ocl.tensor(z)).numpy(), torch.fft.fft(torch.tensor(z)).numpy()
        assert np.abs(ours - truth).max() <= 4 * np.abs(theirs - truth).max()
        back = ocl.fft.ifft(ocl.tensor(ours)).numpy()
        assert np.abs(back - z).max() < 1e-5


def test_second_derivatives():
    def twice(lib, x):
        (first,) = lib.autograd.grad((lib.fft.rfft(x).abs() ** 3).sum(), x, create_graph=True)
        return first

    check(twice, reals((2, 12)))
    x = ocl.tensor(reals((2, 6)), requires_grad=True)
    for function in (
        lambda a: ocl.view_as_real(ocl.fft.fft(a)),
        lambda a: ocl.view_as_real(ocl.fft.rfft2(a)),
        lambda a: ocl.fft.irfft(ocl.view_as_complex(a.reshape(2, 3, 2))),
        lambda a: ocl.fft.hfft(ocl.view_as_complex(a.reshape(2, 3, 2)), n=5),
    ):
        assert ocl.autograd.gradcheck(function, [x]) and ocl.autograd.gradgradcheck(function, [x])


def test_frequencies_and_shifts():
    for lib in (ocl, torch):
        np.testing.assert_allclose(lib.fft.fftfreq(7, 0.5).numpy(), np.fft.fftfreq(7, 0.5), rtol=1e-6)
        np.testing.assert_allclose(lib.fft.rfftfreq(8).numpy(), np.fft.rfftfreq(8), rtol=1e-6)
    x = numbers((4, 5))
    for dim in (None, 0, (0, 1), -1):
        check(lambda lib, a, dim=dim: lib.fft.fftshift(a, dim), x)
        check(lambda lib, a, dim=dim: lib.fft.ifftshift(a, dim), x)


def test_convolution_theorem_trains():
    """A net that learns a filter in the space of frequencies, as Fourier neural operators do."""

    def losses(lib):
        weight = lib.tensor(numbers((9,), 3, 0.3), requires_grad=True)
        x, wanted = lib.tensor(reals((8, 16), 1)), lib.tensor(reals((8, 16), 2))
        optimizer = lib.optim.Adam([weight], lr=0.05)
        found = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = ((lib.fft.irfft(lib.fft.rfft(x) * weight, n=16) - wanted) ** 2).mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    np.testing.assert_allclose(losses(ocl), losses(torch), rtol=1e-9)


STFT = {
    "default": {},
    "hop": {"hop_length": 3},
    "window": {"hop_length": 4, "win_length": 12},
    "two sided": {"onesided": False},
    "normalized": {"normalized": True, "hop_length": 4},
    "not centered": {"center": False, "hop_length": 4},
    "constant": {"pad_mode": "constant"},
    "pairs": {"return_complex": False},
}


@pytest.mark.parametrize("name", STFT)
def test_stft(name):
    how = {"return_complex": True, **STFT[name]}
    window = np.hanning(how.get("win_length", 16) + 2)[1:-1]
    for shape in ((100,), (3, 64)):
        check(lambda lib, x, w: lib.stft(x, 16, window=w, **how), reals(shape), window)
    if not how.get("onesided", True) or name == "normalized":
        check(lambda lib, x: lib.stft(x, 16, **{**how, "onesided": False}), numbers((2, 64)))


@pytest.mark.parametrize("name", ["default", "hop", "window", "two sided", "normalized", "not centered"])
@pytest.mark.filterwarnings("ignore")
def test_istft(name):
    how = {key: value for key, value in STFT[name].items() if key != "pad_mode"}
    window = 0.5 + np.hanning(how.get("win_length", 16))  # the ends are divided by it

    def back(lib, x, w, **more):
        return lib.istft(lib.stft(x, 16, window=w, return_complex=True, **how), 16, window=w, **how, **more)

    check(back, reals((2, 64)), window)
    check(lambda lib, x, w: back(lib, x, w, length=50), reals((64,)), window)
    if name == "default":
        x = ocl.tensor(reals((64,), dtype="float32"))
        returned = ocl.istft(ocl.stft(x, 16, return_complex=True), 16, length=64)
        np.testing.assert_allclose(returned.numpy(), x.numpy(), atol=1e-5)


REFUSED = {
    "no points": lambda: ocl.fft.fft(ocl.ones(3), n=0),
    "norm": lambda: ocl.fft.fft(ocl.ones(3), norm="other"),
    "real of complex": lambda: ocl.fft.rfft(ocl.ones(3, dtype=ocl.complex64)),
    "half": lambda: ocl.fft.fft(ocl.ones(4, dtype=ocl.float16)),
    "dim": lambda: ocl.fft.fft(ocl.ones(3), dim=1),
    "dims twice": lambda: ocl.fft.fftn(ocl.ones(3, 3), dim=(0, 0)),
    "lengths": lambda: ocl.fft.fftn(ocl.ones(3, 3), s=(1,), dim=(0, 1)),
    "stft without return_complex": lambda: ocl.stft(ocl.ones(32), 8),
    "stft of a short signal": lambda: ocl.stft(ocl.ones(5), 16, center=False, return_complex=True),
    "window": lambda: ocl.stft(ocl.ones(32), 8, window=ocl.ones(7), return_complex=True),
    "istft of real numbers": lambda: ocl.istft(ocl.ones(5, 4), 8),
    "istft frequencies": lambda: ocl.istft(ocl.ones(6, 4, dtype=ocl.complex64), 8),
    "scalar": lambda: ocl.fft.fft(ocl.tensor(1.0)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors(name):
    with pytest.raises((ValueError, TypeError, IndexError)):
        REFUSED[name]()
