"""The names of types that model files import from torch.jit.annotations."""

from typing import Dict, List, Optional, Tuple, Union  # noqa: UP035  (PyTorch's names)


class _OfOneOrSeveral:
    """Says of a parameter that a number stands for a list of numbers: TorchScript's annotation alone."""

    def __getitem__(self, types: object) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _OfOneOrSeveral()

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]
