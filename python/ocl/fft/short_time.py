"""Transforms of the windows of a signal, and back."""

from __future__ import annotations

import warnings

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.fft.transform import c2c, c2r, numbers_of, r2c


def _window(name: str, window: Tensor | None, n_fft: int, win_length: int, like: Tensor) -> Tensor:
    """The window in the middle of n_fft elements; ones without one."""
    if window is None:
        dtype = like.dtype.to_real()
        window = _C.ones(win_length, dtype=dtype, device=like.device)
    if window.ndim != 1 or window.shape[0] != win_length:
        raise ArgumentValueError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got window "
            f"with size {list(window.shape)}"
        )
    before = (n_fft - win_length) // 2
    return _C.pad(window, [before, n_fft - win_length - before]) if win_length < n_fft else window


def _lengths(name: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if hop <= 0:
        raise ArgumentValueError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise ArgumentValueError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    return hop, length


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The transforms of a signal's windows. (torch.stft)

    input: [batch, length] or [length], real or complex. Each `hop_length` elements (a quarter of `n_fft`) a
    window of `n_fft` begins, times `window` [win_length]. `center` reflects the signal at its ends, so that
    the windows' middles lie on it; `normalized` divides by the root of n_fft. Returns [batch, frequencies,
    windows], complex, or pairs with ``return_complex=False``. `onesided`, the default of real numbers, leaves
    out the frequencies below 0.
    """
    if input.ndim not in (1, 2):
        raise ArgumentValueError(f"stft: expected a 1D or 2D tensor, got shape {list(input.shape)}")
    if align_to_window is not None and center:
        raise ArgumentValueError("stft: align_to_window should only be set when center = false")
    x = numbers_of("stft", input)
    has_complex = x.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not has_complex:
            raise ArgumentValueError(
                "stft requires the return_complex parameter be given for real inputs, and will further "
                "require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if x.ndim == 1:
        result = stft(
            x[None],
            n_fft,
            hop_length,
            win_length,
            window,
            center,
            pad_mode,
            normalized,
            onesided,
            return_complex,
        )
        return result[0]
    hop, length = _lengths("stft", n_fft, hop_length, win_length)
    taper = _window("stft", window, n_fft, length, x)
    if center:
        x = _padded(x, n_fft // 2, pad_mode)
    if not 0 < n_fft <= x.shape[1]:
        raise ArgumentValueError(f"stft: expected 0 < n_fft <= {x.shape[1]}, but got n_fft={n_fft}")
    frames = x.unfold(1, n_fft, hop) * taper
    if onesided is None:
        onesided = not has_complex
    if onesided and has_complex:
        raise ArgumentValueError("Cannot have onesided output if window or input is complex")
    normalization = 1 if normalized else 0
    if onesided:
        spectrum = r2c(frames, [2], normalization)
    else:
        spectrum = c2c(
            frames if has_complex else frames.to(frames.dtype.to_complex()), [2], normalization, True
        )
    result = spectrum.transpose(1, 2)
    return result if return_complex else _C.view_as_real(result)


def _padded(x: Tensor, amount: int, mode: str) -> Tensor:
    if not x.is_complex():
        return _C.pad(x[:, None], [amount, amount], mode=mode)[:, 0]
    parts = _C.view_as_real(x).movedim(2, 1)  # [batch, parts, length]
    return _C.view_as_complex(_C.pad(parts, [amount, amount], mode=mode).movedim(1, 2).contiguous())


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal of which `input` [batch, frequencies, windows] is the stft. (torch.istft)

    The windows' signals are added up and divided by the sum of their squared windows, which may be 0 nowhere
    (ValueError; waits for that). Returns [batch, length] real numbers, complex ones with `return_complex`.
    """
    if not input.is_complex():
        raise ArgumentTypeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if input.ndim not in (2, 3) or input.numel() == 0:
        raise ArgumentValueError(
            f"istft: expected a tensor with 2 or 3 dimensions and elements, got shape {list(input.shape)}"
        )
    if input.ndim == 2:
        return istft(
            input[None],
            n_fft,
            hop_length,
            win_length,
            window,
            center,
            normalized,
            onesided,
            length,
            return_complex,
        )[0]
    hop, win_length = _lengths("istft", n_fft, hop_length, win_length)
    if onesided is None:
        onesided = input.shape[1] != n_fft
    expected = n_fft // 2 + 1 if onesided else n_fft
    if input.shape[1] != expected:
        raise ArgumentValueError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / "
            f"2 + 1 when onesided=True or n_fft when onesided=False, but got {input.shape[1]}"
        )
    if return_complex and onesided:
        raise ArgumentValueError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise ArgumentValueError("Complex windows are incompatible with return_complex=False")
    taper = _window("istft", window, n_fft, win_length, input)
    normalization = 1 if normalized else 2
    spectrum = input.transpose(1, 2)
    if return_complex:
        frames = c2c(spectrum, [2], normalization, False)
    else:
        frames = c2r(spectrum if onesided else spectrum[..., : n_fft // 2 + 1], [2], normalization, n_fft)
    count = frames.shape[1]
    total = n_fft + hop * (count - 1)
    starts = _C.arange(count, device=input.device) * hop
    places = (starts[:, None] + _C.arange(n_fft, device=input.device)).flatten()
    frames = frames * taper
    signal = frames.new_zeros(input.shape[0], total).index_add(1, places, frames.flatten(1))
    squares = (taper * taper).expand(count, n_fft).flatten()
    envelope = squares.new_zeros(total).index_add(0, places, squares)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    signal, envelope = signal[:, start:end], envelope[start:end]
    if envelope.numel() and float(envelope.detach().abs().min()) < 1e-11:
        raise ArgumentValueError(
            "istft: window overlap add min: 1; the sum of squared windows is 0 at some place"
        )
    signal = signal / envelope
    if length is not None and signal.shape[1] < length:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in "
            "the tail. Please check your center and hop_length settings",
            stacklevel=2,
        )
        signal = _C.pad(signal, [0, length - signal.shape[1]])
    return signal


Tensor.stft, Tensor.istft = stft, istft
