"""Cases of the convolutions: any stride, padding, dilation and groups, with and without batch and bias."""

from cases.harness import Case, cases, errors


def one_or_tuple(draw, numbers):
    """As PyTorch takes them: one number where they are equal, at times, else a tuple."""
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
