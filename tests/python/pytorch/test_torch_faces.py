"""Both faces of one library: what `ocl` computes and what PyTorch computes on ocl devices, bit by bit."""

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))
import cases  # noqa: E402
from comparison import WIDE_ALONE, Run, array_of, drawn  # noqa: E402

import ocl  # noqa: E402

# Operators that PyTorch makes of others for every device, or takes in other forms than the cases give.
COMPOSED_BY_PYTORCH = """
    adaptive_avg_pool2d affine_grid batched_nms bilinear binary_cross_entropy_with_logits
    cosine_embedding_loss cross_entropy dot embedding_bag equal gaussian_nll_loss glu_kernel gru
    gru_cell kl_div local_response_norm lp_pool1d lp_pool2d lstm_cell multilabel_margin_loss
    multilabel_soft_margin_loss poisson_nll_loss quantized_linear rms_norm rnn_relu rnn_relu_cell
    rnn_tanh_cell rrelu
    scaled_dot_product_attention selu sgn triplet_margin_loss
""".split()
# Operators whose gradient PyTorch's own formulas give, or sum up where a number stood for a tensor.
DERIVED_BY_PYTORCH = """
    _fft_r2c acos acosh add addcdiv addcmul addr asin asinh atan atan2 atanh binary_cross_entropy box_iou
    cdist celu combinations convolution copysign cumprod div dropout2d elu erf erfc erfinv hypot lgamma
    logaddexp logaddexp2 logcumsumexp logsumexp mish mul norm normalize polar pow prelu reciprocal renorm
    repeat roi_align rsqrt sinc softsign tan tanhshrink tile vector_norm
""".split()
# Some of their forms run on the CPU: bicubic and antialiased resizing, and complex numbers.
WITHOUT_KERNELS = ("interpolate", *WIDE_ALONE)
NAMES = sorted(set(cases.CASES) - set(COMPOSED_BY_PYTORCH))


def bits_of(tensors):
    return [None if t is None else array_of(t) for t in tensors]


def same(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    return ours.shape == theirs.shape and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_the_same_bits(name):
    for seed in range(3):
        case = drawn(name, seed)
        ours = Run(ocl, case, "float32", backward=case.backward)
        try:
            with torch.device("ocl:0"):
                theirs = Run(torch, case, "float32", backward=case.backward, device="ocl:0")
        except NotImplementedError:
            assert name in WITHOUT_KERNELS
            continue
        for what in ("results",) if name in DERIVED_BY_PYTORCH else ("results", "gradients"):
            pairs = zip(bits_of(getattr(ours, what)), bits_of(getattr(theirs, what)), strict=True)
            for i, (a, b) in enumerate(pairs):
                assert same(a, b), f"{what} {i}, seed {seed}: {a} and {b}"
