"""The results of nets with auxiliary heads while they train."""

from __future__ import annotations

from typing import NamedTuple

from ocl._C import Tensor


class GoogLeNetOutputs(NamedTuple):
    logits: Tensor
    aux_logits2: Tensor | None
    aux_logits1: Tensor | None


class InceptionOutputs(NamedTuple):
    logits: Tensor
    aux_logits: Tensor | None
