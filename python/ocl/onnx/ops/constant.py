"""Values that the file or a shape gives."""

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import HOST_ELEMENTS, dtype_of, integers, upload

_KINDS = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


@operator("Constant", until=25, folds=False)
def constant(attributes) -> np.ndarray:
    """The array of a Constant's attributes; loading evaluates it."""
    (name, value), *_ = attributes.items()
    if name == "value":
        return value
    if name in _KINDS:
        return np.array(value, _KINDS[name])
    if name.startswith("value_string"):
        return np.array(value, object)
    raise ValueError(f"onnx: Constant with attribute {name!r} is not supported")


@operator("ConstantOfShape", until=25, host=(0,), folds=False)
def constant_of_shape(call, sizes):
    value = call.get("value", np.zeros(1, np.float32)).reshape(())
    sizes = integers(sizes)
    if value.dtype.kind in "iub" and np.prod(sizes, dtype=np.float64) <= HOST_ELEMENTS:
        return np.full(sizes, value)
    return ocl.full(sizes, value.item(), dtype=upload(value, call.device).dtype, device=call.device)


@operator("Range", until=27, host=(0, 1, 2))
def ranges(call, start, limit, delta):
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


@operator("EyeLike")
def eye_like(call, x):
    rows, columns = x.shape
    dtype = dtype_of(call["dtype"]) if call.get("dtype") else x.dtype
    row, column = ocl.arange(rows, device=x.device).unsqueeze(1), ocl.arange(columns, device=x.device)
    return (column == row + call.get("k", 0)).to(dtype)
