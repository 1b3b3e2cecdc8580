"""All parameters as one vector, and back: torch.nn.utils.convert_parameters."""

from __future__ import annotations

from collections.abc import Iterable

from ocl import _C
from ocl._C import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters in a row, with a history. (torch.nn.utils.parameters_to_vector)

    TypeError where they are on several devices.
    """
    given = list(parameters)
    _require_one_device(given)
    return _C.cat([parameter.reshape(-1) for parameter in given])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the parameters views of the vector's parts, from its beginning on.

    TypeError for what is no tensor, and for parameters on several devices.
    (torch.nn.utils.vector_to_parameters)
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    given = list(parameters)
    _require_one_device(given)
    begin = 0
    for parameter in given:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].reshape(parameter.shape).data
        begin = end


def _require_one_device(parameters: list[Tensor]) -> None:
    if any(parameter.device != parameters[0].device for parameter in parameters):
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
