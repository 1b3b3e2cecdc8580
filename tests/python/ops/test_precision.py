"""The precision of float32 products reaches every matrix product and convolution, forward and backward."""

import pytest
from comparison import as_list, drawn

import ocl

NAMES = ["highest", "high", "medium"]
OPERATORS = (
    "matmul mm bmm addmm baddbmm linear einsum dot outer scaled_dot_product_attention "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d lstm gru rnn_tanh"
).split()
PRODUCTS = {"gemm", "conv2d_forward", "conv2d_backward_data", "conv2d_backward_weight"}


@pytest.fixture(params=NAMES)
def precision(request):
    before = ocl.get_float32_matmul_precision()
    ocl.set_float32_matmul_precision(request.param)
    yield request.param
    ocl.set_float32_matmul_precision(before)


def precisions_of(name):
    """The precisions that the products of an operator's cases and of their gradients were asked for."""
    import cases

    if name not in cases.CASES:
        pytest.skip(f"no cases of {name}")
    found = []
    for seed in range(4):
        case = drawn(name, seed)
        built = [i.build(lambda a: ocl.tensor(a)) for i in case.inputs]
        for i, (leaf, _) in zip(case.inputs, built, strict=True):
            leaf.requires_grad_(i.is_floating and leaf.dtype.is_floating_point)
        with ocl.profiler.record_calls() as recorded:
            results = as_list(case.function(ocl, *[given for _, given in built]))
            wanted = [r.sum() for r in results if r.requires_grad]
            if wanted:
                sum(wanted).backward()
        found += [call.arguments["precision"] for call in recorded.calls if call.name in PRODUCTS]
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_reaches_every_product(name, precision):
    found = precisions_of(name)
    if name not in ("dot", "outer", "einsum"):
        assert found
    assert set(found) <= {NAMES.index(precision)}


def test_names():
    assert ocl.get_float32_matmul_precision() == "highest"
    with pytest.raises(ValueError, match="'highest', 'high' or 'medium', got 'higher'"):
        ocl.set_float32_matmul_precision("higher")
    assert ocl.get_float32_matmul_precision() == "highest"
