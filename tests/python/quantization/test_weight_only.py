"""Products with weights in few bits: beside float64 in PyTorch, torchao's numbers, errors, layouts."""

import numpy as np
import pytest
import torch
from support import assert_close_to_truth, has_float64

import ocl
from ocl.quantization import dequantize_weight, quantize_int4, quantize_int8, quantized_linear

FORMS = [8, 32, 64, 128, 256]  # bits, or the size of a group of four bits
DTYPES = ["float32", "float16", "bfloat16"]


def quantized(weight, form):
    """weight, scales and zeros."""
    if form == 8:
        return (*quantize_int8(weight), None)
    return tuple(quantize_int4(weight, form))


def numbers_of(weight, scales, zeros, dtype=torch.float64):
    """The numbers that a stored weight stands for, element by element as the header says them."""
    stored, scales = (
        torch.from_numpy(weight.numpy()).to(torch.int64),
        torch.from_numpy(scales.float().numpy()),
    )
    if zeros is None:
        return (stored * scales[:, None].to(torch.float64)).to(dtype)
    zeros = torch.from_numpy(zeros.float().numpy())
    inputs = 2 * stored.shape[1]
    place = torch.arange(inputs)
    packed = stored[:, place // 32 * 16 + place % 16]
    numbers = torch.where(place % 32 < 16, packed % 16, packed // 16) - 8
    group = place // (inputs // scales.shape[1])
    return (numbers * scales[:, group].double() + zeros[:, group].double()).to(dtype)


def drawn(rng, *shape):
    return ocl.tensor(rng.standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 8, 9, 33])
@pytest.mark.parametrize("outputs", [1, 7, 130])
def test_products_are_as_near_to_the_truth_as_pytorchs(form, rows, outputs, rng):
    inputs = 77 if form == 8 else form * int(rng.integers(1, 4))
    x, weight, bias = drawn(rng, rows, inputs), drawn(rng, outputs, inputs), drawn(rng, outputs)
    stored = quantized(weight, form)
    truth, host = numbers_of(*stored), torch.from_numpy(x.numpy())
    added = torch.from_numpy(bias.numpy())
    actual = quantized_linear(x, *stored, bias)
    assert actual.shape == (rows, outputs)
    linear = torch.nn.functional.linear
    magnitude = linear(host.double().abs(), truth.abs(), added.double().abs())
    exact = linear(host.double(), truth, added.double())
    assert_close_to_truth(actual, exact, linear(host, truth.float(), added), magnitude)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_dtypes_of_activations_and_scales(form, dtype, rows, rng):
    inputs = 256
    x = drawn(rng, rows, inputs).to(getattr(ocl, dtype))
    for of_weight in DTYPES:
        stored = quantized(drawn(rng, 19, inputs).to(getattr(ocl, of_weight)), form)
        assert stored[1].dtype == (ocl.float32 if form == 8 else getattr(ocl, of_weight))
        y = quantized_linear(x, *stored)
        assert y.dtype == x.dtype
        host, truth = torch.from_numpy(x.float().numpy()).double(), numbers_of(*stored)
        exact = host @ truth.T
        if dtype == "float32":
            assert_close_to_truth(y, exact, host.float() @ truth.float().T, host.abs() @ truth.abs().T)
            continue
        # A product of many rows has its weights rounded to the dtype of the activations.
        unit = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
        allowed = unit * (host**2 @ (truth.T**2)).sqrt() * 2 + unit * exact.abs()
        error = (torch.from_numpy(y.float().numpy()).double() - exact).abs()
        assert (error <= allowed).all(), (of_weight, (error / allowed).max())


@pytest.mark.parametrize("form", [8, 32])
def test_activations_of_any_layout(form, rng):
    stored = quantized(drawn(rng, 9, 64), form)
    base = drawn(rng, 64, 6, 5)
    views = {
        "transposed": base.permute(2, 1, 0),
        "strided": drawn(rng, 4, 128)[:, ::2],
        "offset": drawn(rng, 5, 70)[1:, 3:67],
        "expanded rows": drawn(rng, 1, 64).expand(3, 64),
        "expanded columns": drawn(rng, 3, 1).expand(3, 64),
        "one vector": drawn(rng, 64),
        "no rows": drawn(rng, 0, 4, 64),
    }
    for name, x in views.items():
        plain = quantized_linear(x.contiguous(), *stored)
        np.testing.assert_array_equal(quantized_linear(x, *stored).numpy(), plain.numpy(), err_msg=name)
        assert plain.shape == (*x.shape[:-1], 9)
    apart = [None if t is None else t.t().contiguous().t() if t.dim() == 2 else t for t in stored]
    x = drawn(rng, 3, 64)
    np.testing.assert_array_equal(quantized_linear(x, *apart).numpy(), quantized_linear(x, *stored).numpy())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 12])
def test_gradients(form, rows, rng):
    inputs = 50 if form == 8 else 256
    stored = quantized(drawn(rng, 11, inputs), form)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in ((rows, inputs), (11,), (rows, 11))]
    x, bias = (ocl.tensor(a, requires_grad=True) for a in arrays[:2])
    y = quantized_linear(x, *stored, bias)
    first = ocl.autograd.grad((y * y * ocl.tensor(arrays[2])).sum(), (x, bias), create_graph=True)
    second = ocl.autograd.grad(sum((g * g).sum() for g in first), (x, bias))
    truth = numbers_of(*stored)
    xt, bt = (torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arrays[:2])
    yt = torch.nn.functional.linear(xt, truth, bt)
    first_t = torch.autograd.grad((yt * yt * torch.tensor(arrays[2])).sum(), (xt, bt), create_graph=True)
    second_t = torch.autograd.grad(sum((g * g).sum() for g in first_t), (xt, bt))
    for mine, theirs in zip([*first, *second], [*first_t, *second_t], strict=True):
        expected = theirs.detach().numpy()
        np.testing.assert_allclose(
            mine.detach().numpy(), expected, rtol=1e-4, atol=1e-5 * abs(expected).max()
        )


def test_int8_numbers_are_torchaos(rng):
    """By choose_qparams_affine and quantize_affine of torchao 0.18, symmetric, of lines."""
    for dtype in DTYPES:
        weight = drawn(rng, 40, 61).to(getattr(ocl, dtype))
        weight[3] = 0
        host = torch.from_numpy(weight.float().numpy()).to(getattr(torch, dtype))
        scale = (host.abs().amax(1, keepdim=True) / 127.5).clamp(min=torch.finfo(torch.float32).eps).float()
        expected = (host * (1.0 / scale)).round().clamp(-128, 127).to(torch.int8)
        numbers, scales = quantize_int8(weight)
        np.testing.assert_array_equal(scales.numpy(), scale[:, 0].numpy())
        np.testing.assert_array_equal(numbers.numpy(), expected.numpy())


def test_int4_numbers_are_torchaos(rng):
    """By the formula of Int4Tensor.from_hp in torchao 0.18 (mslk's int4_row_quantize_zp); bytes have another
    order."""
    for dtype in DTYPES:
        for group in FORMS[1:]:
            weight = drawn(rng, 20, 512).to(getattr(ocl, dtype))
            weight[2] = 0.25
            host = torch.from_numpy(weight.float().numpy()).reshape(-1, group)
            least, largest = host.amin(1, keepdim=True), host.amax(1, keepdim=True)
            scale = (largest - least).clamp(min=1e-6) / 15
            expected = (host.sub(least).div(scale).round().clamp(0, 15) - 8).reshape(20, 512)
            packed, scales, zeros = quantize_int4(weight, group)
            ones, none = ocl.ones(scales.shape), ocl.zeros(scales.shape)
            np.testing.assert_array_equal(dequantize_weight(packed, ones, none).numpy(), expected.numpy())
            kind = getattr(torch, dtype)
            for mine, theirs in ((scales, scale), (zeros, least + 8 * scale)):
                is_flat = (largest == least).reshape(20, -1)
                rounded = theirs.reshape(20, -1).to(kind).float()
                np.testing.assert_allclose(
                    np.where(is_flat, 0, mine.float().numpy()),
                    np.where(is_flat, 0, rounded.numpy()),
                    rtol=1e-6,
                )


@pytest.mark.parametrize("form", FORMS)
def test_what_was_quantised_comes_back(form, rng):
    weight = drawn(rng, 30, 512)
    stored = quantized(weight, form)
    back = dequantize_weight(*stored).numpy()
    step = stored[1].numpy()[:, None] if form == 8 else np.repeat(stored[1].numpy(), form, 1)
    assert (abs(back - weight.numpy()) <= 0.501 * step).all()
    assert dequantize_weight(*stored, dtype=ocl.bfloat16).dtype == ocl.bfloat16
    np.testing.assert_array_equal(
        dequantize_weight(*stored).numpy(), numbers_of(*stored, dtype=torch.float32).numpy()
    ) if form == 8 else np.testing.assert_allclose(back, numbers_of(*stored).numpy(), rtol=1e-5, atol=1e-6)


def test_weights_of_double(rng):
    if not has_float64():
        pytest.skip(f"{ocl.get_device_name()} has no float64")
    weight = ocl.tensor(rng.standard_normal((5, 64)))
    x = ocl.tensor(rng.standard_normal((3, 64)))
    for form in (8, 32):
        stored = quantized(weight, form)
        assert stored[1].dtype == ocl.float64
        expected = x.numpy() @ dequantize_weight(*stored).numpy().T
        np.testing.assert_allclose(quantized_linear(x, *stored).numpy(), expected, rtol=1e-12, atol=1e-12)


def test_errors():
    weight, x = ocl.ones(6, 64), ocl.ones(2, 64)
    int8, int4 = quantized(weight, 8), quantized(weight, 32)
    with pytest.raises(
        ValueError, match=r"shape \[6, 48\] has 48 inputs, which group_size 32 does not divide"
    ):
        quantize_int4(ocl.ones(6, 48), 32)
    with pytest.raises(ValueError, match="expected a group_size of 32, 64, 128 or 256, got 16"):
        quantize_int4(weight, 16)
    with pytest.raises(ValueError, match=r"expected a weight of shape \[out, in\], got \[6, 8, 8\]"):
        quantize_int8(weight.reshape(6, 8, 8))
    with pytest.raises(TypeError, match="quantize_int4: expected a floating dtype, got int32"):
        quantize_int4(weight.int(), 32)
    with pytest.raises(TypeError, match="quantized_linear: expected a floating dtype, got int64"):
        quantized_linear(x.long(), *int8)
    with pytest.raises(ValueError, match=r"input of shape \[2, 63\] and a weight for 64 input features"):
        quantized_linear(x[:, 1:], *int4)
    with pytest.raises(ValueError, match=r"expected a bias of shape \[6\], got \[5\]"):
        quantized_linear(x, *int4, ocl.ones(5))
    with pytest.raises(TypeError, match="expected a bias of the input's dtype float32, got float16"):
        quantized_linear(x, *int4, ocl.ones(6).half())
    with pytest.raises(TypeError, match="expected a weight of dtype uint8 with zeros, got int8"):
        quantized_linear(x, int8[0], int4[1], int4[2][:, :1])
    with pytest.raises(TypeError, match="expected a weight of dtype int8 without zeros, got uint8"):
        quantized_linear(ocl.ones(2, 32), int4[0], int8[1])
    with pytest.raises(ValueError, match="do not fit 64 inputs in groups of 32, 64, 128 or 256"):
        quantized_linear(x, int4[0], ocl.ones(6, 3), ocl.ones(6, 3))
    with pytest.raises(
        ocl.autograd.AutogradError if hasattr(ocl.autograd, "AutogradError") else RuntimeError
    ):
        quantized_linear(x, int8[0], int8[1].requires_grad_())
    with pytest.raises(ValueError, match="expected scales of shape"):
        dequantize_weight(int8[0], ocl.ones(5))
