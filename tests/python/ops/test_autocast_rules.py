"""Which operator runs in which dtype under ocl.autocast."""

import pathlib
import re

import cases
import numpy as np
import pytest
import torch
from comparison import as_list, drawn

import ocl

LISTS = pathlib.Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
TABLE = {row["name"]: row for row in ocl._C.operator_table()}

# The names of our operators in PyTorch's lists, where they differ.
OURS = {
    "linalg_vector_norm": "norm",
    "grid_sampler": "grid_sample",
    "_thnn_fused_lstm_cell": "lstm",
    "_thnn_fused_gru_cell": "gru",
}
# Operators of ours that are made of those in the lists.
COMPOSED = {
    "cross_entropy": "float32",
    "normalize": "float32",
    "rms_norm": "float32",  # in the lists from PyTorch 2.12 on
    "softmin": "float32",
    "gru": "lower_precision",
    "lstm": "lower_precision",
    "rnn_relu": "lower_precision",
    "rnn_tanh": "lower_precision",
    "binary_cross_entropy": "refused",
}
UPSAMPLING = re.compile("_?upsample_")


def rules_of_torch():
    text = LISTS.read_text()
    kinds = {
        "AT_FORALL_LOWER_PRECISION_FP": "lower_precision",
        "AT_FORALL_FP32": "float32",
        "AT_FORALL_FP32_SET_OPT_DTYPE": "float32",
        "AT_FORALL_PROMOTE": "widest",
    }
    found = {}
    for name, body in re.findall(r"#define (AT_FORALL_\w+)\(_\)((?:.*\\\n)*.*\n)", text):
        if name in kinds:
            found |= {OURS.get(op, op): kinds[name] for op in re.findall(r"_\((\w+)", body)}
    assert len(found) > 60
    return found


def test_rules_are_pytorchs():
    theirs = rules_of_torch()
    mine = {name: rule for name in TABLE if (rule := ocl._C._cast_rule(name)) != "none"}
    expected = {name: rule for name, rule in theirs.items() if name in TABLE} | COMPOSED
    expected |= {"interpolate": "float32"} if any(UPSAMPLING.match(name) for name in theirs) else {}
    assert mine == {name: rule for name, rule in expected.items() if name in TABLE}


# Their cases make a weight of the input's dtype, which is rounded where the input is.
ROUNDED = ("binary_cross_entropy_with_logits", "cross_entropy", "nll_loss")
RULED = sorted(
    n for n in TABLE if ocl._C._cast_rule(n) in ("lower_precision", "float32") and n in cases.CASES
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RULED)
@pytest.mark.parametrize("dtype", [ocl.bfloat16, ocl.float16], ids=["bfloat16", "float16"])
def test_operators_compute_in_the_dtype_of_their_rule(name, dtype):
    """Under autocast an operator gives the bits that it gives for inputs that are cast by hand."""
    rule = ocl._C._cast_rule(name)
    given, wanted = (ocl.float32, dtype) if rule == "lower_precision" else (dtype, ocl.float32)
    compared = 0
    for seed in range(8):
        case = drawn(name, seed)
        if not any(i.is_floating for i in case.inputs):
            continue

        def inputs(*dtypes, case=case):
            built = [i.build(ocl.tensor)[1] for i in case.inputs]
            for each in dtypes:
                built = [t.to(each) if t.dtype.is_floating_point else t for t in built]
            return built

        try:
            expected = as_list(case.function(ocl, *inputs(given, wanted)))
        except (RuntimeError, TypeError, ValueError):
            continue  # the case asks for a dtype of its own
        with ocl.autocast("ocl", dtype=dtype):
            actual = as_list(case.function(ocl, *inputs(given)))
        for e, a in zip(expected, actual, strict=True):
            if name == "interpolate" and a.dtype == given:
                continue  # mode "area", which is a pooling
            assert a.dtype == e.dtype
            rtol = 0.02 if name in ROUNDED else 0
            np.testing.assert_allclose(a.float().numpy(), e.float().numpy(), rtol=rtol)
        compared += 1
    assert compared, f"no case of {name} could be compared"
