"""The results of two libraries side by side: records of results, gradients and states, and their measure.

A record is (label, value): None, an array, or anything that is to be the same. The first word of its label
says what kind it is; rounding errors are measured by the largest element of all records of that kind.
"""

import comparison
import numpy as np

from fuzz.spies import is_tensor

FLOAT64_UNIT = 1e-12  # of the largest element, beside what the problem makes of float64's roundings
NARROWER = 2.0**-29  # float64's rounding beside float32's
ILL_CONDITIONED = {"float32": 1e-3, "float64": 1e-3, "float16": 0.2, "bfloat16": 0.3}
EPSILON = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def weights_like(lib, tensor, seed):
    """Numbers between -1 and 1 of the tensor's shape and dtype, the same in both libraries."""
    values = np.random.default_rng(seed).uniform(-1, 1, tuple(tensor.shape))
    return lib.tensor(np.asarray(values, np.float32)).to(tensor.dtype)


def set_weights(lib, module, seed=0):
    """Gives the module parameters that are the same in both libraries."""
    with lib.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(weights_like(lib, parameter, [seed, i]))
    return module


def recorded(label, value):
    """A record of what a tensor holds now, or of any other value."""
    return label, np.array(comparison.array_of(value.detach())) if is_tensor(value) else value


def is_number_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def scales_of(records):
    """The largest finite element of each kind of record."""
    scales = {}
    for label, value in records:
        if is_number_array(value):
            kind = label.split()[0]
            scales[kind] = max(scales.get(kind, 0.0), float(comparison.largest_of(value, 0)))
    return scales


def distance(values, truth):
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(values.astype(np.float64) - truth)
    return off[np.isfinite(values) & np.isfinite(truth)].max(initial=0)


def disagreement(ours, single, truth, dtype):
    """In what our records in `dtype` differ, or None. `single`: PyTorch's in that dtype, or in float32 where
    that is float64; `truth`: PyTorch's in float64."""
    labels = [[label for label, _ in records] for records in (ours, single)]
    if labels[0] != labels[1]:
        return f"records {labels[0]}, PyTorch has {labels[1]}"
    scales = scales_of(truth)
    for (label, a), (_, b), (_, t) in zip(ours, single, truth, strict=True):
        if is_number_array(b) and is_number_array(t) and b.shape == t.shape:
            scale = scales[label.split()[0]]
            if distance(b, t) > ILL_CONDITIONED[dtype] * scale:
                return None
            if is_number_array(a) and a.shape == t.shape:
                if detail := differing_floats(label, a, b, t, dtype, scale):
                    return detail
                continue
        expected = t if dtype == "float64" else b
        if not is_same(a, expected):
            return f"{label}: {shown(a)}, PyTorch has {shown(expected)}"
    return None


def differing_floats(label, ours, single, truth, dtype, scale):
    if dtype == "float64":
        allowed = 64 * NARROWER * distance(single, truth) + FLOAT64_UNIT * scale
        single = truth
    else:
        allowed = 16 * distance(single, truth) + 32 * EPSILON[dtype] * scale
    special = ~np.isfinite(single)
    if not np.array_equal(ours[special], single[special].astype(ours.dtype), equal_nan=True):
        return f"{label}: {shown(ours)}, PyTorch has {shown(single)}"
    off = distance(ours, truth)
    if off <= allowed and np.isfinite(ours[~special]).all():
        return None
    return (
        f"{label}: off by {off:.3g}, allowed {allowed:.3g}: {shown(ours)}, PyTorch has {shown(single)}, "
        f"the truth is {shown(truth)}"
    )


def is_same(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and (a is b or repr(a) == repr(b))


def shown(value):
    return (
        f"{value.dtype}{list(value.shape)} {value.reshape(-1)[:6]}"
        if isinstance(value, np.ndarray)
        else repr(value)
    )
