"""Cases of the normalisations."""

from cases.harness import DENSE, Case, cases, errors, is_torch


def spread(draw, shape):
    """Floats whose mean is some way from zero, and not all of them one: gradients would be rounding alone."""
    return draw.floats(shape, -2.0, 5.0, draw.choice(DENSE))


def maybe(draw, make):
    return make() if draw.chance(0.6) else None


def case_of(function, *inputs, **options):
    """A case some of whose inputs are left out: `function` gets None for them."""
    given = [i for i in inputs if i is not None]

    def call(lib, *tensors):
        tensors = iter(tensors)
        return function(lib, *(None if i is None else next(tensors) for i in inputs))

    return Case(call, *given, unit="largest", **options)


def batches(draw, lowest=2, highest=5):
    """A shape [N, C, ...] with more than one value per channel."""
    while True:
        shape = (*(draw.size(6) for _ in range(draw.integer(lowest, highest))),)
        values = 1
        for size in (shape[0], *shape[2:]):
            values *= size
        if values > 1:
            return shape


def affine(draw, shape):
    return maybe(draw, lambda: draw.floats(shape)), maybe(draw, lambda: draw.floats(shape))


@cases("batch_norm")
def batch_norm(draw):
    shape = batches(draw)
    x, (weight, bias) = spread(draw, shape), affine(draw, shape[1:2])
    eps, momentum = draw.choice([1e-5, 0.1]), draw.choice([0.1, 0.7, 0.0, 1.0])
    training = draw.chance(0.5)
    has_running = not training or draw.chance(0.5)
    mean = draw.floats(shape[1:2], layout="contiguous") if has_running else None
    variance = draw.floats(shape[1:2], 0.3, 3.0, layout="contiguous") if has_running else None

    def function(lib, x, mean, variance, weight, bias):
        running = [None if t is None else t.detach().clone() for t in (mean, variance)]
        y = lib.nn.functional.batch_norm(x, *running, weight, bias, training, momentum, eps)
        return (y, *running) if has_running else y

    return case_of(function, x, mean, variance, weight, bias, gradcheck=not has_running)


@cases("batch_norm_activation")
def batch_norm_activation(draw):
    shape = batches(draw)
    x, (weight, bias) = spread(draw, shape), affine(draw, shape[1:2])
    activation = draw.choice(["relu", "relu6", "hardsigmoid", "hardswish", "silu", ""])
    training = draw.chance(0.5)
    mean = None if training else draw.floats(shape[1:2], layout="contiguous")
    variance = None if training else draw.floats(shape[1:2], 0.3, 3.0, layout="contiguous")
    summed = (1, *shape[1:]) if draw.chance(0.2) else shape
    addend = maybe(draw, lambda: draw.floats(summed, -2.0, 2.0, draw.choice(DENSE)))

    def function(lib, x, mean, variance, weight, bias, addend):
        running = [None if t is None else t.detach() for t in (mean, variance)]
        given = (x, *running, weight, bias, training, 0.1, 1e-3)
        functional = lib.nn.functional
        if not is_torch(lib):
            return functional.batch_norm_activation(*given, activation, addend)
        y = functional.batch_norm(*given)
        y = y if addend is None else y + addend
        return getattr(functional, activation)(y) if activation else y

    is_smooth = activation in ("silu", "")
    return case_of(function, x, mean, variance, weight, bias, addend, gradcheck=training and is_smooth)


@errors("batch_norm")
def batch_norm_errors():
    def call(*shape, running=None, **options):
        def run(lib):
            statistics = [None, None] if running is None else [lib.ones(running), lib.ones(running)]
            given = {
                k: lib.ones(v) if isinstance(v, int) and k != "training" else v for k, v in options.items()
            }
            return lib.nn.functional.batch_norm(lib.zeros(*shape), *statistics, **given)

        return run

    return [
        call(2, 3),
        call(2, 3, running=4),
        call(1, 3, training=True),
        call(4, 3, training=True, weight=2),
        call(4, 3, training=True, bias=2),
    ]


@cases("layer_norm", "rms_norm")
def row_norms(draw, name):
    shape = draw.shape(1, 4)
    if draw.chance(0.2):
        shape = (draw.integer(1, 4), draw.integer(30, 700))
    trailing = draw.integer(1, len(shape))
    sizes = shape[-trailing:]
    eps = draw.choice([None, 1e-5, 0.1])
    weight, bias = affine(draw, sizes)

    def layer_norm(lib, x, weight, bias):
        options = {} if eps is None else {"eps": eps}
        return lib.nn.functional.layer_norm(x, sizes, weight, bias, **options)

    def rms_norm(lib, x, weight):
        # The default eps is of what is computed in (test_norm.py); the truth in float64 is for float32's.
        return lib.nn.functional.rms_norm(x, sizes, weight, 1.1920928955078125e-07 if eps is None else eps)

    if name == "rms_norm":
        return case_of(rms_norm, spread(draw, shape), weight)
    return case_of(layer_norm, spread(draw, shape), weight, bias, gradcheck=sizes != (1,))


@errors("layer_norm", "rms_norm")
def row_norm_errors(name):
    def call(shape, sizes, **options):
        return lambda lib: getattr(lib.nn.functional, name)(
            lib.zeros(*shape), sizes, **{k: lib.zeros(*v) for k, v in options.items()}
        )

    return [call((2, 3), [4]), call((2, 3), [1, 2, 3]), call((2, 3), []), call((2, 3), [3], weight=(2,))]


@cases("group_norm")
def group_norm(draw):
    groups = draw.integer(1, 4)
    while True:
        shape = (draw.size(4), groups * draw.size(3), *(draw.size(7) for _ in range(draw.integer(0, 3))))
        if draw.chance(0.15):
            shape = (0, *shape[1:])
            break
        values = shape[0]
        for size in shape[1:]:
            values *= size
        if values > groups:
            break
    if draw.chance(0.2):
        shape = (2, 2 * groups, draw.integer(30, 400))
    eps = draw.choice([1e-5, 0.1])
    weight, bias = affine(draw, shape[1:2])
    if weight is None:  # PyTorch's gradient of a bias without a weight fails
        bias = None
    return case_of(
        lambda lib, x, weight, bias: lib.nn.functional.group_norm(x, groups, weight, bias, eps),
        spread(draw, shape),
        weight,
        bias,
        gradcheck=shape[1] // groups > 1 or len(shape) > 2,
    )


@errors("group_norm")
def group_norm_errors():
    def call(shape, groups, weight=None):
        return lambda lib: lib.nn.functional.group_norm(
            lib.zeros(*shape), groups, None if weight is None else lib.zeros(weight)
        )

    return [call((2, 3), 2), call((3,), 1), call((1, 2), 2), call((2, 4, 3), 2, weight=3)]


@cases("instance_norm")
def instance_norm(draw):
    shape = (
        draw.size(4),
        draw.size(4),
        draw.integer(2, 9),
        *(draw.size(5) for _ in range(draw.integer(0, 2))),
    )
    eps, momentum = draw.choice([1e-5, 0.1]), draw.choice([0.1, 0.6])
    use_input_stats = draw.chance(0.7)
    has_running = not use_input_stats or draw.chance(0.5)
    mean = draw.floats(shape[1:2], layout="contiguous") if has_running else None
    variance = draw.floats(shape[1:2], 0.3, 3.0, layout="contiguous") if has_running else None

    def function(lib, x, mean, variance, weight, bias):
        running = [None if t is None else t.detach().clone() for t in (mean, variance)]
        y = lib.nn.functional.instance_norm(x, *running, weight, bias, use_input_stats, momentum, eps)
        return (y, *running) if has_running else y

    return case_of(
        function, spread(draw, shape), mean, variance, *affine(draw, shape[1:2]), gradcheck=not has_running
    )


@errors("instance_norm")
def instance_norm_errors():
    def call(*shape, **options):
        return lambda lib: lib.nn.functional.instance_norm(lib.zeros(*shape), **options)

    return [call(2, 3), call(2, 3, 1), call(2, 3, 4, use_input_stats=False)]


@cases("local_response_norm")
def local_response_norm(draw):
    shape = draw.shape(3, 5, 6)
    size = draw.integer(1, 7)

    def function(lib, x):
        x = x.contiguous() if is_torch(lib) else x  # PyTorch's takes no views that have no view
        return lib.nn.functional.local_response_norm(x, size, alpha, beta, k)

    alpha, beta, k = draw.choice([(1e-4, 0.75, 1.0), (0.5, 0.6, 2.0), (1.0, 1.5, 0.3)])
    return Case(function, draw.floats(shape), unit="largest")


@errors("local_response_norm")
def local_response_norm_errors():
    return [lambda lib: lib.nn.functional.local_response_norm(lib.zeros(2, 3), 2)]


@cases("normalize")
def normalize(draw):
    x = draw.floats(draw.shape(2, 4))
    options = {"p": draw.choice([1.0, 2.0, 3.0])} if draw.chance(0.6) else {}
    if draw.chance(0.6):
        options["dim"] = draw.dim(x) if draw.chance(0.7) else draw.dims(x)
    if draw.chance(0.2):
        options["eps"] = 2.0
    return Case(lambda lib, x: lib.nn.functional.normalize(x, **options), x, unit="largest")


@errors("normalize")
def normalize_errors():
    return [
        lambda lib: lib.nn.functional.normalize(lib.zeros(2, 3), dim=2),
        lambda lib: lib.nn.functional.normalize(lib.zeros(2)),
    ]
