"""Cases of Fourier transforms: PyTorch's own on complex numbers, through views as pairs."""

from cases.harness import DENSE, Case, cases, errors, is_torch

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 18, 23, 30)


def signal(draw):
    """A shape and the dimensions to transform, which have elements."""
    shape = list(draw.shape(1, 3, largest=6))
    if draw.chance(0.1):
        shape = [2, draw.choice([64, 100, 143, 211, 256])]
    dims = [int(d) for d in draw.rng.permutation(len(shape))[: draw.integer(1, min(2, len(shape)))]]
    for d in dims:
        shape[d] = draw.choice(LENGTHS) if shape[d] < 10 else shape[d]
    return shape, [d - len(shape) if draw.chance(0.5) else d for d in dims], draw.integer(0, 2)


# PyTorch's names of the normalizations 0, 1 and 2.
FORWARD, INVERSE = ("backward", "ortho", "forward"), ("forward", "ortho", "backward")


def floats(draw, *shape):
    """Not expanded ones, whose gradients are differences of terms that are no results."""
    return draw.floats(shape, layout=draw.choice(DENSE))


@cases("_fft_c2c")
def fft_c2c(draw):
    shape, dims, normalization = signal(draw)
    forward = draw.chance(0.5)

    def function(lib, x):
        if is_torch(lib):
            z = lib.view_as_complex(x.contiguous())
            if forward:
                return lib.view_as_real(lib.fft.fftn(z, dim=dims, norm=FORWARD[normalization]))
            return lib.view_as_real(lib.fft.ifftn(z, dim=dims, norm=INVERSE[normalization]))
        return lib._fft_c2c(x, dims, normalization, forward)

    return Case(function, floats(draw, *shape, 2), unit="largest")


@cases("_fft_r2c")
def fft_r2c(draw):
    shape, dims, normalization = signal(draw)
    onesided = draw.chance(0.7)

    def function(lib, x):
        if is_torch(lib):
            transform = lib.fft.rfftn if onesided else lib.fft.fftn
            return lib.view_as_real(transform(x, dim=dims, norm=FORWARD[normalization]))
        return lib._fft_r2c(x, dims, normalization, onesided)

    return Case(function, floats(draw, *shape), unit="largest")


@cases("_fft_c2r")
def fft_c2r(draw):
    shape, dims, normalization = signal(draw)
    size = shape[dims[-1]]
    sizes = [shape[d] for d in dims]
    shape[dims[-1]] = size // 2 + 1

    def function(lib, x):
        if is_torch(lib):
            z = lib.view_as_complex(x.contiguous())
            return lib.fft.irfftn(z, s=sizes, dim=dims, norm=INVERSE[normalization])
        return lib._fft_c2r(x, dims, normalization, size)

    return Case(function, floats(draw, *shape, 2), unit="largest")


@errors("_fft_c2c", "_fft_r2c", "_fft_c2r")
def bad_signals(name):
    public = {"_fft_c2c": "fftn", "_fft_r2c": "rfftn", "_fft_c2r": "irfftn"}[name]

    def call(*dims, shape=(3, 4, 2)):
        def function(lib):
            x = lib.zeros(*shape)
            if not is_torch(lib):
                return getattr(lib, name)(x, list(dims), 0, 6 if name == "_fft_c2r" else True)
            x = x if name == "_fft_r2c" else lib.view_as_complex(x)
            return getattr(lib.fft, public)(x, dim=dims)

        return function

    calls = [call(3), call(-4), call(1, 1)]
    if name != "_fft_r2c":
        calls.append(call(0, shape=(3, 4, 3)))
    if name != "_fft_c2r":
        calls.append(call(0, shape=(0, 4, 2)))
    return calls
