"""ocl.nn.attention: PyTorch's words for the kernels of attention."""

import pytest

import ocl
from ocl.nn.attention import SDPBackend, sdpa_kernel


def switches():
    cuda = ocl.backends.cuda
    return (
        cuda.math_sdp_enabled(),
        cuda.flash_sdp_enabled(),
        cuda.mem_efficient_sdp_enabled(),
        cuda.cudnn_sdp_enabled(),
    )


def attention():
    ocl.manual_seed(0)
    q, k, v = (ocl.randn(2, 3, 5, 8) for _ in range(3))
    return ocl.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def test_the_switches_hold_within_and_are_put_back():
    before = switches()
    with sdpa_kernel(SDPBackend.MATH):
        assert switches() == (True, False, False, False)
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION], set_priority=True):
            assert switches() == (False, True, True, False)
        assert switches() == (True, False, False, False)
    assert switches() == before


def test_it_decorates_and_changes_no_result():
    assert sdpa_kernel(SDPBackend.MATH)(attention)().equal(attention())


@pytest.mark.parametrize("wrong", ["math", 0, None, (SDPBackend.MATH,)])
def test_anything_else_is_refused_as_pytorch_does(wrong):
    torch = pytest.importorskip("torch.nn.attention")
    with pytest.raises(AssertionError) as ours, sdpa_kernel(wrong):
        pass
    with pytest.raises(AssertionError) as theirs, torch.sdpa_kernel(wrong):
        pass
    assert str(ours.value) == str(theirs.value)


def test_the_back_ends_have_pytorchs_names_and_numbers():
    torch = pytest.importorskip("torch.nn.attention")
    for backend in SDPBackend:
        assert int(getattr(torch.SDPBackend, backend.name)) == int(backend)
