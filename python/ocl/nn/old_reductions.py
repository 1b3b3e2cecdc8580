"""``size_average`` and ``reduce`` of losses, by which programs from before 2018 say ``reduction``."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ocl._C import _nn as layers

__all__ = ["functions_taking_both"]

_FUNCTIONS = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
)
_CLASSES = (
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "HingeEmbeddingLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
)


def _translate(options: dict[str, Any]) -> None:
    """Puts ``reduction`` in the place of the two older options, with PyTorch's warning."""
    averages, reduces = options.pop("size_average", None), options.pop("reduce", None)
    if averages is None and reduces is None:
        return
    averages, reduces = averages is None or averages, reduces is None or reduces
    options["reduction"] = "none" if not reduces else "mean" if averages else "sum"
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{options['reduction']}' instead.",
        UserWarning,
        stacklevel=4,
    )


def _taking_both(function: Callable) -> Callable:
    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        if "size_average" in options or "reduce" in options:
            _translate(options)
        return function(*args, **options)

    return called


def functions_taking_both(functions: dict[str, Any]) -> dict[str, Callable]:
    """Those losses among the functions, by name, as they take the older options too."""
    result = {}
    for name in _FUNCTIONS:
        result[name] = function = _taking_both(functions[name])
        function.__module__, function.__qualname__ = "ocl.nn.functional", name
    return result


for _name in _CLASSES:
    _class = getattr(layers, _name)
    _class.__init__ = _taking_both(_class.__init__)
