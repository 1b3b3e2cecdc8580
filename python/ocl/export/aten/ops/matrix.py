"""Products of matrices, distances, attention."""

import ocl
from ocl.export.aten.table import first_alone, operator, operators

F = ocl.nn.functional

operators(
    "matrix",
    {
        "aten.mm.default": ocl.mm,
        "aten.bmm.default": ocl.bmm,
        "aten.mv.default": ocl.mv,
        "aten.dot.default": ocl.dot,
        "aten.addmm.default": ocl.addmm,
        "aten.addmv.default": ocl.addmv,
        "aten.addr.default": ocl.addr,
        "aten.addbmm.default": ocl.addbmm,
        "aten.baddbmm.default": ocl.baddbmm,
        "aten.matmul.default": ocl.matmul,
        "aten.linear.default": F.linear,
        "aten.bilinear.default": F.bilinear,
        "aten._pdist_forward.default": ocl.pdist,
    },
)


@operator("aten.einsum.default")
def einsum(equation, tensors, *, path=None):
    return ocl.einsum(equation, *tensors)


@operator("aten._cdist_forward.default")
def cdist(x, y, p, compute_mode):
    return ocl.cdist(x, y, p)


@operator("aten.scaled_dot_product_attention.default", call=True, flag=4)
def attention(
    call, query, key, value, mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False
):
    dropout_p = dropout_p if call.trains(True) else 0.0
    return F.scaled_dot_product_attention(
        query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


@operator("aten._scaled_dot_product_flash_attention_for_cpu.default", call=True, flag=3, refuses=first_alone)
def flash_attention(call, query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    return attention(call, query, key, value, attn_mask, dropout_p, is_causal, scale=scale), None
