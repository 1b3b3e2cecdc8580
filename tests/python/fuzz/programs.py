"""Random programs of arithmetic, views, in-place writes, hooks and backward passes, in both libraries.

A program is a list of steps over a pool of tensors, to which every step adds one entry: a tensor, or None
where it only writes, fails or is left out. So a step may be left out and the others mean the same. Where
PyTorch refuses a step, so must we; both then go on.
"""

import warnings

import numpy as np
import torch

import ocl
from fuzz.found import ACCEPTS, REFUSES, UNTYPED, WRONG, Found
from fuzz.operators import TYPED, first_line
from fuzz.spies import is_tensor

SHAPES = ((), (1,), (3,), (16,), (17,), (2, 3), (3, 1), (1, 17), (4, 16), (15, 3), (2, 3, 4), (2, 1, 5))
SHAPES += ((0,), (2, 0), (2, 2, 4, 2), (3, 1, 2, 16))
UNARY = (
    "sin",
    "tanh",
    "sigmoid",
    "relu",
    "abs",
    "neg",
    "square",
    "exp",
    "atan",
    "erf",
    "logsigmoid",
    "hardswish",
)
BINARY = ("add", "sub", "mul", "maximum", "minimum", "atan2")
REDUCTIONS = ("sum", "mean", "amax", "amin", "prod", "logsumexp")
IN_PLACE = ("sin_", "tanh_", "relu_", "neg_", "sigmoid_", "square_", "abs_")

STEPS = {}


def step(function):
    """A step: function(lib, pool, numbers) changes the pool; `numbers` are five whole ones, drawn."""
    STEPS[function.__name__] = function
    return function


def bounded(tensor):
    """Kept small, so that long programs do not overflow, and row by row: the strides of PyTorch's results
    follow those of the inputs, which a later view can tell."""
    return tensor.clamp(-3, 3).contiguous()


def pick(pool, number):
    """The tensor of that number, modulo the pool's size, or the one before; the first is always there."""
    at = number % len(pool)
    while pool[at] is None:
        at -= 1
    return pool[at]


def dim_of(tensor, number):
    rank = max(tensor.dim(), 1)
    return number % (2 * rank) - rank


@step
def leaf(lib, pool, n):
    rng = np.random.default_rng(n[0])
    array = rng.uniform(-2, 2, SHAPES[n[1] % len(SHAPES)])
    pool.append(pool.make(array, n[2] % 4 > 0))


@step
def unary(lib, pool, n):
    name = UNARY[n[1] % len(UNARY)]
    function = getattr(lib, name, None) or getattr(lib.nn.functional, name)
    pool.append(bounded(function(pick(pool, n[0]))))


@step
def binary(lib, pool, n):
    name, x, y = BINARY[n[2] % len(BINARY)], pick(pool, n[0]), pick(pool, n[1])
    if name == "atan2":
        x, y = x + 0.0, y + 0.0  # the sign of a zero, which this one tells, is not that of PyTorch's minimum
    pool.append(bounded(getattr(lib, name)(x, y)))


@step
def scaled(lib, pool, n):
    pool.append(bounded(pick(pool, n[0]) * (n[1] % 7 / 2 - 1.5) + n[2] % 3))


@step
def reduction(lib, pool, n):
    x = pick(pool, n[0])
    name = REDUCTIONS[n[1] % len(REDUCTIONS)]
    pool.append(bounded(getattr(lib, name)(x, dim_of(x, n[2]), keepdim=n[3] % 2 == 0)))


@step
def matmul(lib, pool, n):
    pool.append(bounded(lib.matmul(pick(pool, n[0]), pick(pool, n[1]))))


@step
def cat(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(bounded(lib.cat([x, pick(pool, n[1])], dim_of(x, n[2]))))


@step
def softmax(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(bounded(lib.softmax(x, dim_of(x, n[1]))))


@step
def where(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(bounded(lib.where(x > 0.25, x, pick(pool, n[1]))))


@step
def temporary(lib, pool, n):
    """A tensor whose memory is worth giving back is written in place, read twice and dropped. This happens
    often enough for the calls to run as one: a chain must keep what it reads."""
    x = pool.make(np.linspace(-1, 1, n[0] % 7 + 2), False)
    for round in range(20):
        large = pool.make(np.full((1 << 18, len(x)), n[1] % 5 - round % 3), False)
        getattr(large, ("add_", "sub_", "mul_")[n[2] % 3])(x)
        read = large + 1
        del large
        result = read * x
    pool.append(result[:: 1 << 16] + read[:: 1 << 16])


@step
def index(lib, pool, n):
    x = pick(pool, n[0])
    size = x.shape[0]
    if size == 0:
        raise IndexError("only the device would see it")
    pool.append(x[pool.integers([n[1] % size, n[2] % size, -(n[3] % size) - 1])])


@step
def permuted(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(x.permute([int(d) for d in np.random.default_rng(n[1]).permutation(x.dim())]))


@step
def transposed(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(x.transpose(dim_of(x, n[1]), dim_of(x, n[2])))


@step
def narrowed(lib, pool, n):
    x = pick(pool, n[0])
    dim = dim_of(x, n[1])
    start = n[2] % max(x.size(dim), 1)
    pool.append(x.narrow(dim, start, n[3] % (x.size(dim) - start + 1)))


@step
def stepped(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(x[..., n[1] % 3 :: n[2] % 3 + 1])


@step
def selected(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(x.select(dim_of(x, n[1]), n[2] % 5 - 2))


@step
def expanded(lib, pool, n):
    x = pick(pool, n[0])
    if n[2] % 2:
        pool.append(x.unsqueeze(0).expand(n[1] % 4, *x.shape))
    else:
        pool.append(x.expand([n[1] % 4 + 1 if s == 1 else s for s in x.shape]))


@step
def squeezed(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(x.squeeze(dim_of(x, n[1])) if n[2] % 2 else x.unsqueeze(n[1] % (x.dim() + 1)))


@step
def reshaped(lib, pool, n):
    x = pick(pool, n[0])
    shape = ((-1,), (x.numel(),), (1, -1), (2, -1), (-1, 3))[n[1] % 5]
    pool.append(x.view(shape) if n[2] % 2 else x.reshape(shape))


@step
def taken_apart(lib, pool, n):
    x = pick(pool, n[0])
    dim, number = dim_of(x, n[1]), n[2] % 3 + 1
    parts = (lambda: x.split(number, dim), lambda: x.chunk(number, dim), lambda: x.unbind(dim))[n[3] % 3]()
    # A copy, since PyTorch refuses writes into views that come in tuples.
    pool.append(parts[n[4] % max(len(parts), 1)].clone())


@step
def diagonal(lib, pool, n):
    pool.append(pick(pool, n[0]).diagonal(n[1] % 3 - 1))


@step
def strided(lib, pool, n):
    x = pick(pool, n[0]).contiguous().clone()
    rows, columns = n[1] % 3 + 1, n[2] % 3 + 1
    # No two elements in one place but by a stride of 0: writes into any others PyTorch does in some order.
    strides = ((columns, 1), (1, rows), (0, 1), (1, 0), (2 * columns, 2), (columns + 1, 1))
    pool.append(x.as_strided((rows, columns), strides[n[3] % len(strides)]))


@step
def detached(lib, pool, n):
    x = pick(pool, n[0])
    pool.append(x.detach())


@step
def written(lib, pool, n):
    x = pick(pool, n[0])
    with pool.recording(n[1]):
        getattr(x, IN_PLACE[n[2] % len(IN_PLACE)])()


@step
def written_with(lib, pool, n):
    x, y = pick(pool, n[0]), pick(pool, n[1])
    writes = (x.add_, x.mul_, x.copy_, x.sub_, lambda _: x.mul_(0.5), lambda _: x.clamp_(-1, 1))
    with pool.recording(n[2]):
        writes[n[3] % len(writes)](y)


@step
def filled(lib, pool, n):
    x = pick(pool, n[0])
    with pool.recording(n[1]):
        (x.zero_, lambda: x.fill_(1.5), lambda: x.masked_fill_(x > 0.1, 0.5))[n[2] % 3]()


@step
def assigned(lib, pool, n):
    x, y = pick(pool, n[0]), pick(pool, n[1])
    with pool.recording(n[2]):
        if n[3] % 3 == 0:
            x[n[4] % 3] = y
        elif n[3] % 3 == 1:
            x[..., n[4] % 3 :: 2] = y
        else:
            x[x > 0.3] = 0.25


@step
def hooked(lib, pool, n):
    factor = n[1] % 5 / 2 - 0.5
    handle = pool.watched(n[0]).register_hook(
        (lambda g: g * factor, lambda g: None, lambda g: g.sin(), lambda g: g.detach())[n[2] % 4]
    )
    if n[3] % 8 == 0:
        handle.remove()


@step
def retained(lib, pool, n):
    pool.watched(n[0]).retain_grad()


@step
def new_leaf(lib, pool, n):
    pool.append(pick(pool, n[0]).detach().clone().requires_grad_(n[1] % 4 > 0))


@step
def backward(lib, pool, n):
    (pick(pool, n[0]) * 0.5).sum().backward(retain_graph=n[1] % 3 > 0)


@step
def grad(lib, pool, n):
    (found,) = lib.autograd.grad(
        pick(pool, n[0]).sum(), [pool.watched(n[1])], retain_graph=n[2] % 3 > 0, allow_unused=n[3] % 2 > 0
    )
    if found is not None:
        pool.append(found)


BACKWARD = ("backward", "grad")
VIEWS = (
    "permuted",
    "transposed",
    "narrowed",
    "stepped",
    "selected",
    "expanded",
    "squeezed",
    "reshaped",
    "diagonal",
)
VIEWS += ("strided", "detached")

# Drawn this often: what makes programs interesting more than what ends them.
WEIGHTS = dict.fromkeys(STEPS, 1.0) | {
    "unary": 2,
    "binary": 3,
    "written_with": 2.5,
    "new_leaf": 0.5,
    "temporary": 0.1,
    "grad": 0.5,
}


class Pool(list):
    """The tensors of a program in one library and precision.

    A program either writes without the tape or watches the gradients of views: PyTorch forgets the hooks of
    a view, and who asked for its gradient, when its memory is written without the tape.
    """

    def __init__(self, lib, dtype, writes_silently):
        super().__init__()
        self.lib, self.dtype, self.writes_silently = lib, dtype, writes_silently
        self.views = []

    def make(self, array, requires_grad):
        tensor = self.lib.tensor(np.asarray(array, self.dtype))
        return tensor.requires_grad_(requires_grad)

    def integers(self, values):
        return self.lib.tensor(np.array(values, np.int64))

    def recording(self, number):
        return self.lib.set_grad_enabled(number % 4 > 0 or not self.writes_silently)

    def watched(self, number):
        """A tensor whose gradient is to be watched."""
        tensor = pick(self, number)
        if self.writes_silently and any(tensor is view for view in self.views):
            raise ValueError("not in this program")
        return tensor

    def state(self, with_gradients):
        """The values and gradients of all tensors; None for no gradient."""
        state = []
        for tensor in filter(is_tensor, self):
            state.append(("value", tensor.detach().numpy()))
            has_gradient = with_gradients and (tensor.is_leaf or tensor.retains_grad)
            gradient = tensor.grad if has_gradient else None
            state.append(("gradient", None if gradient is None else gradient.detach().numpy()))
        return state


class Execution:
    """A program run in one library and precision: the error of each step, and the state at the end."""

    def __init__(self, lib, dtype, program, writes_silently):
        self.pool, self.errors = Pool(lib, dtype, writes_silently), []
        self.pool.append(self.pool.make(np.linspace(-1, 1, 6).reshape(2, 3), True))
        for number, (name, numbers) in enumerate(program):
            error = None
            if name:
                try:
                    STEPS[name](lib, self.pool, numbers)
                except Exception as raised:
                    error = raised
            self.errors.append(error)
            if len(self.pool) < number + 2:
                self.pool.append(None)
            elif name in VIEWS:
                self.pool.views.append(self.pool[-1])
        tensors = [t for t in self.pool if t is not None]
        self.grad_flags = [t.requires_grad for t in tensors]
        self.shapes = [tuple(t.shape) for t in tensors]


def program_of(seed):
    rng = np.random.default_rng([seed, 3])
    names = list(STEPS)
    weights = np.array([WEIGHTS[n] for n in names])
    length = int(rng.integers(4, 40))
    chosen = rng.choice(len(names), length, p=weights / weights.sum())
    program = [(names[i], [int(v) for v in rng.integers(0, 1000, 5)]) for i in chosen]
    return program + [("backward", [int(rng.integers(1000)), 0, 0, 0, 0])]


def judge_errors(program, ours, single):
    """The first step that one library refuses and the other does not."""
    for i, (name, numbers) in enumerate(program):
        mine, theirs = ours.errors[i], single.errors[i]
        place = f"step {i} {name}{numbers}"
        if mine is not None and not isinstance(mine, TYPED):
            return UNTYPED, name, f"{place}: {type(mine).__name__}: {mine}"
        if mine is None and theirs is not None:
            return ACCEPTS, name, f"{place}: PyTorch: {first_line(theirs)}"
        if mine is not None and theirs is None:
            return REFUSES, name, f"{place}: {type(mine).__name__}: {first_line(mine)}"
    return None


def judge_values(kind, place, ours, single, truth):
    """One tensor or gradient of the three executions."""
    if (ours is None) != (single is None):
        answers = ["none" if t is None else "one" for t in (ours, single)]
        return WRONG, kind, f"{place}: {answers[0]}, PyTorch has {answers[1]}"
    if ours is None or ours.size == 0:
        return None
    finite = np.isfinite(single) & np.isfinite(truth)
    scale = np.abs(truth[finite]).max(initial=1)
    own = np.abs(single.astype(np.float64) - truth)[finite].max(initial=0)
    off = np.abs(ours.astype(np.float64) - truth)[finite].max(initial=0)
    if np.array_equal(np.isnan(ours), np.isnan(single)) and off <= 16 * own + 2e-5 * scale:
        return None
    values = [t.ravel()[:6] for t in (ours, single, truth)]
    return WRONG, kind, f"{place}: {values[0]}, PyTorch has {values[1]}, in float64 {values[2]}"


def judge(program, writes_silently, announce):
    announce(torch)
    single, truth = (Execution(torch, dtype, program, writes_silently) for dtype in ("float32", "float64"))
    announce(ocl)
    ours = Execution(ocl, "float32", program, writes_silently)
    if found := judge_errors(program, ours, single):
        return found
    if [e is None for e in truth.errors] != [e is None for e in single.errors]:
        return None  # the rounding of float32 decides
    for what in ("shapes", "grad_flags"):
        mine, theirs = getattr(ours, what), getattr(single, what)
        if mine != theirs:
            return WRONG, what, f"{what}: {mine}, PyTorch has {theirs}"
    # A backward pass that fails has reached some leaves and not others.
    has_failed = any(
        e is not None for e, (name, _) in zip(ours.errors, program, strict=True) if name in BACKWARD
    )
    states = [run.pool.state(with_gradients=not has_failed) for run in (ours, single, truth)]
    if is_ill_conditioned(states[1], states[2]):
        return None
    for i, ((kind, a), (_, t32), (_, t64)) in enumerate(zip(*states, strict=True)):
        if found := judge_values(kind, f"{kind} of tensor {i // 2}", a, t32, t64):
            return found
    return None


def is_ill_conditioned(single, truth):
    """Whether PyTorch's own precisions disagree: a kink, or digits that cancel."""
    for (_, t32), (_, t64) in zip(single, truth, strict=True):
        if t32 is not None and t32.size:
            off = np.abs(t32.astype(np.float64) - t64)
            if not np.nanmax(off, initial=0) <= 1e-3 * np.nanmax(np.abs(t64), initial=1):
                return True
    return False


def kept_steps(program, name):
    """The program with only the steps of these numbers; the others have no name."""
    kept = set(map(int, name.split(","))) if name else range(len(program))
    return [step if i in kept else ("", []) for i, step in enumerate(program)]


def run_one(name, seed, limit, announce):
    """`name`: the numbers of the steps that are kept, with commas; all where empty."""
    program = kept_steps(program_of(seed), name)
    text = "; ".join(f"{i} {step}{numbers}" for i, (step, numbers) in enumerate(program) if step)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = judge(program, seed % 2 == 0, lambda library: announce(library, text))
    if found is None:
        return None
    what, subject, detail = found
    return Found(what, f"program: {subject}", text, detail)


def shrunk(steps, fails):
    """The name of a shortest program that still `fails(name)`: of so many steps some are left out, one after
    another."""
    kept = list(range(steps))
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(kept))):
            shorter = kept[:i] + kept[i + 1 :]
            if shorter and fails(",".join(map(str, shorter))):
                kept, changed = shorter, True
    return ",".join(map(str, kept))
