"""Cases of the convolutions: any stride, padding, dilation and groups, with and without batch and bias."""

from cases.harness import Case, cases, errors


def one_or_tuple(draw, numbers):
    """A form that PyTorch takes: one number where they are equal, at times, else a tuple."""
    return numbers[0] if len(set(numbers)) == 1 and draw.chance(0.5) else tuple(numbers)


def channels(draw):
    """Groups, input channels and output channels; a third of the time one group a channel."""
    groups = draw.choice([1, 1, 1, 2, 3])
    if draw.chance(0.3):
        groups = draw.integer(1, 5)
        return groups, groups, groups * draw.integer(1, 2)
    return groups, groups * draw.integer(1, 5), groups * draw.integer(1, 6)


def operands(draw, x, weight, features):
    """Inputs of the call: x, with or without a batch, the weight and perhaps a bias."""
    batch = draw.choice([(), (0,), (1,), (2,), (3,)]) if draw.chance(0.5) else (2,)
    inputs = [draw.floats((*batch, *x)), draw.floats(weight)]
    if draw.chance(0.6):
        inputs.append(draw.floats((features,)))
    return inputs


@cases("conv1d", "conv2d", "conv3d")
def convolution(draw, name):
    axes = int(name[-2])
    groups, c, features = channels(draw)
    kernel = [draw.integer(1, 4 if axes < 3 else 3) for _ in range(axes)]
    dilation = [draw.choice([1, 1, 2, 3]) for _ in range(axes)]
    word = draw.choice([None, None, "same", "valid"])
    stride = [1 if word == "same" else draw.choice([1, 1, 2, 3]) for _ in range(axes)]
    padding = [0 if word else draw.integer(0, 3) for _ in range(axes)]
    size = [
        max(1, d * (k - 1) + 1 - 2 * p) + draw.integer(0, 7 if axes < 3 else 4)
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    if draw.chance(0.2):  # one window, of all there is
        size, word, groups = kernel, None, draw.choice([1, 1, groups])
        padding, dilation = [0] * axes, [1] * axes
    options = {
        "stride": one_or_tuple(draw, stride),
        "padding": word or one_or_tuple(draw, padding),
        "dilation": one_or_tuple(draw, dilation),
        "groups": groups,
    }
    inputs = operands(draw, (c, *size), (features, c // groups, *kernel), features)
    return Case(
        lambda lib, *tensors: getattr(lib.nn.functional, name)(*tensors, **options), *inputs, unit="sums"
    )


@cases("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def transposed_convolution(draw, name):
    axes = int(name[-2])
    groups, c, features = channels(draw)
    kernel = [draw.integer(1, 4 if axes < 3 else 3) for _ in range(axes)]
    dilation = [draw.choice([1, 1, 2, 4]) for _ in range(axes)]
    stride = [draw.choice([1, 2, 3]) for _ in range(axes)]
    added = [draw.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
    size = [draw.size(6 if axes < 3 else 4) for _ in range(axes)]
    padding = [
        draw.integer(0, min(3, ((n - 1) * s + d * (k - 1) + a) // 2))
        for n, s, d, k, a in zip(size, stride, dilation, kernel, added, strict=True)
    ]
    options = {
        "stride": one_or_tuple(draw, stride),
        "padding": one_or_tuple(draw, padding),
        "output_padding": one_or_tuple(draw, added),
        "groups": groups,
        "dilation": one_or_tuple(draw, dilation),
    }
    inputs = operands(draw, (c, *size), (c, features // groups, *kernel), features)
    return Case(
        lambda lib, *tensors: getattr(lib.nn.functional, name)(*tensors, **options), *inputs, unit="sums"
    )


@cases("convolution")
def convolution_by_dimensions(draw):
    axes = draw.integer(1, 3)
    transposed = draw.chance(0.5)
    groups, c, features = channels(draw)
    kernel, stride, dilation = ([draw.integer(1, 3) for _ in range(axes)] for _ in range(3))
    added = [
        draw.integer(0, max(s, d) - 1) if transposed else 0 for s, d in zip(stride, dilation, strict=True)
    ]
    padding = [draw.integer(0, k // 2) for k in kernel]
    size = [d * (k - 1) + draw.integer(1, 4) for k, d in zip(kernel, dilation, strict=True)]
    weight = (c, features // groups, *kernel) if transposed else (features, c // groups, *kernel)
    inputs = [draw.floats((draw.integer(0, 3), c, *size)), draw.floats(weight)]
    if draw.chance(0.6):
        inputs.append(draw.floats((features,)))
    settings = [stride, padding, dilation, transposed, added, groups]
    return Case(
        lambda lib, x, weight, bias=None: lib.convolution(x, weight, bias, *settings), *inputs, unit="sums"
    )


@errors("convolution")
def convolution_by_dimensions_errors():
    def call(x, weight, stride=(1,), transposed=False, output_padding=(0,)):
        return lambda lib: lib.convolution(
            lib.ones(*x), lib.ones(*weight), None, stride, (0,), (1,), transposed, output_padding, 1
        )

    return [
        call((1, 4, 5), (2, 4)),
        call((1, 4, 5, 5), (2, 4, 3, 3), stride=(1, 1, 1)),
        call((1, 4, 5, 5), (2, 3, 3, 3)),
        call((1, 4, 5, 5), (4, 3, 3, 3), transposed=True, output_padding=(1,)),
    ]


def call(name, x, weight, **options):
    return lambda lib: getattr(lib.nn.functional, name)(lib.ones(*x), lib.ones(*weight), **options)


@errors("conv1d")
def conv1d_errors():
    return [
        call("conv1d", (4,), (2, 4, 3)),
        call("conv1d", (1, 4, 5), (2, 4, 3, 3)),
        call("conv1d", (1, 4, 5), (2, 4, 6)),
        call("conv1d", (1, 4, 5), (2, 3, 3)),
        call("conv1d", (1, 4, 5), (2, 4, 3), stride=2, padding="same"),
        call("conv1d", (1, 4, 5), (2, 4, 3), padding="full"),
    ]


@errors("conv2d", "conv3d")
def convolution_errors(name):
    axes = int(name[-2])
    x, kernel, strides = (1, 4, *(5,) * axes), (3,) * axes, (1,) * (axes - 1) + (2,)
    one, weight = (1, 1, *(3,) * axes), (2, 1, *(1,) * axes)
    return [
        call(name, x[2:], (2, 4, *kernel)),
        call(name, x, (2, 4, *kernel[1:])),
        call(name, x, (2, 4, *kernel), stride=0),
        call(name, x, (2, 4, *kernel), padding=-1),
        call(name, x, (3, 2, *kernel), groups=2),
        call(name, x, (2, 4, *(6,) * axes)),
        call(name, x, (2, 4, *kernel), stride=strides, padding="same"),
        lambda lib: getattr(lib.nn.functional, name)(lib.ones(*one), lib.ones(*weight), lib.ones(3)),
    ]


@errors("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def transposed_errors(name):
    plane = (5,) * int(name[-2])
    kernel = (3,) * int(name[-2])
    x, weight = (1, 4, *plane), (4, 2, *kernel)
    return [
        call(name, (4,), weight),
        call(name, x, (4, 2)),
        call(name, x, (3, 2, *kernel)),
        call(name, x, weight, output_padding=1),
        call(name, x, weight, stride=0),
        call(name, x, weight, padding=-1),
        call(name, x, weight, padding=9),
        call(name, x, weight, groups=3),
        lambda lib: getattr(lib.nn.functional, name)(lib.ones(*x), lib.ones(*weight), lib.ones(3)),
    ]
