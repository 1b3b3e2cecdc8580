"""Quantised layers in the places of a model's linear ones."""

from __future__ import annotations

from collections.abc import Callable

from ocl._C._models.gpt2 import Conv1D
from ocl._C._nn import Linear, Module, NonDynamicallyQuantizableLinear
from ocl.quantization.configs import WeightOnlyConfig
from ocl.quantization.linear import QuantizedLinear

__all__ = ["quantize_"]


def quantize_(
    model: Module,
    config: WeightOnlyConfig,
    filter_fn: Callable[[Module, str], bool] | None = None,
) -> None:
    """Puts a :class:`QuantizedLinear` in the place of each linear layer. (torchao.quantization.quantize_)

    The model is changed in place, all of it or nothing. A layer that stands at several places becomes one
    layer there. Weights that a layer shared with another, as a head with its embedding, are its own
    afterwards. Hooks of the replaced layers are dropped. Make optimizers afterwards: the weights are no
    parameters any more.

    Args:
        model: A module with linear layers below it.
        config: Int8WeightOnlyConfig() or Int4WeightOnlyConfig(group_size).
        filter_fn: Called with each module and its path: whether it is to be replaced. By default all Linear
            are, and GPT-2's Conv1D, but for subclasses with a forward of their own and those whose weights
            their parents read, as MultiheadAttention does.

    Raises:
        TypeError: A config or model of another class; a filter_fn that takes a module of another kind.
        ValueError: A model that is such a layer itself; inputs whose number group_size does not divide.
    """
    if not isinstance(model, Module):
        raise TypeError(f"quantize_: expected a Module, got {type(model).__name__}")
    if not isinstance(config, WeightOnlyConfig):
        raise TypeError(
            "quantize_: expected a config as Int8WeightOnlyConfig() or Int4WeightOnlyConfig(), got "
            f"{type(config).__name__}"
        )
    is_wanted = _is_plain_linear if filter_fn is None else filter_fn
    made: dict[int, QuantizedLinear] = {}
    places = [place for place in model.named_modules(remove_duplicate=False) if is_wanted(place[1], place[0])]
    for path, module in places:
        if not path:
            raise ValueError(
                f"quantize_: the model is a {type(module).__name__} itself, which cannot be replaced in "
                "place; QuantizedLinear.from_weight makes a layer of its weight"
            )
        if id(module) not in made:
            made[id(module)] = _quantized(path, module, config)
    for path, module in places:
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, made[id(module)])


def _is_plain_linear(module: Module, path: str) -> bool:
    return any(
        isinstance(module, kind) and type(module).forward is kind.forward for kind in (Linear, Conv1D)
    ) and not isinstance(module, NonDynamicallyQuantizableLinear)


def _quantized(path: str, module: Module, config: WeightOnlyConfig) -> QuantizedLinear:
    if not isinstance(module, (Linear, Conv1D)):
        raise TypeError(
            f"quantize_: filter_fn takes '{path}', which is a {type(module).__name__} and no Linear or Conv1D"
        )
    weight = module.weight.t() if isinstance(module, Conv1D) else module.weight
    try:
        quantized = QuantizedLinear.from_weight(weight, module.bias, config)
    except (TypeError, ValueError) as error:
        raise type(error)(f"quantize_: '{path}': {error}") from None
    return quantized.train(module.training)
