"""Orthogonal factors."""

from __future__ import annotations

from typing import NamedTuple

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.linalg.triangular import solve_triangular

__all__ = ["householder_product", "qr"]


class QR(NamedTuple):
    """A = Q R."""

    Q: Tensor
    R: Tensor


class _QR(PreciseFunction):
    """Q and R. (Walter & Lehmann 2013, "Algorithmic differentiation of linear algebra functions";
    derivatives.yaml: linalg_qr_backward)"""

    @staticmethod
    def forward(ctx, a, mode):
        if mode == "r":
            (upper,) = on_host(lambda array: (np.linalg.qr(array, "r"),), a)
            q = _C.empty([0], dtype=a.dtype, device=a.device)
        else:
            q, upper = on_host(lambda array: tuple(np.linalg.qr(array, mode)), a)
        ctx.mode = mode
        ctx.save_for_backward(q, upper)
        return q, upper

    @staticmethod
    def backward(ctx, of_q, of_r):
        if ctx.mode == "r":
            raise RuntimeError(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
            )
        q, upper = ctx.saved_tensors
        rows, columns = q.shape[-2], upper.shape[-1]
        if ctx.mode == "complete" and rows > columns:
            raise RuntimeError(
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols"
            )
        if columns <= rows:
            return _of_tall(q, upper, of_q, of_r), None
        # The columns beyond the first square are Q R2, which gives Q a gradient.
        first, rest = upper[..., :rows], upper[..., rows:]
        of_rest = of_r[..., rows:]
        of_first = _of_tall(q, first, of_q + q @ (rest @ of_rest.mH), of_r[..., :rows])
        return _C.cat([of_first, q @ of_rest], -1), None


def _of_tall(q: Tensor, upper: Tensor, of_q: Tensor, of_r: Tensor) -> Tensor:
    """The gradient of A = Q R with a square R."""
    above = _C.triu(of_r @ upper.mH - q.mH @ of_q)
    half = above - 0.5 * above * _C.eye(above.shape[-1], dtype=above.dtype, device=above.device)
    symmetric = half + half.mH
    return solve_triangular(upper.mH, of_q + q @ symmetric, upper=False, left=False)


@full_precision
def qr(A: Tensor, mode: str = "reduced") -> QR:
    """Q and R of A (*, m, n) (torch.linalg.qr); k is the smaller size.

    - ``mode="reduced"``: Q (*, m, k), R (*, k, n).
    - ``"complete"``: Q (*, m, m), R (*, m, n), whose gradient is there for m <= n.
    - ``"r"``: an empty Q, and R as in reduced, which has no gradient.

    Gradients are finite where the first k columns are linearly independent.
    """
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentValueError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    checks.float_matrices("linalg.qr", A)
    return QR(*_QR.apply(A, mode))


@full_precision
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of the product of k reflections I - tau_i v_i v_i^H.

    Column i of ``input`` (*, m, n) has v_i below its diagonal; v_i is 1 on the diagonal and 0 above. tau is
    (*, k), k <= n <= m. Only a triangular system leaves the device. (torch.linalg.householder_product)
    """
    name = "torch.linalg.householder_product"
    checks.float_matrices(name, input, "input")
    rows, columns = input.shape[-2:]
    reflections = tau.shape[-1] if tau.ndim else 0
    if rows < columns:
        raise ArgumentValueError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if columns < reflections:
        raise ArgumentValueError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if tau.shape[:-1] != input.shape[:-2]:
        raise ArgumentValueError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise ArgumentTypeError(f"{name}: tau dtype {tau.dtype} does not match input dtype {input.dtype}")
    like = {"dtype": input.dtype, "device": input.device}
    v = _C.tril(input[..., :reflections], -1) + _C.eye(rows, reflections, **like)
    # The product is I - V T V^H, (I + diag(tau) striu(V^H V)) T = diag(tau).
    scales = tau.unsqueeze(-1)
    system = scales * _C.triu(v.mH @ v, 1)
    diagonal = scales * _C.eye(reflections, **like)
    t = solve_triangular(system, diagonal, upper=True, unitriangular=True)
    return _C.eye(rows, columns, **like) - v @ (t @ v[..., :columns, :].mH)
