"""Layers that learn the sizes of their parameters from their first input: torch.nn.LazyLinear and its kin."""

from __future__ import annotations

import warnings
from typing import Any

from ocl._C import Tensor, _nn
from ocl.nn.handles import Handle
from ocl.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from ocl.nn.small_layers import InstanceNorm3d

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]


class LazyModuleMixin:
    """A module, first among the bases of its class, that calls ``initialize_parameters`` with its first
    input. Afterwards its class is ``cls_to_become``. (torch.nn.modules.lazy.LazyModuleMixin)
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Initializing zero-element tensors")
            super().__init__(*args, **kwargs)
        self._load_hook = Handle(self.register_load_state_dict_pre_hook(_take_shapes))
        self._save_hook = Handle(self._register_state_dict_hook(_keep_uninitialized))
        self._initialize_hook = Handle(self.register_forward_pre_hook(_infer, with_kwargs=True))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters that have no shape theirs, for that input."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or a buffer has no shape yet."""
        return any(is_lazy(tensor) for _, tensor in _named_tensors(self))

    def _infer_parameters(self, module: Any, args: tuple, kwargs: dict | None = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook", "_save_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


def _named_tensors(module: Any) -> list[tuple[str, Tensor]]:
    return [*module._parameters.items(), *module._buffers.items()]


def _take_shapes(module: Any, state_dict: dict, prefix: str, *others: Any) -> None:
    for name, tensor in _named_tensors(module):
        given = state_dict.get(prefix + name)
        if given is not None and is_lazy(tensor) and not is_lazy(given):
            tensor.materialize(given.shape)


def _infer(module: Any, args: tuple, kwargs: dict) -> None:
    if "_initialize_hook" in module.__dict__:
        module._infer_parameters(module, args, kwargs)


def _keep_uninitialized(module: Any, state_dict: dict, prefix: str, local_metadata: Any) -> None:
    for name, tensor in _named_tensors(module):
        if is_lazy(tensor) and prefix + name in state_dict:
            state_dict[prefix + name] = tensor


class _LazyLayer(LazyModuleMixin):
    """A layer whose weight and bias get their shapes from the first input."""

    _size: str  # the option that the input tells

    def _forget(self, kind: type, names: tuple[str, ...]) -> None:
        """Puts tensors without a shape in the place of those there are."""
        for name in names:
            tensor = getattr(self, name)
            if tensor is not None:
                setattr(self, name, kind(device=tensor.device, dtype=tensor.dtype))

    def reset_parameters(self) -> None:
        """Draws the parameters anew, once they have a shape."""
        if not self.has_uninitialized_params() and getattr(self, self._size) != 0:
            super().reset_parameters()

    def _materialize(self, **shapes: tuple[int, ...]) -> None:
        for name, shape in shapes.items():
            tensor = getattr(self, name)
            if tensor is not None:
                tensor.materialize(shape)
        self.reset_parameters()


class LazyLinear(_LazyLayer, _nn.Linear):
    """A Linear that takes in_features from its first input. (torch.nn.LazyLinear)"""

    cls_to_become = _nn.Linear
    _size = "in_features"

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, bias, device=device, dtype=dtype)
        self.out_features = out_features
        self._forget(UninitializedParameter, ("weight", "bias"))

    def initialize_parameters(self, input: Tensor) -> None:
        if self.in_features == 0:
            self.in_features = input.shape[-1]
        if self.has_uninitialized_params():
            self._materialize(weight=(self.out_features, self.in_features), bias=(self.out_features,))


class _LazyConv(_LazyLayer):
    _size = "in_channels"
    _axes: int

    def _channels(self, input: Tensor) -> int:
        if input.ndim not in (self._axes + 1, self._axes + 2):
            raise RuntimeError(
                f"Expected {self._axes + 1}D (unbatched) or {self._axes + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {list(input.shape)}"
            )
        return input.shape[-self._axes - 1]

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def initialize_parameters(self, input: Tensor) -> None:
        if self.in_channels == 0:
            channels = self._channels(input)
            if channels % self.groups != 0:
                raise ValueError("in_channels must be divisible by groups")
            self.in_channels = channels
        if self.has_uninitialized_params():
            self._materialize(weight=self._weight_shape(), bias=(self.out_channels,))


class _LazyConvForward(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = {"dilation": dilation, "groups": groups, "bias": bias, "padding_mode": padding_mode}
        super().__init__(0, 0, kernel_size, stride, padding, **options, device=device, dtype=dtype)
        self.out_channels = out_channels
        self._forget(UninitializedParameter, ("weight", "bias"))


class _LazyConvTransposed(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = {"groups": groups, "bias": bias, "dilation": dilation, "padding_mode": padding_mode}
        super().__init__(
            *(0, 0, kernel_size, stride, padding, output_padding),
            **options,
            device=device,
            dtype=dtype,
        )
        self.out_channels = out_channels
        self._forget(UninitializedParameter, ("weight", "bias"))

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)


class _LazyNorm(_LazyLayer):
    _size = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias)
        self._forget(UninitializedParameter, ("weight", "bias"))
        self._forget(UninitializedBuffer, ("running_mean", "running_var"))

    def initialize_parameters(self, input: Tensor) -> None:
        if self.num_features == 0:
            self.num_features = input.shape[1]
        if self.has_uninitialized_params():
            names = ("weight", "bias", "running_mean", "running_var")
            self._materialize(**dict.fromkeys(names, (self.num_features,)))


def _lazy(kind: type, base: type, axes: int = 0) -> type:
    """The lazy class of a layer."""
    name = f"Lazy{base.__name__}"
    size = "in_channels" if axes else "num_features"
    doc = f"A {base.__name__} that takes {size} from its first input. (torch.nn.{name})"
    attributes = {"cls_to_become": base, "_axes": axes, "__doc__": doc, "__module__": __name__}
    return type(base)(name, (kind, base), attributes)


LazyConv1d = _lazy(_LazyConvForward, _nn.Conv1d, 1)
LazyConv2d = _lazy(_LazyConvForward, _nn.Conv2d, 2)
LazyConv3d = _lazy(_LazyConvForward, _nn.Conv3d, 3)
LazyConvTranspose1d = _lazy(_LazyConvTransposed, _nn.ConvTranspose1d, 1)
LazyConvTranspose2d = _lazy(_LazyConvTransposed, _nn.ConvTranspose2d, 2)
LazyConvTranspose3d = _lazy(_LazyConvTransposed, _nn.ConvTranspose3d, 3)
LazyBatchNorm1d = _lazy(_LazyNorm, _nn.BatchNorm1d)
LazyBatchNorm2d = _lazy(_LazyNorm, _nn.BatchNorm2d)
LazyBatchNorm3d = _lazy(_LazyNorm, _nn.BatchNorm3d)
LazyInstanceNorm1d = _lazy(_LazyNorm, _nn.InstanceNorm1d)
LazyInstanceNorm2d = _lazy(_LazyNorm, _nn.InstanceNorm2d)
LazyInstanceNorm3d = _lazy(_LazyNorm, InstanceNorm3d)
