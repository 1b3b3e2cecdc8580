"""ONNX's own backend node tests: which there are, which have our dtypes, and how one runs."""

import functools
import warnings

import numpy as np
from onnx import TensorProto, TypeProto, numpy_helper

import ocl
from ocl.onnx.values import DTYPES


@functools.cache
def node_cases() -> dict:
    """All node tests of the package, by name."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in load_model_tests(kind="node")}


def _element_type(kind: TypeProto) -> int:
    while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
        kind = getattr(kind, kind.WhichOneof("value")).elem_type
    return kind.tensor_type.elem_type


def foreign_dtypes(case) -> list[str]:
    """The dtypes of inputs and outputs that tensors do not have here."""
    graph = case.model.graph
    types = {_element_type(value.type) for value in (*graph.input, *graph.output)}
    return sorted(TensorProto.DataType.Name(each) for each in types - {*DTYPES})


def _array(value) -> np.ndarray:
    """Some tests of Cast hold a message in place of an array."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def _uploaded(value):
    if isinstance(value, list):
        return [_uploaded(each) for each in value]
    if value is None:
        return None
    array = _array(value)
    if array.dtype.name == "bfloat16":
        return ocl.tensor(array.astype(np.float32)).to(ocl.bfloat16)
    return ocl.tensor(array)


def _read(value):
    if isinstance(value, list):
        return [_read(each) for each in value]
    return value.to(ocl.float32).numpy() if value.dtype == ocl.bfloat16 else value.numpy()


def _compare(case, got, expected) -> None:
    if isinstance(expected, list):
        assert isinstance(got, list) and len(got) == len(expected)
        for pair in zip(got, expected, strict=True):
            _compare(case, *pair)
        return
    expected = _array(expected)
    least = UNITS * LAST_PLACES.get(expected.dtype.name, 0)
    if expected.dtype.name == "bfloat16":
        expected = expected.astype(np.float32)
    assert got.dtype == expected.dtype, f"{got.dtype} given, {expected.dtype} expected"
    assert got.shape == expected.shape, f"{got.shape} given, {expected.shape} expected"
    np.testing.assert_allclose(got, expected, rtol=max(case.rtol, least), atol=case.atol)


# ONNX's reference rounds every step to 16 bits, and ours computes in float32: results may be so far apart.
LAST_PLACES = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
UNITS = 2

# Their results are random: the shape and the dtype are what can be compared.
RANDOM = ("test_bernoulli", "test_randomuniform", "test_randomnormal", "test_training_dropout")


def run(case) -> None:
    """Loads the model and compares its results within the test's own tolerances; raises where they differ."""
    module = ocl.onnx.load(case.model)
    for inputs, outputs in case.data_sets:
        results = module(*(_uploaded(each) for each in inputs))
        results = results if isinstance(results, tuple) else (results,)
        assert len(results) == len(outputs)
        for got, expected in zip(results, outputs, strict=True):
            got = _read(got)
            if case.name.startswith(RANDOM) and "zero_ratio" not in case.name:
                assert got.dtype == _array(expected).dtype and got.shape == _array(expected).shape
            else:
                _compare(case, got, expected)
