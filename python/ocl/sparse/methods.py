"""The methods of dense and of sparse tensors that have to do with layouts.

Imported last: what Tensor has then, and a sparse tensor has no meaning for, raises by its name.
"""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.sparse import elementwise, making, selecting
from ocl.sparse.asking import DENSE_METHODS, FUNCTIONS, asking, refusal, refusing
from ocl.sparse.coo import SparseTensor
from ocl.sparse.layouts import strided

# --- dense tensors


def _layout(self: Tensor) -> Any:
    return strided


def _is_not_sparse(self: Tensor) -> bool:
    return False


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Itself, of another dtype where one is given. (torch.Tensor.to_dense)"""
    return self if dtype is None else self.to(dtype)


def _to_sparse_coo(self: Tensor) -> Tensor:
    """The elements that are not 0, as a sparse tensor; waits for their number.
    (torch.Tensor.to_sparse_coo)
    """
    return making.to_sparse(self)


def _sparse_dim(self: Tensor) -> int:
    """0: it is dense. (torch.Tensor.sparse_dim)"""
    return 0


def _dense_dim(self: Tensor) -> int:
    """The number of dimensions: all are dense. (torch.Tensor.dense_dim)"""
    return self.ndim


def _of_sparse_alone(name: str) -> Any:
    def method(self: Tensor) -> Any:
        raise _C.ArgumentTypeError(f"{name}: expected a tensor of layout ocl.sparse_coo, got {self.layout}")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Of a sparse tensor alone; raises TypeError. (torch.Tensor.{name})"
    return method


def _of_other_layout(name: str) -> Any:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise _C.ArgumentTypeError(
            f"{name}: there are no tensors of layout ocl.{name.removeprefix('to_')}; to_sparse() gives "
            f"ocl.sparse_coo"
        )

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Raises TypeError: there is no such layout. (torch.Tensor.{name})"
    return method


Tensor.layout = property(_layout, doc="``ocl.strided``, or ``ocl.sparse_coo`` of a sparse tensor.")
Tensor.is_sparse = property(_is_not_sparse, doc="Whether it is a sparse tensor in coordinate format.")
Tensor.is_sparse_csr = property(_is_not_sparse, doc="False: there are no tensors of that layout.")
Tensor.to_dense, Tensor.to_sparse, Tensor.to_sparse_coo = _to_dense, making.to_sparse, _to_sparse_coo
Tensor.sparse_dim, Tensor.dense_dim = _sparse_dim, _dense_dim
Tensor.sparse_mask = _of_sparse_alone("sparse_mask")
for _name in ("coalesce", "is_coalesced", "indices", "values", "_indices", "_values", "_nnz"):
    setattr(Tensor, _name, _of_sparse_alone(_name))
for _name in ("to_sparse_bsc", "to_sparse_bsr", "to_sparse_csc", "to_sparse_csr"):
    setattr(Tensor, _name, _of_other_layout(_name))
for _name, _method in DENSE_METHODS.items():
    setattr(Tensor, _name, asking(getattr(Tensor, _name), _method))

# --- sparse tensors

# Members that the shape, the dtype and the device answer, and those of every object in Python.
_INHERITED = frozenset(
    "__array_priority__ __class__ __delattr__ __dict__ __dir__ __doc__ __getattribute__ __getstate__ "
    "__hash__ __init__ __init_subclass__ __len__ __module__ __new__ __setattr__ __sizeof__ __subclasshook__ "
    "__torch_function__ "
    "_is_parameter _make_subclass _pybind11_conduit_v1_ device dim dtype element_size get_device "
    "is_floating_point is_complex is_cuda is_signed is_sparse_csr itemsize ndim ndimension nelement numel "
    "shape size to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr __reduce__".split()
)
_DTYPES = {
    **{name: getattr(_C, name) for name in ("bfloat16", "int8", "uint8") if hasattr(Tensor, name)},
    "bool": _C.bool_,
    "byte": _C.uint8,
    "char": _C.int8,
    "double": _C.float64,
    "float": _C.float32,
    "half": _C.float16,
    "int": _C.int32,
    "long": _C.int64,
    "short": _C.int16,
}
_METHODS: dict[str, Any] = {
    **{name: function for name, function in FUNCTIONS.items() if hasattr(Tensor, name)},
    **DENSE_METHODS,
    "__abs__": FUNCTIONS["abs"],
    "__add__": elementwise.add,
    "__floordiv__": elementwise.floor_divide,
    "__getitem__": selecting.get_item,
    "__iter__": selecting.iterate,
    "__matmul__": FUNCTIONS["matmul"],
    "__mul__": elementwise.mul,
    "__neg__": elementwise.neg,
    "__pos__": elementwise.positive,
    "__pow__": elementwise.pow,
    "__radd__": lambda self, other: elementwise.add(other, self),
    "__rmatmul__": lambda self, other: FUNCTIONS["matmul"](other, self),
    "__rmul__": elementwise.mul,
    "__rsub__": lambda self, other: elementwise.sub(other, self),
    "__sub__": elementwise.sub,
    "__truediv__": elementwise.true_divide,
    "__imul__": elementwise.in_place("mul_", elementwise.mul),
    "__itruediv__": elementwise.in_place("div_", elementwise.div),
    "mul_": elementwise.in_place("mul_", elementwise.mul),
    "multiply_": elementwise.in_place("multiply_", elementwise.mul),
    "div_": elementwise.in_place("div_", elementwise.div),
    "divide_": elementwise.in_place("divide_", elementwise.div),
    "subtract_": elementwise.sub_,
    "t_": elementwise.in_place("t_", selecting.t),
    "transpose_": elementwise.in_place("transpose_", selecting.transpose),
    "zero_": elementwise.zero_,
    **{
        f"{name}_": elementwise.in_place(f"{name}_", FUNCTIONS[name])
        for name in (*elementwise.ZERO_PRESERVING, "neg", "negative")
        if hasattr(Tensor, f"{name}_")
    },
    "contiguous": lambda self, memory_format=None: self,
    "type_as": lambda self, other: self.to(other.device, other.dtype),
}


def _converting(name: str, dtype: Any) -> Any:
    def method(self: SparseTensor, memory_format: Any = None) -> SparseTensor:
        return self.to(dtype)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As {dtype}. (torch.Tensor.{name})"
    return method


def _refused_property(name: str) -> property:
    def read(self: SparseTensor) -> Any:
        raise refusal(name)

    return property(read, doc=f"Raises TypeError: {name} is not implemented for layout ocl.sparse_coo.")


for _name, _method in _METHODS.items():
    setattr(SparseTensor, _name, _method)
for _name, _dtype in _DTYPES.items():
    setattr(SparseTensor, _name, _converting(_name, _dtype))
SparseTensor.T = property(
    lambda self: selecting.permute(self, *reversed(range(self.ndim))), doc="The dimensions in reverse."
)
SparseTensor.__array_ufunc__ = None  # NumPy leaves its operators to ours
for _name in set(dir(Tensor)) - set(vars(SparseTensor)) - _INHERITED:
    _is_method = callable(getattr(Tensor, _name))
    setattr(SparseTensor, _name, refusing(_name) if _is_method else _refused_property(_name))
