"""The names that files of PyTorch may use: the functions that rebuild tensors and plain containers, and
dtypes.

This table is all that a name in a file can lead to, but for what `add_safe_globals` allows; nothing is
imported.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import Tensor
from ocl.copying import _with_attributes
from ocl.nn import Parameter
from ocl.serialization.errors import UnpicklingError
from ocl.sparse import layouts
from ocl.sparse.coo import SparseTensor
from ocl.sparse.making import sparse_coo_tensor

_KEYS = (str, bytes, int, float, complex, bool, type(None), _C.dtype)


class StorageType(NamedTuple):
    """torch.FloatStorage and its kin: what the elements of a buffer are."""

    dtype: _C.dtype


def checked_key(key: Any) -> Any:
    """A key of a dict or an item of a set; a tuple may hold no tuple, as hashing those takes any time."""
    parts = key if type(key) is tuple else (key,)
    if not all(type(part) in _KEYS for part in parts):
        raise UnpicklingError(f"it has a key of type {type(key).__name__}")
    return key


def _rebuild_tensor(storage: Tensor, storage_offset: int, size: tuple, stride: tuple) -> Tensor:
    if len(size) != len(stride):
        raise ValueError(f"{len(size)} sizes and {len(stride)} strides")
    return _C._restrided(storage, size, stride, storage_offset)


def _rebuild_tensor_v2(
    storage: Tensor,
    storage_offset: int,
    size: tuple,
    stride: tuple,
    requires_grad: bool,
    backward_hooks: dict,
    metadata: dict | None = None,
) -> Tensor:
    if metadata:
        raise UnpicklingError("it holds a tensor marked as conjugated or negated")
    return _rebuild_tensor(storage, storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_tensor_v3(*arguments: Any) -> Tensor:
    raise UnpicklingError("it holds a tensor of a dtype that ocl has not")


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: dict) -> Parameter:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: dict, state: dict
) -> Parameter:
    return _with_state(Parameter(data, requires_grad), state)


def _rebuild_from_type_v2(rebuild: Any, cls: Any, arguments: tuple, state: Any) -> Tensor:
    if rebuild not in (_rebuild_tensor_v2, _rebuild_parameter):
        raise UnpicklingError("it holds a tensor that is rebuilt in no known way")
    tensor = rebuild(*arguments)
    if type(tensor) is not cls:
        raise UnpicklingError("it holds a tensor of a class of its own")
    return _with_state(tensor, state)


def _with_state(tensor: Tensor, state: Any) -> Tensor:
    """`tensor` with the attributes that were set on it."""
    attributes, slots = state if type(state) is tuple else (state, None)
    if slots or not all(type(name) is str for name in attributes):
        raise UnpicklingError("it holds a tensor whose attributes are no plain ones")
    return _with_attributes(tensor, attributes, {})


def _layout(name: str) -> Any:
    if name != "torch.sparse_coo":
        raise UnpicklingError(f"it holds a tensor of layout {name}, which ocl has not")
    return layouts.sparse_coo


def _rebuild_sparse_tensor(layout: Any, data: tuple) -> SparseTensor:
    if layout is not layouts.sparse_coo:
        raise UnpicklingError("it holds a sparse tensor of an unknown layout")
    indices, values, size, *coalesced = data  # older files do not say whether it is
    is_coalesced = bool(coalesced[0]) if coalesced else None
    # Elements may not have been read yet: an index out of range is found by the operator that meets it.
    return sparse_coo_tensor(indices, values, size, is_coalesced=is_coalesced)


def _ordered_dict(pairs: list = ()) -> OrderedDict:
    return OrderedDict((checked_key(key), value) for key, value in pairs)


def _counter(counts: dict) -> Counter:
    return Counter({checked_key(key): count for key, count in counts.items()})


def _set(items: list = ()) -> set:
    return {checked_key(item) for item in items}


def _size(sizes: tuple) -> tuple:
    return tuple(sizes)


def _complex(real: float, imaginary: float) -> complex:
    return complex(real, imaginary)


def _encode(text: str, encoding: str) -> bytes:
    """Bytes, which protocol 2 has no opcode for."""
    if encoding != "latin1":
        raise UnpicklingError("it holds bytes in an encoding other than latin1")
    return text.encode(encoding)


def _bytearray(content: str | bytes = b"", encoding: str = "latin-1") -> bytearray:
    return bytearray(content if type(content) is bytes else content.encode("latin-1"))


# Each takes what a file gives it and raises TypeError, ValueError or AttributeError for what it cannot take.
_FUNCTIONS = {
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch._utils._rebuild_sparse_tensor": _rebuild_sparse_tensor,
    "torch.serialization._get_layout": _layout,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
    "torch.Size": _size,
    "collections.OrderedDict": _ordered_dict,
    "collections.Counter": _counter,
    "builtins.set": _set,
    "builtins.complex": _complex,
    "builtins.bytearray": _bytearray,
    "_codecs.encode": _encode,
}

_STORAGES = {
    "Float": _C.float32,
    "Double": _C.float64,
    "Half": _C.float16,
    "BFloat16": _C.bfloat16,
    "Long": _C.int64,
    "Int": _C.int32,
    "Short": _C.int16,
    "Char": _C.int8,
    "Byte": _C.uint8,
    "Bool": _C.bool_,
    "ComplexFloat": _C.complex64,
    "ComplexDouble": _C.complex128,
}

_VALUES = {
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.storage.UntypedStorage": StorageType(_C.uint8),
    **{f"torch.{name}Storage": StorageType(dtype) for name, dtype in _STORAGES.items()},
    **{str(dtype).replace("ocl", "torch"): dtype for dtype in _STORAGES.values()},
}

GLOBALS = {**_FUNCTIONS, **_VALUES}

# Named for what they are: a file that holds them is as good as any, but has no place here.
_LACKING_STORAGES = {
    "QInt8": "qint8",
    "QUInt8": "quint8",
    "QInt32": "qint32",
    "QUInt4x2": "quint4x2",
    "QUInt2x4": "quint2x4",
}
_LACKING = {
    **{f"torch.{name}Storage": dtype for name, dtype in _LACKING_STORAGES.items()},
    **{f"torch.{dtype}": dtype for dtype in _LACKING_STORAGES.values()},
    **{f"torch.uint{bits}": f"uint{bits}" for bits in (16, 32, 64)},
    **{
        f"torch.{dtype}": dtype
        for dtype in (
            "complex32",
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "float8_e8m0fnu",
            "float4_e2m1fn_x2",
        )
    },
}


def is_function(what: Any) -> bool:
    return any(what is function for function in _FUNCTIONS.values())


def refusal(name: str) -> UnpicklingError:
    """Why a file may not name something that is in no table."""
    if name in _LACKING:
        return UnpicklingError(f"it holds {_LACKING[name]} elements ({name}), a dtype that ocl has not")
    advice = (
        "save the state_dict() of a module, not the module"
        if name.startswith("torch.")
        else f"ocl.serialization.add_safe_globals([{name}]) allows it, if it is safe with any arguments"
    )
    return UnpicklingError(f"it names {name}, which is neither a tensor nor a plain container; {advice}")
