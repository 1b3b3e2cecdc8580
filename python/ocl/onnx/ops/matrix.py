"""Matrix products."""

import ocl
from ocl.onnx.table import operator

F = ocl.nn.functional


@operator("MatMul")
def matmul(call, a, b):
    return ocl.matmul(a, b)


@operator("Gemm")
def gemm(call, a, b, c=None):
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    if call.get("transA", 0):
        a = a.t()
    if call.get("transB", 0) and alpha == beta == 1 and (c is None or c.ndim == 1) and a.is_floating_point():
        return F.linear(a, b, c if c is None or c.shape[0] == b.shape[0] else c.expand([b.shape[0]]))
    b = b.t() if call.get("transB", 0) else b
    if c is None or beta == 0:
        product = ocl.mm(a, b)
        return product if alpha == 1 else (product * alpha).to(a.dtype)
    if not a.is_floating_point():
        return (ocl.mm(a, b) * alpha + c * beta).to(a.dtype)
    return ocl.addmm(c, a, b, beta=beta, alpha=alpha)


@operator("Det", until=22)
def det(call, x):
    return ocl.linalg.det(x)


@operator("Einsum", until=28)
def einsum(call, *inputs):
    return ocl.einsum(call["equation"], *inputs)
