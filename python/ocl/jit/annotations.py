"""The names of types that model files import from torch.jit.annotations."""

from typing import Dict, List, Optional, Tuple, Union  # noqa: UP035  (PyTorch's names)

__all__ = ["Dict", "List", "Optional", "Tuple", "Union"]
