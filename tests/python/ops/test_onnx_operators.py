"""Every operator that ocl.onnx.save writes, by random cases: onnxruntime's results are ours."""

import cases
import numpy as np
import pytest
from comparison import as_list, drawn

pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx.save, as there is no package onnx")
ort = pytest.importorskip(
    "onnxruntime", reason="NOT TESTED: ocl.onnx.save, as there is no package onnxruntime"
)

import onnx  # noqa: E402

import ocl  # noqa: E402

SEEDS = range(12)
NAMES = sorted(set(cases.CASES) & set(ocl.onnx.written_operators()))
# How onnxruntime says that its CPU provider has no kernel for a dtype.
NO_KERNEL = ("NOT_IMPLEMENTED", "NotImplemented", "Could not find an implementation")


def session(path):
    onnx.checker.check_model(path, full_check=True)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def wanted(function, tensors):
    with ocl.no_grad():
        return [r for r in as_list(function(*tensors)) if isinstance(r, ocl.Tensor)]


def close(ours, theirs, what, half):
    if not ours.size:  # onnxruntime's Expand keeps a 1 that should become 0
        return
    assert ours.shape == theirs.shape, f"{what}: {ours.shape} and onnxruntime's {theirs.shape}"
    assert ours.dtype == theirs.dtype, f"{what}: {ours.dtype} and onnxruntime's {theirs.dtype}"
    if ours.dtype.kind != "f":
        np.testing.assert_array_equal(theirs, ours, err_msg=what)
        return
    finite = np.isfinite(ours)
    scale = max(1.0, float(np.abs(ours[finite]).max())) if finite.any() else 1.0
    rtol, atol = (4e-3, 4e-3) if half else (1e-4, 2e-5)
    np.testing.assert_allclose(theirs, ours, rtol=rtol, atol=atol * scale, err_msg=what)


def compare(function, tensors, path, what, half=False):
    """Compares; False where onnxruntime lacks a kernel, or the call cannot be written."""
    try:
        ocl.onnx.save(lambda *given: as_list(function(*given)), path, tuple(tensors))
    except ocl.onnx.UnwritableError:
        return False
    except ocl.capture.CaptureError as error:
        if "is not told of" in str(error):  # the places of maxima
            return False
        raise
    try:
        net = session(path)
    except Exception as error:
        if any(each in str(error) or each in type(error).__name__ for each in NO_KERNEL):
            return False
        raise
    feeds = {v.name: t.numpy() for v, t in zip(net.get_inputs(), tensors, strict=True)}
    got = net.run(None, feeds)
    for place, (a, b) in enumerate(zip(wanted(function, tensors), got, strict=True)):
        close(a.numpy(), b, f"{what}, result {place}", half)
    return True


def check(name, path, dtype):
    """How many cases could be compared, with floating inputs of a dtype."""
    compared = 0
    for seed in SEEDS:
        case = drawn(name, seed)
        tensors = [ocl.tensor(np.ascontiguousarray(i.array).reshape(i.array.shape)) for i in case.inputs]
        tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
        if not tensors or dtype != ocl.float32 and not any(t.is_floating_point() for t in tensors):
            continue
        compared += compare(
            lambda *given, case=case: case.function(ocl, *given),
            tensors,
            path,
            f"{name}, seed {seed}",
            dtype == ocl.float16,
        )
    return compared


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_gives_our_results(name, tmp_path):
    if not check(name, str(tmp_path / "net.onnx"), ocl.float32):
        pytest.skip("no case can be written and run")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_gives_our_results_of_float16(name, tmp_path):
    if not check(name, str(tmp_path / "net.onnx"), ocl.float16):
        pytest.skip("no case can be written and run")
