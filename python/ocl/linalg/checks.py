"""The checks of arguments of ocl.linalg, in PyTorch's words."""

from __future__ import annotations

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np

__all__ = ["LinAlgError"]


class LinAlgError(RuntimeError):
    """A factorization met a matrix that it cannot factor (torch.linalg.LinAlgError)."""


def tensor_argument(name: str, value: object, argument: str) -> None:
    """Raises unless ``value`` is a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected a Tensor for {argument}, got {type(value).__name__}")


def float_matrices(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raises unless ``tensor`` has matrices of float32, float64, complex64 or complex128."""
    tensor_argument(name, tensor, argument)
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ArgumentTypeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {tensor.dtype}"
        )
    if tensor.dtype not in (_C.float32, _C.float64, _C.complex64, _C.complex128):
        raise ArgumentTypeError(f"{name}: Low precision dtypes not supported. Got {tensor.dtype}")
    matrices(name, tensor, argument)


def matrices(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raises unless ``tensor`` has at least two dimensions."""
    tensor_argument(name, tensor, argument)
    if tensor.ndim < 2:
        raise ArgumentValueError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def square(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raises unless the last two dimensions have the same size."""
    matrices(name, tensor, argument)
    rows, columns = tensor.shape[-2:]
    if rows != columns:
        raise ArgumentValueError(
            f"{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )


def square_floats(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raises unless ``tensor`` has square matrices of a dtype that ``float_matrices`` takes."""
    square(name, tensor, argument)
    float_matrices(name, tensor, argument)


def equation(name: str, a: Tensor, b: Tensor, left: bool) -> None:
    """Raises unless ``AX = B`` (or ``XA = B``) has fitting shapes and one dtype."""
    square_floats(name, a)
    matrices(name, b, "B")
    if a.dtype != b.dtype:
        raise ArgumentTypeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {a.dtype} and B of type "
            f"{b.dtype} instead"
        )
    if a.shape[-1] != b.shape[-2 if left else -1]:
        sizes = [f"{t.shape[-2]}x{t.shape[-1]}" for t in (a, b)]
        raise ArgumentValueError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({sizes[0]} and {sizes[1]})"
        )


def broadcast_batches(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the batch dimensions that they have together."""
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ArgumentValueError(
            f"the batch dimensions {list(a.shape[:-2])} and {list(b.shape[:-2])} do not broadcast"
        ) from None
    return tuple(t if t.shape[:-2] == batch else t.expand(*batch, *t.shape[-2:]) for t in (a, b))


def is_vector_side(a: Tensor, b: Tensor) -> bool:
    """Whether ``b`` has a vector for each matrix of ``a``, not a matrix."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])


def raise_first(name: str, info: np.ndarray, batch: tuple[int, ...], told: str) -> None:
    """LinAlgError for the first entry of ``info`` that is not 0, which ``told`` names as {info}."""
    for element in np.flatnonzero(info)[:1]:
        place = f"(Batch element {element}): " if batch else ""
        raise LinAlgError(f"{name}: {place}{told.format(info=info[element])}")
