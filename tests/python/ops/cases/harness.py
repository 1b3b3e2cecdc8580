"""The parts of random cases: inputs with a layout, a source to draw from, and the lists of all cases."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

CASES: dict[str, Callable] = {}
ERRORS: dict[str, Callable] = {}

DENSE = ("contiguous", "contiguous", "transposed", "sliced", "permuted", "scattered")
LAYOUTS = (*DENSE, "expanded")
DTYPES = ("float32", "int64", "int32", "int16", "int8", "uint8", "bool")


def cases(*names):
    """Declares the function below it to draw the cases of the operators of these names (given as a second
    argument where there are several)."""

    def declare(function):
        for name in names:
            assert name not in CASES, f"two sources of cases for {name}"
            CASES[name] = function if len(names) == 1 else lambda draw, name=name: function(draw, name)
        return function

    return declare


def errors(*names):
    """Declares the function below it to list calls, as functions of the library, at which PyTorch raises."""

    def declare(function):
        for name in names:
            assert name not in ERRORS, f"two lists of errors for {name}"
            ERRORS[name] = function if len(names) == 1 else lambda name=name: function(name)
        return function

    return declare


def is_torch(lib):
    """Whether a case is being computed by PyTorch; the library may be given with a watch on its calls."""
    return lib.__name__ == "torch"


def row_major(array):
    """A contiguous copy, of no dimensions where the array has none."""
    return np.array(array, order="C")


@dataclass
class Input:
    """An array and how its elements are to lie in memory.

    contiguous   row by row
    transposed   the dimensions in reverse order
    sliced       every other element of longer rows
    permuted     the dimensions in an order that `seed` decides; often channels-last
    scattered    permuted, within a larger tensor: offsets, steps and a rest along every dimension
    expanded     of one entry where the array has stride 0, which is permuted
    """

    array: np.ndarray
    layout: str = "contiguous"
    seed: int = 0

    @property
    def shape(self):
        return self.array.shape

    @property
    def ndim(self):
        return self.array.ndim

    @property
    def is_floating(self):
        return self.array.dtype.kind == "f"

    def stored_elements(self):
        """How many elements the leaf below the input has."""
        if self.layout != "expanded":
            return self.array.size
        return int(
            np.prod(
                [1 if stride == 0 else n for n, stride in zip(self.shape, self.array.strides, strict=True)]
            )
        )

    def order_in_memory(self, rng):
        """The dimensions from the outermost in memory to the innermost."""
        if self.layout == "transposed":
            return tuple(reversed(range(self.ndim)))
        if self.layout not in ("permuted", "scattered", "expanded"):
            return tuple(range(self.ndim))
        if self.ndim > 2 and rng.random() < 0.3:
            return (0, *range(2, self.ndim), 1)
        return tuple(map(int, rng.permutation(self.ndim)))

    def places_in_memory(self, rng, stored):
        """The slices of a larger array, dimensions ordered as in memory, that hold `stored`."""
        places = [slice(None)] * stored.ndim
        if self.layout == "sliced" and places:
            places[-1] = slice(1, 2 * stored.shape[-1] + 1, 2)
        if self.layout == "scattered":
            for d, size in enumerate(stored.shape):
                start, step = int(rng.integers(3)), int(rng.choice([1, 1, 2, 3]))
                places[d] = slice(start, start + size * step, step)
        return tuple(places)

    def build(self, tensor_of):
        """A leaf tensor made by `tensor_of(array)`, and the view of it that is the operator's input."""
        rng = np.random.default_rng(self.seed)
        kept = tuple(slice(0, 1) if s == 0 else slice(None) for s in self.array.strides)
        order = self.order_in_memory(rng)
        stored = self.array[kept if self.layout == "expanded" else ()].transpose(order)
        places = self.places_in_memory(rng, stored)
        if any(place != slice(None) for place in places):
            room = [n if p == slice(None) else p.stop + 1 for n, p in zip(stored.shape, places, strict=True)]
            spread = np.zeros(room, stored.dtype)
            spread[places] = stored
        else:
            spread = row_major(stored)
        leaf = view = tensor_of(spread)
        if spread.shape != stored.shape:
            view = view[places]
        if order != tuple(range(self.ndim)):
            view = view.permute(tuple(map(int, np.argsort(order))))
        if self.layout == "expanded":
            view = view.expand(self.shape)
        return leaf, view


@dataclass
class Case:
    """One call, written once for both libraries: function(lib, *tensors) gives a tensor or several.

    unit       what a rounding error is measured by: "element", the result's element; "sums", the magnitudes
               that sums of products add up (the same function of absolute values); "largest", the largest
               element of the result (for differences of terms of that size)
    backward   whether gradients are compared too
    gradcheck  whether finite differences are meaningful here
    """

    function: Callable
    inputs: tuple = field(default=())
    unit: str = "element"
    backward: bool = True
    gradcheck: bool = True

    def __init__(self, function, *inputs, unit="element", backward=True, gradcheck=True):
        assert unit in ("element", "sums", "largest")
        self.function, self.unit, self.backward, self.gradcheck = function, unit, backward, gradcheck
        self.inputs = tuple(i if isinstance(i, Input) else Input(np.asarray(i)) for i in inputs)


class Draw:
    """A source of random shapes, tensors and arguments."""

    def __init__(self, seed):
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def chance(self, probability):
        return bool(self.rng.random() < probability)

    def choice(self, options):
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low, high):
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def number(self, low=-3.0, high=3.0):
        return float(np.float32(self.rng.uniform(low, high)))

    def shape(self, low=0, high=4, largest=9, empty=True):
        """A shape of rank low to high; some sizes are 1, and with `empty` a few are 0."""
        sizes = [self.size(largest) for _ in range(self.integer(low, high))]
        if empty and sizes and self.chance(0.05):
            sizes[self.integer(0, len(sizes) - 1)] = 0
        return tuple(sizes)

    def size(self, largest=9):
        return 1 if self.chance(0.15) else self.integer(1, largest)

    def dim(self, x):
        """A dimension of x (an Input, or a rank), counted from either end."""
        rank = x if isinstance(x, int) else x.ndim
        return self.integer(-rank, rank - 1) if rank else self.choice([0, -1])

    def dims(self, x):
        """Some dimensions of x, in any order, counted from either end."""
        chosen = self.rng.permutation(x.ndim)[: self.integer(1, max(x.ndim, 1))]
        return tuple(int(d) - (x.ndim if self.chance(0.3) else 0) for d in chosen)

    def broadcastable(self, shape):
        """A shape that broadcasts to `shape`: leading dimensions missing, others 1."""
        kept = shape[self.integer(0, len(shape)) :] if self.chance(0.4) else shape
        return tuple(1 if self.chance(0.25) else s for s in kept)

    def floats(self, shape, low=-3.0, high=3.0, layout=None):
        return self._lay_out(lambda s: self.rng.uniform(low, high, s).astype(np.float32), shape, layout)

    def distinct(self, shape, layout=None):
        """Floats of which no two are equal or close: their order is the same in every precision."""
        layout = layout or self.choice(DENSE)
        order = self.rng.permutation(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        sign, step = 1 - 2 * (order % 2), order // 2
        magnitude = (1 + step % 128 / 128) * 2.0 ** (
            step // 128 - 2
        )  # bfloat16 has these numbers, one after another
        return self.laid_out((sign * magnitude).astype(np.float32), layout)

    def integers(self, shape, low, high, dtype="int64", layout=None):
        """In [low, high)."""
        return self._lay_out(lambda s: self.rng.integers(low, high, s).astype(dtype), shape, layout)

    def booleans(self, shape, layout=None):
        return self._lay_out(lambda s: self.rng.random(s) < 0.5, shape, layout)

    def numbers(self, shape, low=-3, high=3, dtypes=DTYPES, layout=None):
        """A tensor of one of `dtypes`, drawn."""
        dtype = self.choice(dtypes)
        if dtype == "bool":
            return self.booleans(shape, layout)
        if dtype.startswith("float"):
            return self.floats(shape, low, high, layout)
        low = max(int(low), 0) if dtype == "uint8" else int(low)
        return self.integers(shape, low, int(high) + 1, dtype, layout)

    def _lay_out(self, make, shape, layout):
        layout = layout or self.choice(LAYOUTS)
        if layout != "expanded":
            return self.laid_out(make(shape), layout)
        narrow = tuple(1 if s and self.chance(0.5) else s for s in shape)
        return self.laid_out(np.broadcast_to(make(narrow), shape), layout)

    def laid_out(self, array, layout):
        return Input(array, layout, self.integer(0, 2**31))
