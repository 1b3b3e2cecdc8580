"""Helpers of distributions: broadcasting, probabilities and logits, values computed on demand."""

import numbers

from ocl import _C
from ocl._C import Tensor
from ocl.autograd import enable_grad
from ocl.type_info import finfo

__all__ = [
    "broadcast_all",
    "broadcast_shapes",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "sum_rightmost",
]


def the_one_given(error, **values):
    """The name and the value of the only one that is not None. Raises `error` for none and for several."""
    given = [(name, value) for name, value in values.items() if value is not None]
    if len(given) != 1:
        raise error(f"Exactly one of {' or '.join(values)} may be specified.")
    return given[0]


def broadcast_shapes(*shapes):
    """The shape that all `shapes` broadcast to. Raises RuntimeError where there is none."""
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for i, size in enumerate(reversed(shape), 1):
            if result[-i] == 1:
                result[-i] = size
            elif size not in (1, result[-i]):
                raise RuntimeError(f"the shapes {', '.join(map(str, shapes))} do not broadcast to one shape")
    return tuple(result)


def broadcast_all(*values):
    """The tensors and numbers as tensors of one shape. Matches torch.distributions.utils.broadcast_all.

    Numbers take dtype and device of the first tensor; among numbers alone they are float32. Raises ValueError
    where
    a value is neither.
    """
    if not all(isinstance(value, (Tensor, numbers.Number)) for value in values):
        raise ValueError("Input arguments must all be instances of Number or ocl.Tensor.")
    first = next((value for value in values if isinstance(value, Tensor)), None)
    options = {"dtype": _C.float32} if first is None else {"dtype": first.dtype, "device": first.device}
    tensors = [value if isinstance(value, Tensor) else _C.tensor(value, **options) for value in values]
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return [tensor.expand(shape) for tensor in tensors]


def sum_rightmost(value, count):
    """`value` summed over its last `count` dimensions."""
    return value.flatten(value.dim() - count).sum(-1) if count else value


def clamp_probs(probs):
    """Probabilities kept inside (0, 1) by the dtype's epsilon."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary=False):
    """Probabilities of logits: by sigmoid where `is_binary`, else by softmax over the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs, is_binary=False):
    """Logits of probabilities, finite by ``clamp_probs``."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


class lazy_property:  # noqa: N801  (the name is PyTorch's)
    """A property that is computed once, with gradients, and then kept as an attribute."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.name] = value
        return value
