"""Sparse tensors in coordinate format, and the functions of torch.sparse.

``ocl.sparse_coo_tensor`` and ``Tensor.to_sparse`` make them; ``ocl.mm``, ``@``, sums, products with numbers
and functions with f(0) = 0 take them. An operator without a meaning for the layout raises TypeError.
"""

from __future__ import annotations

from ocl.sparse.old_types import (
    BFloat16Tensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from ocl.sparse.products import addmm, mm
from ocl.sparse.reductions import log_softmax, softmax
from ocl.sparse.reductions import sparse_sum as sum

__all__ = [
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "addmm",
    "log_softmax",
    "mm",
    "softmax",
    "sum",
]
