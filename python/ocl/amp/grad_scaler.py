"""Loss scaling for float16, as torch.amp.GradScaler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ocl import _C
from ocl._C import Tensor
from ocl.sparse.coo import SparseTensor
from ocl.type_info import finfo

if TYPE_CHECKING:
    from ocl.optim import Optimizer

__all__ = ["GradScaler"]


class _OfOptimizer:
    """The state of one optimizer's gradients since the last update()."""

    def __init__(self) -> None:
        self.found_inf: list[Tensor] = []
        self.is_unscaled = False
        self.has_stepped = False
        self._has_found: bool | None = None

    def has_found(self) -> bool:
        """Whether a gradient was infinite or NaN. Waits for the search, once."""
        if self._has_found is None:
            self._has_found = any(found.item() for found in self.found_inf)
        return self._has_found


def _elements_of_gradient(p: Tensor) -> Tensor:
    """The tensor in which the elements of a gradient can be changed in place."""
    gradient = p.grad
    if type(gradient) is not SparseTensor:
        return gradient
    values = gradient._values().clone()
    p.grad = gradient._with(values)
    return values


class GradScaler:
    """Keeps the small gradients of float16 from vanishing (torch.amp.GradScaler)::

        layer = nn.Linear(3, 2)
        optimizer = ocl.optim.SGD(layer.parameters(), lr=0.1)
        scaler = ocl.amp.GradScaler()
        for _ in range(3):
            optimizer.zero_grad()
            with ocl.autocast("ocl", dtype=ocl.float16):
                loss = layer(x).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    The loss is multiplied by a large number before backward, the gradients are divided by it before the step.
    A step whose gradients have an infinity or a NaN is left out, and the scale multiplied by
    ``backoff_factor``; it is multiplied by ``growth_factor`` after ``growth_interval`` steps without one.
    With ``enabled=False`` nothing is scaled, and ``step`` is the optimizer's.
    """

    def __init__(
        self,
        device: str = "ocl",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and not growth_factor > 1.0:
            raise ValueError("The growth factor must be > 1.0.")
        if enabled and not backoff_factor < 1.0:
            raise ValueError("The backoff factor must be < 1.0.")
        self._device = device
        self._enabled = bool(enabled)
        self._scale = float(init_scale)
        self._growth_factor = float(growth_factor)
        self._backoff_factor = float(backoff_factor)
        self._growth_interval = int(growth_interval)
        self._growth_tracker = 0
        self._optimizers: dict[int, _OfOptimizer] = {}

    def scale(self, outputs: Any) -> Any:
        """A tensor, or an iterable of tensors and such iterables, times the scale; tensors of 16 bits come
        back in float32."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            is_short = outputs.dtype in (_C.float16, _C.bfloat16)
            return (outputs.float() if is_short else outputs) * self._scale
        if isinstance(outputs, Iterable):
            scaled = [self.scale(output) for output in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else iter(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of the optimizer's parameters by the scale: before they are clipped, say.

        ``step`` does it where it has not been done. Does not wait. RuntimeError for a second time since
        update(), ValueError for gradients of float16.
        """
        if not self._enabled:
            return
        state = self._optimizers.setdefault(id(optimizer), _OfOptimizer())
        if state.is_unscaled:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state.has_stepped:
            raise RuntimeError("unscale_() is being called after step().")
        gradients = [
            _elements_of_gradient(p)
            for group in optimizer.param_groups
            for p in group["params"]
            if p.grad is not None
        ]
        state.found_inf = _C._unscale_(gradients, self._scale)
        state.is_unscaled = True

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` with the gradients divided by the scale, unless one of them is
        infinite or NaN: then None. Waits for the search. RuntimeError for a second step before update()."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self._optimizers.setdefault(id(optimizer), _OfOptimizer())
        if state.has_stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if not state.is_unscaled:
            self.unscale_(optimizer)
        if not state.found_inf:
            raise RuntimeError("No inf checks were recorded for this optimizer.")
        result = None if state.has_found() else optimizer.step(*args, **kwargs)
        state.has_stepped = True
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapts the scale to what the steps since the last update found, or sets it to ``new_scale``."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale.item() if isinstance(new_scale, Tensor) else new_scale)
        else:
            states = self._optimizers.values()
            if not any(state.found_inf for state in states):
                raise RuntimeError("No inf checks were recorded prior to update.")
            self._adapt(any([state.has_found() for state in states]))
        self._optimizers.clear()

    def _adapt(self, has_found: bool) -> None:
        if has_found:
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = self._scale * self._growth_factor
            self._scale = grown if grown <= finfo(_C.float32).max else self._scale
            self._growth_tracker = 0

    def get_scale(self) -> float:
        """The scale now; 1 where the scaler is disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """The factor of the scale after enough steps without an infinity."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what ``get_growth_factor`` gives."""
        self._growth_factor = float(new_factor)

    def get_backoff_factor(self) -> float:
        """The factor of the scale after a step that was left out."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what ``get_backoff_factor`` gives."""
        self._backoff_factor = float(new_factor)

    def get_growth_interval(self) -> int:
        """How many steps without an infinity let the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets what ``get_growth_interval`` gives."""
        self._growth_interval = int(new_interval)

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, float | int]:
        """The scale, the factors, the interval and the steps since the scale grew; empty where disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, float | int]) -> None:
        """Takes over what ``state_dict`` gave, PyTorch's too; RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = float(state_dict["growth_factor"])
        self._backoff_factor = float(state_dict["backoff_factor"])
        self._growth_interval = int(state_dict["growth_interval"])
        self._growth_tracker = int(state_dict["_growth_tracker"])
