"""Writing in place: over a whole tensor, and through views of it."""

import torch

from cases import Case, cases, errors


def target_and_write(draw, write):
    """`write(lib, view, source)` on a view of x * 2; the result is all of it."""
    shape = draw.shape(1, 3, largest=6, empty=False)
    x = draw.floats(shape)
    dim = draw.dim(x)
    size = shape[dim]
    start = draw.integer(0, size - 1)
    length = draw.integer(1, size - start)
    where = draw.choice(
        (
            lambda t: t,
            lambda t: t.narrow(dim, start, length),
            lambda t: t.select(dim, start),
            lambda t: t.transpose(0, -1).narrow(-1, 0, 1),
            lambda t: t.narrow(dim, start, length).unsqueeze(0),
        )
    )
    source = draw.floats(draw.broadcastable(tuple(where(torch.empty(shape)).shape)))

    def run(lib, x, source):
        y = x * 2
        earlier = y.narrow(dim, 0, 1)  # a view from before the write sees it too
        write(lib, where(y), source)
        return y, earlier * 3

    return Case(run, x, source, unit="sums")


@cases("copy_")
def copy_(draw):
    return target_and_write(draw, lambda lib, view, source: view.copy_(source))


@cases("fill_")
def fill_(draw):
    value = draw.choice((0, 3, 2.5))
    return target_and_write(draw, lambda lib, view, source: view.fill_(value).add_(source))


@cases("zero_")
def zero_(draw):
    return target_and_write(draw, lambda lib, view, source: view.zero_())


@errors("copy_")
def copy_errors():
    return [
        lambda lib: lib.zeros(2).copy_(lib.zeros(3)),
        lambda lib: lib.zeros(2).copy_(lib.zeros(2, 2)),
        lambda lib: lib.zeros(1).expand(3).copy_(lib.zeros(3)),
        lambda lib: lib.zeros(2, requires_grad=True).copy_(lib.zeros(2)),
        lambda lib: lib.zeros(2, requires_grad=True)[0].copy_(lib.zeros(())),
    ]


@errors("fill_")
def fill_errors():
    return [
        lambda lib: lib.zeros(2, requires_grad=True).fill_(1),
        lambda lib: lib.zeros(2).fill_(lib.zeros(2)),
    ]
