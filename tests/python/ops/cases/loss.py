"""Cases of the losses."""

import numpy as np

from cases.harness import DENSE, Case, Input, cases, errors, is_torch

REDUCTIONS = ("none", "mean", "sum")


def scores_shape(draw):
    """[C], [N, C] or [N, C, d1, ...]"""
    shape = (*(draw.size(6) for _ in range(draw.integer(1, 4))),)
    if draw.chance(0.1):
        shape = (draw.integer(2, 5), draw.integer(100, 600))
    return shape


def class_options(draw, shape, target):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.4) and target.array.size:
        options["ignore_index"] = int(target.array.flat[0]) if draw.chance(0.2) else -100
        if options["ignore_index"] == -100 and target.array.size > 1:
            ignored = np.where(draw.rng.random(target.shape) < 0.3, -100, target.array)
            ignored.flat[0] = target.array.flat[0]
            target = Input(ignored)
    return options, target


def classes_of(shape):
    return shape[0] if len(shape) == 1 else shape[1]


def index_target(draw, shape):
    return draw.integers(shape[:0] if len(shape) == 1 else (shape[0], *shape[2:]), 0, classes_of(shape))


def class_case(draw, name, x, target, options):
    weighted = draw.chance(0.4)
    weight = draw.floats((classes_of(x.shape),), 0.1, 2.0).array

    def function(lib, x, target):
        own = lib.tensor(weight).to(x.dtype) if weighted else None
        x = x.contiguous() if is_torch(lib) else x  # PyTorch's gradient needs it
        return getattr(lib.nn.functional, name)(x, target, own, **options)

    return Case(function, x, target, unit="largest")


@cases("nll_loss")
def nll_loss(draw):
    shape = scores_shape(draw)
    options, target = class_options(draw, shape, index_target(draw, shape))
    return class_case(draw, "nll_loss", draw.floats(shape), target, options)


@cases("cross_entropy")
def cross_entropy(draw):
    shape = scores_shape(draw)
    x = draw.floats(shape, *draw.choice([(-3, 3), (-30, 30)]))
    smoothing = {"label_smoothing": draw.choice([0.1, 0.7])} if draw.chance(0.4) else {}
    if draw.chance(0.4):
        options = {"reduction": draw.choice(REDUCTIONS)}
        target = draw.floats(shape, 0.0, 1.0)
    else:
        options, target = class_options(draw, shape, index_target(draw, shape))
    return class_case(draw, "cross_entropy", x, target, {**options, **smoothing})


@errors("nll_loss", "cross_entropy")
def class_loss_errors(name):
    def call(shape, target, **options):
        def run(lib):
            given = {k: lib.ones(v) if k == "weight" else v for k, v in options.items()}
            loss = getattr(lib.nn.functional, name)(lib.zeros(*shape), lib.tensor(target), **given)
            return loss.sum().item()

        return run

    return [
        call((2, 3), [0]),
        call((2, 3), [0, 3]),
        call((2, 3), [0, -1]),
        call((2, 3), [0, 1], weight=2),
        call((2, 3), [0, 1], reduction="all"),
        call((2, 3, 2), [0, 1]),
        lambda lib: (
            getattr(lib.nn.functional, name)(
                lib.zeros(2, 3), lib.zeros(2, dtype=lib.int64), lib.ones(3).requires_grad_()
            )
            .sum()
            .backward()
            if name == "nll_loss"
            else lib.nn.functional.cross_entropy(
                lib.zeros(2, 3), lib.zeros(2, dtype=lib.int64), label_smoothing=1.5
            )
        ),
    ]


def regression_inputs(draw):
    shape = draw.shape(0, 4)
    a, b = draw.floats(shape), draw.floats(shape)
    if draw.chance(0.3):
        b = draw.floats(draw.broadcastable(shape))
    return (a, b) if draw.chance(0.8) else (b, a)


@cases("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
def regression(draw, name):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if name == "smooth_l1_loss" and draw.chance(0.7):
        options["beta"] = draw.choice([0.0, 0.3, 2.0])
    if name == "huber_loss" and draw.chance(0.7):
        options["delta"] = draw.choice([0.3, 2.0])
    return Case(
        lambda lib, a, b: getattr(lib.nn.functional, name)(a, b, **options),
        *regression_inputs(draw),
        unit="largest",
    )


@errors("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
def regression_errors(name):
    function = lambda lib: getattr(lib.nn.functional, name)  # noqa: E731
    calls = [
        lambda lib: function(lib)(lib.zeros(2, 3), lib.zeros(2, 2)),
        lambda lib: function(lib)(lib.zeros(2), lib.zeros(2), reduction="all"),
    ]
    if name == "smooth_l1_loss":
        calls.append(lambda lib: function(lib)(lib.zeros(2), lib.zeros(2), beta=-1.0))
    if name == "huber_loss":
        calls.append(lambda lib: function(lib)(lib.zeros(2), lib.zeros(2), delta=0.0))
    return calls


def weights_for(draw, shape):
    """A constant that broadcasts to `shape`, or None."""
    return draw.floats(draw.broadcastable(shape), 0.1, 2.0).array if draw.chance(0.4) else None


def given(lib, weight, like):
    return None if weight is None else lib.tensor(weight).to(like.dtype)


@cases("binary_cross_entropy")
def binary_cross_entropy(draw):
    shape = draw.shape(0, 4)
    weight, reduction = weights_for(draw, shape), draw.choice(REDUCTIONS)
    x, target = draw.floats(shape, 0.02, 0.98), draw.floats(shape, 0.0, 1.0)
    at_the_ends = draw.chance(0.3)
    if at_the_ends:  # where the logarithms are clamped; PyTorch's target gradient is infinite there
        x = Input(np.round(x.array).astype(np.float32))

    def function(lib, x, target):
        if at_the_ends:
            target = target.detach()
        return lib.nn.functional.binary_cross_entropy(x, target, given(lib, weight, x), reduction=reduction)

    return Case(function, x, target, unit="largest", gradcheck=not at_the_ends)


@cases("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(draw):
    shape = draw.shape(0, 4)
    weight, pos_weight = weights_for(draw, shape), weights_for(draw, shape)
    reduction = draw.choice(REDUCTIONS)
    x = draw.floats(shape, *draw.choice([(-3, 3), (-100, 100)]))
    return Case(
        lambda lib, x, target: lib.nn.functional.binary_cross_entropy_with_logits(
            x, target, given(lib, weight, x), reduction=reduction, pos_weight=given(lib, pos_weight, x)
        ),
        x,
        draw.floats(shape, 0.0, 1.0),
        unit="largest",
    )


@errors("binary_cross_entropy", "binary_cross_entropy_with_logits")
def binary_errors(name):
    function = lambda lib: getattr(lib.nn.functional, name)  # noqa: E731
    return [
        lambda lib: function(lib)(lib.zeros(2, 3), lib.zeros(3)),
        lambda lib: function(lib)(lib.zeros(2, 3), lib.zeros(2, 3), lib.zeros(2)),
        lambda lib: function(lib)(
            lib.zeros(2).requires_grad_(), lib.zeros(2), lib.ones(2).requires_grad_()
        ).backward(),
    ]


@cases("kl_div")
def kl_div(draw):
    shape = draw.shape(1, 4)
    log_target = draw.chance(0.5)
    reduction = draw.choice((*REDUCTIONS, "batchmean"))
    if reduction == "batchmean" and 0 in shape:
        shape = (2, 3)
    a = draw.floats(shape, -5.0, 0.0)
    target_shape = draw.broadcastable(shape) if draw.chance(0.3) else shape
    b = draw.floats(target_shape, *((-5.0, 0.0) if log_target else (0.01, 1.0)))
    zeros = not log_target and draw.chance(0.3)
    if zeros:  # PyTorch has no gradient of the target there
        b = Input(np.where(draw.rng.random(b.shape) < 0.3, 0, b.array).astype(np.float32))
    return Case(
        lambda lib, a, b: lib.nn.functional.kl_div(
            a, b.detach() if zeros else b, reduction=reduction, log_target=log_target
        ),
        a,
        b,
        unit="largest",
        gradcheck=not zeros,
    )


@errors("kl_div")
def kl_div_errors():
    return [
        lambda lib: lib.nn.functional.kl_div(lib.zeros(2, 3), lib.zeros(2, 2)),
        lambda lib: lib.nn.functional.kl_div(lib.zeros(2), lib.zeros(2), reduction="all"),
    ]


def signs(draw, shape):
    """-1 and 1, as floats."""
    return np.where(draw.booleans(shape).array, 1, -1).astype(np.float32)


@cases("poisson_nll_loss")
def poisson_nll_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.5):
        options["full"] = True
    if draw.chance(0.5):
        options["log_input"] = False
        options["eps"] = draw.choice([1e-8, 1e-3])
    shape = draw.shape(0, 4)
    x = draw.floats(shape, 0.1, 3.0) if "eps" in options else draw.floats(shape)
    other = draw.broadcastable(shape) if draw.chance(0.3) else shape
    target = draw.floats(other, 0.1, 9.0)
    return Case(
        lambda lib, x, target: lib.nn.functional.poisson_nll_loss(x, target, **options),
        x,
        target,
        unit="largest",
    )


@cases("gaussian_nll_loss")
def gaussian_nll_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.5):
        options["full"] = True
    if draw.chance(0.4):
        options["eps"] = draw.choice([1e-3, 0.5])  # the gradient of what is below is that of what is not
    shape = draw.shape(1, 4)
    x, target = draw.floats(shape), draw.floats(shape)
    if draw.chance(0.2):
        number = draw.choice([0.7, 0.0])
        return Case(
            lambda lib, x, target: lib.nn.functional.gaussian_nll_loss(x, target, number, **options),
            *(x, target),
            unit="largest",
        )
    widths = draw.choice([shape, shape, shape[:-1], (*shape[:-1], 1)])
    var = draw.floats(widths, 0.1, 3.0)
    return Case(
        lambda lib, x, target, var: lib.nn.functional.gaussian_nll_loss(x, target, var, **options),
        *(x, target, var),
        unit="largest",
        gradcheck="eps" not in options,
    )


@errors("gaussian_nll_loss")
def gaussian_nll_loss_errors():
    def of(x, var, **options):
        return lambda lib: lib.nn.functional.gaussian_nll_loss(
            lib.zeros(*x), lib.zeros(*x), lib.ones(*var) if isinstance(var, tuple) else var, **options
        )

    return [of((2, 3), (2, 2)), of((2, 3), (3, 3)), of((2, 3), -1.0), of((2, 3), (2, 3), reduction="all")]


@cases("hinge_embedding_loss")
def hinge_embedding_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.5):
        options["margin"] = draw.choice([0.3, 2.0, -0.5])
    shape = draw.shape(0, 4)
    x, target = draw.floats(shape), signs(draw, shape)
    if draw.chance(0.3):
        return Case(
            lambda lib, x, target: lib.nn.functional.hinge_embedding_loss(x, target, **options),
            *(x, target.astype(np.int64)),
            unit="largest",
        )
    return Case(
        lambda lib, x: lib.nn.functional.hinge_embedding_loss(x, given(lib, target, x), **options),
        x,
        unit="largest",
    )


@cases("margin_ranking_loss")
def margin_ranking_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.5):
        options["margin"] = draw.choice([0.3, 2.0, -0.5])
    shape = draw.shape(0, 4)
    return Case(
        lambda lib, a, b, target: lib.nn.functional.margin_ranking_loss(a, b, target, **options),
        draw.floats(shape, layout=draw.choice(DENSE)),
        draw.floats(shape, layout=draw.choice(DENSE)),
        signs(draw, shape),
        unit="largest",
    )


@errors("margin_ranking_loss")
def margin_ranking_loss_errors():
    return [
        lambda lib: lib.nn.functional.margin_ranking_loss(lib.zeros(2), lib.zeros(2), lib.ones(2, 1)),
        lambda lib: lib.nn.functional.margin_ranking_loss(lib.zeros(2), lib.zeros(3), lib.ones(2)),
    ]


@cases("triplet_margin_loss")
def triplet_margin_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.6):
        options |= {"margin": draw.choice([0.3, 2.0]), "p": draw.choice([1.0, 2.0, 3.0])}
    if draw.chance(0.5):
        options["swap"] = True
    shape = (*draw.shape(0, 2), draw.integer(1, 9))
    return Case(
        lambda lib, a, b, c: lib.nn.functional.triplet_margin_loss(a, b, c, **options),
        *(draw.floats(shape) for _ in range(3)),
        unit="largest",
    )


@errors("triplet_margin_loss")
def triplet_margin_loss_errors():
    def of(*shapes, **options):
        return lambda lib: lib.nn.functional.triplet_margin_loss(*(lib.zeros(*s) for s in shapes), **options)

    return [of((2, 3), (2, 3), (3,)), of((2, 3), (2, 3), (2, 3), margin=-1.0)]


@cases("cosine_embedding_loss")
def cosine_embedding_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.5):
        options["margin"] = draw.choice([0.3, -0.5])
    batch = () if draw.chance(0.3) else (draw.integer(0, 9),)
    shape, target = (*batch, draw.integer(2, 9)), signs(draw, batch)
    return Case(
        lambda lib, a, b: lib.nn.functional.cosine_embedding_loss(a, b, given(lib, target, a), **options),
        *(draw.floats(shape, layout=draw.choice(DENSE)) for _ in range(2)),  # parallel ones have no gradient
        unit="largest",
    )


@errors("cosine_embedding_loss")
def cosine_embedding_loss_errors():
    def of(a, b, target):
        return lambda lib: lib.nn.functional.cosine_embedding_loss(
            lib.ones(*a), lib.ones(*b), lib.ones(target)
        )

    return [of((2, 3), (2, 3), (2, 1)), of((3,), (3,), (3,)), of((2, 3), (2, 3), ())]


@cases("soft_margin_loss")
def soft_margin_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    shape = draw.shape(0, 4)
    target = signs(draw, shape)
    return Case(
        lambda lib, x: lib.nn.functional.soft_margin_loss(x, given(lib, target, x), **options),
        draw.floats(shape, *draw.choice([(-3, 3), (-30, 30)])),
        unit="largest",
    )


def rows_of_scores(draw):
    """[N, C], one row of it, or the score of one class."""
    rows = (draw.integer(1, 6), draw.size(7))
    return draw.floats(draw.choice([rows, rows, rows[1:], ()]), layout=draw.choice(DENSE))


@cases("multi_margin_loss")
def multi_margin_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    if draw.chance(0.6):
        options |= {"p": draw.choice([1, 2]), "margin": draw.choice([0.3, 1.0, 2.0])}
    x = rows_of_scores(draw)
    classes = (1, *x.shape)[-1]
    rows = x.shape[:-1] or draw.choice([(), (1,)])
    weight = draw.floats((classes,), 0.1, 2.0).array if draw.chance(0.4) else None
    return Case(
        lambda lib, x, target: lib.nn.functional.multi_margin_loss(
            x, target, weight=given(lib, weight, x), **options
        ),
        x,
        draw.integers(rows, 0, classes),
        unit="largest",
    )


@errors("multi_margin_loss")
def multi_margin_loss_errors():
    def of(shape, target, **options):
        return lambda lib: lib.nn.functional.multi_margin_loss(
            lib.zeros(*shape),
            lib.tensor(target),
            **{k: lib.ones(v) if k == "weight" else v for k, v in options.items()},
        )

    return [
        of((2, 3), [0]),
        of((2, 3), [0, 1], p=3),
        of((2, 3), [0, 1], weight=2),
        of((2, 3, 4), [0, 1]),
        of((2, 3), [0, 1], reduction="all"),
    ]


@cases("multilabel_margin_loss")
def multilabel_margin_loss(draw):
    options = {"reduction": draw.choice(REDUCTIONS)}
    x = rows_of_scores(draw)
    classes = (1, *x.shape)[-1]
    target = draw.rng.integers(0, classes, (*x.shape[:-1], classes))
    ends = draw.rng.integers(0, classes + 1, (*x.shape[:-1], 1))
    target = np.where(np.arange(classes) == ends, -1, target)  # what follows does not count
    if classes == 1 and len(x.shape) < 2:
        target = target.reshape(draw.choice([(), (1,)]))
    else:
        target = target.reshape(x.shape)
    return Case(
        lambda lib, x, target: lib.nn.functional.multilabel_margin_loss(x, target, **options),
        *(x, target),
        unit="largest",
    )


@errors("multilabel_margin_loss")
def multilabel_margin_loss_errors():
    def of(shape, target):
        return lambda lib: lib.nn.functional.multilabel_margin_loss(lib.zeros(*shape), lib.tensor(target))

    return [of((3,), [0, -1]), of((1, 3), [0, 1, -1]), of((1, 1, 2), [[[0, 1]]])]


@cases("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(draw):
    shape = draw.shape(1, 3)
    weight, reduction = weights_for(draw, shape), draw.choice(REDUCTIONS)
    return Case(
        lambda lib, x, target: lib.nn.functional.multilabel_soft_margin_loss(
            x, target, given(lib, weight, x), reduction=reduction
        ),
        draw.floats(shape, *draw.choice([(-3, 3), (-30, 30)])),
        draw.floats(shape, 0.0, 1.0),
        unit="largest",
    )
