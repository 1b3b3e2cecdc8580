"""Linear algebra by the names of torch.linalg."""

from ocl._C import matmul, vector_norm

__all__ = ["matmul", "vector_norm"]
