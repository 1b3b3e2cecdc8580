"""Values of a graph: tensors on the device, NumPy arrays on the host, lists of these, None where absent.

Shapes and what is computed from them stay on the host, so that a program made of a graph reads nothing from
the device.
"""

import numpy as np
import onnx
from onnx import TensorProto

import ocl
from ocl import imported

# The largest array that is computed on the host.
HOST_ELEMENTS = 1024

DTYPES = {
    TensorProto.FLOAT: ocl.float32,
    TensorProto.DOUBLE: ocl.float64,
    TensorProto.FLOAT16: ocl.float16,
    TensorProto.BFLOAT16: ocl.bfloat16,
    TensorProto.INT64: ocl.int64,
    TensorProto.INT32: ocl.int32,
    TensorProto.INT16: ocl.int16,
    TensorProto.INT8: ocl.int8,
    TensorProto.UINT8: ocl.uint8,
    TensorProto.BOOL: ocl.bool_,
}
ONNX_DTYPES = {dtype: number for number, dtype in DTYPES.items()}
_NAMES = {number: TensorProto.DataType.Name(number) for number in TensorProto.DataType.values()}
_BFLOAT16 = onnx.helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)
FLOATING = (ocl.float32, ocl.float64, ocl.float16, ocl.bfloat16)


def dtype_of(number: int) -> ocl.dtype:
    """The dtype of ONNX's number; ValueError where tensors have no such dtype."""
    if number not in DTYPES:
        raise ValueError(f"no tensors of ONNX's dtype {_NAMES.get(number, number)}")
    return DTYPES[number]


def upload(array: np.ndarray, device) -> ocl.Tensor:
    """A tensor with the elements and the dtype of an array; ValueError where tensors have no such dtype."""
    dtype = imported.DTYPES.get(array.dtype.name)
    if dtype is None:
        raise ValueError(f"no tensors of NumPy's dtype {array.dtype.name}")
    return imported.upload(array.astype(np.float32) if dtype == ocl.bfloat16 else array, dtype, device)


def read(value):
    """A value on the host; a tensor is waited for."""
    if not isinstance(value, ocl.Tensor):
        return value
    if value.dtype == ocl.bfloat16:
        return value.detach().to(ocl.float32).numpy().astype(_BFLOAT16)
    return value.detach().numpy()


def integers(value) -> list[int]:
    """A host value or an attribute as a list of numbers."""
    return [int(each) for each in np.asarray(value).reshape(-1)]


def scalar(value, default=None):
    """The one element of a host value as a number of Python, or a default where the value is absent."""
    return default if value is None else np.asarray(value).reshape(()).item()
