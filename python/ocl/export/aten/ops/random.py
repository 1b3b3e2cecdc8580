"""Random numbers, of the generator of the module's device."""

import ocl
from ocl.export.aten.table import operator


@operator("aten.rand.default", call=True)
def rand(call, size, *, dtype=None):
    return ocl.rand(size, dtype=dtype, device=call.device)


@operator("aten.randn.default", call=True)
def randn(call, size, *, dtype=None):
    return ocl.randn(size, dtype=dtype, device=call.device)


@operator("aten.rand_like.default")
def rand_like(x, *, dtype=None):
    return ocl.rand_like(x, dtype=dtype)


@operator("aten.randn_like.default")
def randn_like(x, *, dtype=None):
    return ocl.randn_like(x, dtype=dtype)


@operator("aten.randint.default", call=True)
def randint(call, high, size, *, dtype=None):
    return ocl.randint(0, high, size, dtype=dtype, device=call.device)


@operator("aten.randint.low", call=True)
def randint_from(call, low, high, size, *, dtype=None):
    return ocl.randint(low, high, size, dtype=dtype, device=call.device)


@operator("aten.randperm.default", call=True)
def randperm(call, n, *, dtype=None):
    return ocl.randperm(n, dtype=dtype, device=call.device)


@operator("aten.bernoulli.default")
def bernoulli(probabilities):
    return ocl.bernoulli(probabilities)


@operator("aten.bernoulli.p")
def bernoulli_p(x, p=0.5):
    return ocl.bernoulli(x, p)


@operator("aten.multinomial.default")
def multinomial(weights, count, replacement=False):
    return ocl.multinomial(weights, count, replacement)


@operator("aten.normal_functional.default")
def normal(x, mean=0.0, std=1.0):
    return ocl.randn_like(x) * std + mean


@operator("aten.uniform.default")
def uniform(x, low=0.0, high=1.0):
    return ocl.rand_like(x) * (high - low) + low


@operator("aten.native_dropout.default", call=True, flag=2)
def native_dropout(call, x, p, train=True):
    if not call.trains(train is not False) or p == 0:
        return x, ocl.ones_like(x, dtype=ocl.bool_) if call.wants(1) else None
    if not call.wants(1):
        return ocl.dropout(x, p), None
    kept = ocl.rand(x.shape, device=x.device) >= p
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return x * kept.to(x.dtype) * scale, kept


@operator("aten.dropout.default", call=True, flag=2)
def dropout(call, x, p, train):
    return ocl.dropout(x, p, call.trains(train))


@operator("aten.exponential.default")
def exponential(x, rate=1.0):
    return ocl.empty_like(x).exponential_(rate)
