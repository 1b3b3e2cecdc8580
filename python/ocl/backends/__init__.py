"""The names of torch.backends: switches of libraries that are not used here.

They can be set and read back, and change nothing.
``ocl.set_float32_matmul_precision`` is the one that counts.
"""

from ocl.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
