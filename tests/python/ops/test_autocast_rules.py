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
    "cross_entropy": "float32_result",
    "normalize": "float32",
    "rms_norm": "float32",  # in the lists from PyTorch 2.12 on
    "softmin": "float32",
    "gru": "lower_precision",
    "quantized_linear": "lower_precision_of_ends",  # torchao's weight is an argument of linear
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
ROUNDED = ("binary_cross_entropy_with_logits", "cross_entropy", "multi_margin_loss", "nll_loss")
RULES = ("lower_precision", "float32", "float32_result")
RULED = sorted(n for n in TABLE if ocl._C._cast_rule(n) in RULES and n in cases.CASES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RULED)
@pytest.mark.parametrize("dtype", [ocl.bfloat16, ocl.float16], ids=["bfloat16", "float16"])
def test_operators_compute_in_the_dtype_of_their_rule(name, dtype):
    """Under autocast an operator gives the bits that it gives for inputs that are cast by hand."""
    rule = ocl._C._cast_rule(name)
    given, wanted = (ocl.float32, dtype) if rule == "lower_precision" else (dtype, ocl.float32)
    compared = 0
    for seed in range(24):
        case = drawn(name, seed)
        if compared == 8 or not any(i.is_floating for i in case.inputs):
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


@pytest.mark.parametrize("dtype", [ocl.bfloat16, ocl.float16], ids=["bfloat16", "float16"])
def test_scales_of_quantised_weights_stay_as_they_are(dtype, rng):
    x, bias = (ocl.tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((3, 64), (5,)))
    # In float16 these scales would be rounded by far more than the products.
    weight = ocl.quantize_int4(ocl.tensor(rng.standard_normal((5, 64)).astype(np.float32) * 1e-6), 32)
    with ocl.autocast("ocl", dtype=dtype), ocl.profiler.record_calls() as recorded:
        y = ocl.quantized_linear(x, *weight, bias)
    assert y.dtype == dtype
    (call,) = [c for c in recorded.calls if c.name == "quantized_linear_forward"]
    assert call.arguments["scales"].dtype == call.arguments["zeros"].dtype == ocl.float32
    expected = ocl.quantized_linear(x.to(dtype), *weight, bias.to(dtype))
    np.testing.assert_array_equal(y.float().numpy(), expected.float().numpy())


@pytest.mark.parametrize("dtype", [ocl.bfloat16, ocl.float16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(7, 50), (3, 5, 4), (1, 1), (65, 1001)])
def test_cross_entropy_reads_16_bits_as_they_are(dtype, reduction, shape):
    """The loss is that of float32 copies, the gradient theirs, rounded once; and so are their gradients."""
    rng = np.random.default_rng(0)
    logits = ocl.tensor(rng.standard_normal(shape).astype(np.float32) * 4).to(dtype)
    target = ocl.tensor(rng.integers(0, shape[1], (shape[0], *shape[2:])))

    def results(x, under_autocast):
        x = x.detach().requires_grad_()
        with ocl.autocast("ocl", dtype=dtype, enabled=under_autocast):
            loss = ocl.nn.functional.cross_entropy(x, target, reduction=reduction, label_smoothing=0.1)
        (fused,) = ocl.autograd.grad(loss.sum() * 3, x, retain_graph=True)
        (composed,) = ocl.autograd.grad(loss.sum() * 3, x, create_graph=True)
        (second,) = ocl.autograd.grad((composed.float() ** 2).sum(), x)
        return [t.detach() for t in (loss, fused, composed, second)]

    mine, wide = results(logits, True), results(logits.float(), False)
    assert mine[0].dtype == ocl.float32 and all(t.dtype == dtype for t in mine[1:])
    np.testing.assert_allclose(mine[0].numpy(), wide[0].numpy(), rtol=1e-6)
    step, smallest = (2.0**-8, 1e-30) if dtype == ocl.bfloat16 else (2.0**-11, 2.0**-24)
    for a, e in zip(mine[1:], wide[1:], strict=True):
        largest = 0 if e is not wide[3] else np.abs(e.numpy()).max()  # of differences of what was rounded
        tolerances = {"rtol": step, "atol": 4 * step * largest + smallest + 1e-7}
        np.testing.assert_allclose(a.float().numpy(), e.numpy(), **tolerances)
