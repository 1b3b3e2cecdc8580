"""Every implementation of every family is right: the operators' random cases with each one forced."""

import pytest
from comparison import check_cases

import ocl

MAX_POOLS, AVG_POOLS = (
    tuple(f"{prefix}{kind}_pool{axes}d" for axes in (2, 3) for prefix in ("", "adaptive_"))
    for kind in ("max", "avg")
)
# Operators whose cases reach a family.
OPERATORS = {
    "gemm": ("matmul", "linear", "baddbmm", "mm", "einsum"),
    "quantized_linear": ("quantized_linear",),
    "conv2d_forward": ("conv2d", "conv1d", "conv_transpose2d", "conv3d"),
    "conv2d_backward_data": ("conv2d", "conv1d", "conv_transpose2d", "conv3d"),
    "conv2d_backward_weight": ("conv2d", "conv1d", "conv_transpose2d", "conv3d"),
    "fft": ("_fft_c2c", "_fft_r2c", "_fft_c2r"),
    "softmax_forward": ("softmax", "log_softmax"),
    "softmax_backward": ("softmax", "log_softmax"),
    "attention_softmax": ("scaled_dot_product_attention",),
    "attention_forward": ("scaled_dot_product_attention",),
    "attention_backward": ("scaled_dot_product_attention",),
    "batch_norm_statistics": ("batch_norm",),
    "batch_norm_gradient_sums": ("batch_norm", "batch_norm_activation"),
    "batch_norm_forward": ("batch_norm", "batch_norm_activation"),
    "batch_norm_input_gradient": ("batch_norm", "batch_norm_activation"),
    "row_norm_forward": ("layer_norm", "group_norm", "rms_norm"),
    "row_norm_backward": ("layer_norm", "group_norm", "rms_norm"),
    "max_pool2d_forward": MAX_POOLS,
    "max_pool2d_backward": MAX_POOLS,
    "avg_pool2d_forward": AVG_POOLS,
    "avg_pool2d_backward": AVG_POOLS,
}
# Calls of programs alone; tests/python/quantization/test_int8_primitives.py forces each of theirs.
OF_PROGRAMS = {"int8_conv2d"}
ALL = [(family, name) for family in OPERATORS for name in ocl.implementations.families()[family]]


def test_every_family_has_operators():
    assert set(OPERATORS) | OF_PROGRAMS == set(ocl.implementations.families())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("family", "name"), ALL)
def test_forced(family, name):
    chosen = []
    with ocl.implementations.using(f"{family}={name}"):
        for operator in OPERATORS[family]:
            with ocl.profiler.record_calls() as recorded:
                check_cases(operator, range(8))
            chosen += [c for c in recorded.choices if (c.family, c.implementation) == (family, name)]
    if not chosen:
        assert any(word in name for word in ("cpu", "simt", "tensor", "group")), (
            f"{family}: nothing takes {name}"
        )
        pytest.skip(f"{ocl.get_device_name()} cannot take {family}={name}")


def test_choices_give_their_reasons():
    with ocl.profiler.record_calls() as recorded, ocl.implementations.using("gemm=-integer"):
        ocl.ones(4, 5) @ ocl.ones(5, 6)
    (choice,) = recorded.choices
    assert choice.family == "gemm"
    assert choice.implementation in choice.reasons
    assert "integer barred cannot" in choice.reasons


def test_profiles_name_implementations():
    a = ocl.ones(64, 64)
    with ocl.profiler.profile() as profile:
        (a @ a).sum()
    table = profile.table(by="implementation")
    assert "gemm: " in table
    assert "(none)" in table


def test_names_are_checked_and_settings_return():
    assert ocl.implementations.get() == ""
    with pytest.raises(ValueError, match="no family of implementations is named 'gem'"):
        ocl.implementations.set("gem=clblast")
    with pytest.raises(ValueError, match="gemm has no implementation 'fast'"):
        ocl.implementations.set("gemm=fast")
    with pytest.raises(ZeroDivisionError), ocl.implementations.using("gemm=clblast"):
        assert ocl.implementations.get() == "gemm=clblast"
        1 / 0  # noqa: B018
    assert ocl.implementations.get() == ""


def test_the_environment_is_read_and_checked():
    from processes import run, start

    program = "import ocl; ocl.ones(1); print(ocl.implementations.get())"
    output, _ = run(program, OCL_IMPLEMENTATIONS="gemm=clblast")
    assert output.split() == ["gemm=clblast"]
    process = start(program, OCL_IMPLEMENTATIONS="gemm=nothing")
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 1
    assert "gemm has no implementation 'nothing'" in errors
