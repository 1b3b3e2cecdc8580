"""Every row of the registry at the gate: it is heard with named, typed arguments, and can be given others."""

import re

import cases
import pytest
from comparison import Run, as_list, drawn
from support import skip_without

import ocl

ROWS = {row["name"]: row for row in ocl._C.operator_table()}
NAMES = sorted(set(ROWS) & set(cases.CASES))

# Told of under the name of what PyTorch's function of that name is made of here, and why.
HEARD_AS = {
    "vector_norm": "norm",  # one function with another name for its argument
}

# The name by which the seam shows a row's parameter of that C++ type.
KINDS = {
    "Tensor": (ocl.Tensor, dict),  # a dict of h and c, of recurrent operators
    "OptionalTensor": (ocl.Tensor, type(None)),
    "bool": (bool,),
    "double": (float,),
    "std::int64_t": (int,),
    "Operand": (ocl.Tensor, int, float, bool),
    "Scalar": (int, float, bool),
    "std::string": (str,),
    "TensorList": (list,),
    "DimList": (list,),
}


def calls_of(name, seed, dtype="float32"):
    case = drawn(name, seed)
    with ocl.profiler.record_calls() as recorded:
        Run(ocl, case, dtype, backward=False)
    return recorded.calls


def own_calls(name, seed):
    """Those of its row, and not of a table's row of that name that it is made of."""
    heard = HEARD_AS.get(name, name)
    calls = [call for call in calls_of(name, seed) if call.kind == "operator" and call.name == heard]
    return [call for call in calls if call.depth == min(c.depth for c in calls)]


def fits(form, arguments):
    """Whether the names are the form's, and the values of its types."""
    if [parameter for parameter, _, _ in form] != list(arguments):
        return False
    kinds = [KINDS.get(re.sub(r"^const |&$", "", kind)) for _, kind, _ in form]
    return all(isinstance(a, k) for a, k in zip(arguments.values(), kinds, strict=True) if k)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_is_heard_with_named_and_typed_arguments(name):
    calls = [call for seed in range(4) for call in own_calls(name, seed)]
    assert calls, "nobody heard of it"
    forms = ROWS[HEARD_AS.get(name, name)]["forms"]
    for call in calls:
        assert all(re.fullmatch(r"\w+", argument) for argument in call.arguments)
        # A row of a table, or a member: its arguments are not declared.
        assert any(fits(form, call.arguments) for form in forms) if forms else call.arguments, call.arguments


@pytest.fixture
def in_double():
    """Gives every operator its floating tensors in float64."""
    skip_without("float64")

    def rewrite(name, tensors, arguments):
        tensors[:] = [t.double() if t is not None and t.is_floating_point() else t for t in tensors]

    interceptor = ocl._C._Interceptor(rewrite, False)
    interceptor.start()
    yield
    interceptor.stop()


def tensors_in(value):
    if isinstance(value, ocl.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in values for tensor in tensors_in(item)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("_")])
def test_rewritten_arguments_reach_the_kernel(name, in_double):
    for seed in range(3):
        case = drawn(name, seed)
        if not any(i.is_floating for i in case.inputs):
            continue
        with ocl.profiler.record_calls() as recorded:
            run = Run(ocl, case, "float32", backward=False)
        used = [t for call in recorded.calls if call.name != "to" for t in tensors_in(call.arguments)]
        used += tensors_in(as_list(run.results))
        assert any(t.dtype == ocl.float64 for t in used), f"seed {seed}"
