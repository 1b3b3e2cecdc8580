"""The layouts of tensors, and the names of PyTorch's other layouts."""

from __future__ import annotations

__all__ = ["layout", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided"]


class layout:  # noqa: N801  (PyTorch's name)
    """How a tensor keeps its elements. (torch.layout)"""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"ocl.{self._name}"

    def __reduce__(self) -> str:
        return self._name

    def __copy__(self) -> layout:
        return self

    def __deepcopy__(self, memo: dict) -> layout:
        return self


strided, sparse_coo = layout("strided"), layout("sparse_coo")
# There are no tensors of these: programs compare `layout` with them.
sparse_csr, sparse_csc = layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")
